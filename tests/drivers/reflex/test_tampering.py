"""What an agent changes beside the artifact, in whatever way, earns it no verdict.

Each attempt would make the rule pass which the artifact does not keep.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.drivers.reflex.shell_project import RUN, SAYS_BETA, ShellProject

pytestmark = [pytest.mark.long, pytest.mark.variants]

PYTEST = ["PYTHON", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_a.py"]
TESTS = {
    "tests/test_a.py": f"""\
from pathlib import Path

def test_it_says_beta():
    assert "beta" in Path("{RUN}/artifact.md").read_text()
"""
}
LINTER = f"#!/bin/sh\n{SAYS_BETA}\n"
EVIL = "#!/bin/sh\nexit 0\n"
LEAVE = "import os\nos._exit(0)\n"
IMPORTING = {
    "checks/judge.py": "import sys, helper\nsys.exit(helper.verdict())\n",
    "checks/helper.py": "def verdict():\n    return 1\n",
}
SOURCING = {"checks/judge.sh": ". checks/lib.sh\n", "checks/lib.sh": "exit 1\n"}
BY_SCRIPT = "sh checks/judge.sh"
SAME_TIMES = """
path = Path("checks/lib.sh")
times = path.stat()
{how}
os.utime("checks/lib.sh", ns=(times.st_atime_ns, times.st_mtime_ns))
"""
HOOK = "#!/bin/sh\nexit 1\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What an agent does (Python) to make `command` pass, and what has to be said of it."""

    command: str | list[str]
    deed: str
    told: str
    files: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    git: bool = False


ATTEMPTS: dict[str, Attempt] = {
    "a conftest.py beside a test": Attempt(
        command=PYTEST, files=TESTS, deed=f"write('tests/conftest.py', {LEAVE!r})",
        told="tests/conftest.py was added",
    ),
    "a pytest.ini beside a test": Attempt(
        command=PYTEST, files=TESTS,
        deed="write('tests/pytest.ini', '[pytest]\\naddopts = --collect-only\\n')",
        told="tests/pytest.ini was added",
    ),
    "a setup.cfg beside a test": Attempt(
        command=PYTEST, files=TESTS,
        deed="write('tests/setup.cfg', '[tool:pytest]\\naddopts = --collect-only\\n')",
        told="tests/setup.cfg was added",
    ),
    "a test itself": Attempt(
        command=["PYTHON", "-m", "pytest", "-q"], files=TESTS,
        deed="write('tests/test_a.py', 'def test_it():\\n    pass\\n')",
        told="tests/test_a.py was changed",
    ),
    "pytest as a package of the project": Attempt(
        command=PYTEST, files=TESTS,
        deed=f"write('pytest/__init__.py', ''); write('pytest/__main__.py', {LEAVE!r})",
        told="pytest/__init__.py was added",
    ),
    "a module of the standard library": Attempt(
        command=["PYTHON", "-c", "import json, sys; sys.exit(1)"],
        deed=f"write('json.py', {LEAVE!r})", told="json.py was added",
    ),
    "a program in an environment of the project": Attempt(
        command=["mylint"], path=(".venv/bin",), files={".venv/bin/mylint": LINTER},
        deed=f"write('.venv/bin/mylint', {EVIL!r}, 0o755)", told=".venv/bin/mylint was changed",
    ),
    "a program before the system's, relative PATH": Attempt(
        command=SAYS_BETA, path=("bin",), deed=f"write('bin/grep', {EVIL!r}, 0o755)",
        told="bin/grep was added",
    ),
    "a program before the system's, absolute PATH": Attempt(
        command=SAYS_BETA, path=("PROJECT/bin",), deed=f"write('bin/grep', {EVIL!r}, 0o755)",
        told="bin/grep was added",
    ),
    "a shell before the system's, relative PATH": Attempt(
        command=SAYS_BETA, path=("bin",), deed=f"write('bin/bash', {EVIL!r}, 0o755)",
        told="bin/bash was added",
    ),
    "a shell before the system's, absolute PATH": Attempt(
        command=SAYS_BETA, path=("PROJECT/bin",), deed=f"write('bin/bash', {EVIL!r}, 0o755)",
        told="bin/bash was added",
    ),
    "a program in an earlier folder outside the project": Attempt(
        command=["mylint"], path=("BESIDE/early", "BESIDE/tools"),
        files={"../beside/tools/mylint": LINTER, "../beside/early/README": ""},
        deed=f"write('../beside/early/mylint', {EVIL!r}, 0o755)",
        told="beside/early/mylint was added",
    ),
    "the program itself outside the project": Attempt(
        command="mylint --strict", path=("BESIDE/tools",),
        files={"../beside/tools/mylint": LINTER},
        deed=f"write('../beside/tools/mylint', {EVIL!r}, 0o755)",
        told="beside/tools/mylint was changed",
    ),
    "a program that a command names by its path": Attempt(
        command=["../beside/tools/mylint"], files={"../beside/tools/mylint": LINTER},
        deed=f"write('../beside/tools/mylint', {EVIL!r}, 0o755)",
        told="beside/tools/mylint was changed",
    ),
    "a program of an earlier line of a shell": Attempt(
        command="true && mylint", path=("BESIDE/tools",),
        files={"../beside/tools/mylint": LINTER},
        deed=f"write('../beside/tools/mylint', {EVIL!r}, 0o755)",
        told="beside/tools/mylint was changed",
    ),
    "a Makefile": Attempt(
        command=["make", "-s", "check"], files={"Makefile": f"check:\n\t{SAYS_BETA}\n"},
        deed="write('Makefile', 'check:\\n\\ttrue\\n')", told="Makefile was changed",
    ),
    "a GNUmakefile before the Makefile": Attempt(
        command=["make", "-s", "check"], files={"Makefile": f"check:\n\t{SAYS_BETA}\n"},
        deed="write('GNUmakefile', 'check:\\n\\ttrue\\n')", told="GNUmakefile was added",
    ),
    "a module that the checker imports": Attempt(
        command=["PYTHON", "checks/judge.py"], files=IMPORTING,
        deed="write('checks/helper.py', 'def verdict():\\n    return 0\\n')",
        told="checks/helper.py was changed",
    ),
    "byte code without a source": Attempt(
        command=["PYTHON", "checks/judge.py"],
        files={
            "checks/judge.py": "import sys\ntry:\n    import helper\n"
            "except ImportError:\n    sys.exit(1)\n"
        },
        deed="import py_compile\nwrite('../beside/helper.py', '')\n"
        "py_compile.compile('../beside/helper.py', 'checks/helper.pyc')",
        told="checks/helper.pyc was added",
    ),
    "options of a type checker": Attempt(
        command=["PYTHON", "-m", "mypy", "typed.py"], files={"typed.py": "x: int = 'no'\n"},
        deed="write('mypy.ini', '[mypy]\\nignore_errors = True\\n')", told="mypy.ini was added",
    ),
    "options of a linter": Attempt(
        command=["PYTHON", "-m", "ruff", "check", "lint.py"], files={"lint.py": "import os\n"},
        deed="write('.ruff.toml', 'exclude = [\"lint.py\"]\\nforce-exclude = true\\n')",
        told=".ruff.toml was added",
    ),
    "a link in place of a script": Attempt(
        command=BY_SCRIPT, files=SOURCING,
        deed="write('../beside/lib.sh', 'exit 0\\n'); os.remove('checks/lib.sh')\n"
        "os.symlink('../../beside/lib.sh', 'checks/lib.sh')",
        told="checks/lib.sh was changed",
    ),
    "a link in place of a folder": Attempt(
        command=BY_SCRIPT, files=SOURCING | {"checks/judge.sh": ". checks/more/lib.sh\n",
                                             "checks/more/lib.sh": "exit 1\n"},
        deed="write('../beside/more/lib.sh', 'exit 0\\n'); shutil.rmtree('checks/more')\n"
        "os.symlink('../../beside/more', 'checks/more')",
        told="checks/more was added",
    ),
    "an edit of the same size with its time set back": Attempt(
        command=BY_SCRIPT, files=SOURCING,
        deed=SAME_TIMES.format(how="path.write_text('exit 0\\n')"),
        told="checks/lib.sh was changed",
    ),
    "another file of the same size and time": Attempt(
        command=BY_SCRIPT, files=SOURCING,
        deed=SAME_TIMES.format(
            how="write('../beside/lib.sh', 'exit 0\\n')\nos.replace('../beside/lib.sh', path)"
        ),
        told="checks/lib.sh was changed",
    ),
    "a file written through a second name of it": Attempt(
        command=BY_SCRIPT, files=SOURCING,
        deed="os.link('checks/lib.sh', '../beside/lib.sh')\n"
        "Path('../beside/lib.sh').write_text('exit 0\\n')",
        told="checks/lib.sh was changed",
    ),
    "a file that can be executed": Attempt(
        command="test -x marker", files={"marker": ""}, deed="os.chmod('marker', 0o755)",
        told="marker was changed",
    ),
    "a file that cannot be executed any more": Attempt(
        command="test ! -x marker", files={"marker": "#!/bin/sh\n"},
        deed="os.chmod('marker', 0o644)", told="marker was changed",
    ),
    "a file that is gone": Attempt(
        command="test ! -e TODO.md", files={"TODO.md": "much\n"}, deed="os.remove('TODO.md')",
        told="TODO.md was removed",
    ),
    "a file with a line break in its name": Attempt(
        command="test -e 'a\nb'", deed="write('a\\nb', '')", told=r"a\nb was added",
    ),
    "a hook of git": Attempt(
        command=["git", "hook", "run", "pre-commit"], files={".git/hooks/pre-commit": HOOK},
        deed=f"write('.git/hooks/pre-commit', {EVIL!r}, 0o755)", git=True,
        told=".git/hooks/pre-commit was changed",
    ),
    "the configuration of git": Attempt(
        command=["git", "config", "--get", "check.passes"], git=True,
        deed="open('.git/config', 'a').write('[check]\\n\\tpasses = 1\\n')",
        told=".git/config was changed",
    ),
    "what git ignores": Attempt(
        command='test -z "$(git status --porcelain -- junk.txt)"', files={"junk.txt": ""},
        deed="write('.git/info/exclude', 'junk.txt\\n')", git=True,
        told=".git/info/exclude was",
    ),
    "a program that npm would find": Attempt(
        command="node_modules/.bin/jest", files={"node_modules/.bin/jest": LINTER},
        deed=f"write('node_modules/.bin/jest', {EVIL!r}, 0o755)",
        told="node_modules/.bin/jest was changed",
    ),
    "options of pytest above the project": Attempt(
        command=PYTEST, files=TESTS,
        deed="write('../pytest.ini', '[pytest]\\naddopts = --collect-only\\n')",
        told="/pytest.ini was added",
    ),
    "options of pytest above the project, shared": Attempt(
        command=PYTEST, files=TESTS | {"../pyproject.toml": "[project]\nname = 'x'\n"},
        deed="write('../pyproject.toml', '[tool.pytest.ini_options]\\naddopts = \"--co\"\\n')",
        told="/pyproject.toml was changed",
    ),
    "options of a linter above the project": Attempt(
        command=["PYTHON", "-m", "ruff", "check", "lint.py"], files={"lint.py": "import os\n"},
        deed="write('../ruff.toml', 'lint.ignore = [\"F401\"]\\n')", told="/ruff.toml was added",
    ),
    "the configuration of a repository above the project": Attempt(
        command=["git", "config", "--get", "check.passes"],
        deed="subprocess.run(['git', 'init', '-q', '..'], check=True)\n"
        "open('../.git/config', 'a').write('[check]\\n\\tpasses = 1\\n')",
        told="/.git/config was added",
    ),
    "the hooks of a repository that lies elsewhere": Attempt(
        command=["git", "hook", "run", "pre-commit"],
        files={".git": "gitdir: ../beside/git/worktrees/a\n",
               "../beside/git/worktrees/a/commondir": "../..\n",
               "../beside/git/worktrees/a/HEAD": "ref: refs/heads/a\n",
               "../beside/git/HEAD": "ref: refs/heads/a\n",
               "../beside/git/config": "", "../beside/git/refs/heads/.keep": "",
               "../beside/git/objects/.keep": "", "../beside/git/hooks/pre-commit": HOOK},
        deed=f"write('../beside/git/hooks/pre-commit', {EVIL!r}, 0o755)",
        told="/hooks/pre-commit was changed",
    ),
    "a script outside the project": Attempt(
        command="sh ../beside/judge.sh", files={"../beside/judge.sh": "exit 1\n"},
        deed="write('../beside/judge.sh', 'exit 0\\n')", told="/judge.sh was changed",
    ),
    "a script in a folder that no look enters": Attempt(
        command="sh .idea/judge.sh", files={".idea/judge.sh": "exit 1\n"},
        deed="write('.idea/judge.sh', 'exit 0\\n')", told=".idea/judge.sh was changed",
    ),
    "a script in a cache": Attempt(
        command=["sh", "__pycache__/judge.sh"], files={"__pycache__/judge.sh": "exit 1\n"},
        deed="write('__pycache__/judge.sh', 'exit 0\\n')", told="__pycache__/judge.sh was changed",
    ),
}  # fmt: skip


def _prepared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, attempt: Attempt, **check: Any
) -> ShellProject:
    project = ShellProject(folder, monkeypatch)
    if attempt.git:
        subprocess.run(["git", "init", "-q"], check=True, timeout=20)
    project.put(attempt.files)
    named = {"PROJECT": str(project.folder), "BESIDE": str(project.beside)}
    project.search_first(
        "/".join(named.get(part, part) for part in one.split("/")) for one in attempt.path
    )
    project.judge_by({"command": attempt.command, **check})
    return project


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_what_changes_in_the_call_of_an_agent_is_tampering(
    attempt: Attempt,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = _prepared(tmp_path, monkeypatch, attempt)
    project.let_the_agent(attempt.deed)
    status = project.new()
    told = "".join(capsys.readouterr())
    assert "the deed failed" not in told
    assert (status, project.stop()["reason"]) == (10, "tampered")
    assert "modified during the agent's call (PRODUCE): " in project.stop()["detail"]
    assert attempt.told in project.stop()["detail"]
    assert project.stop()["detail"].split(" was ")[0].split("): ")[1] in told


@pytest.mark.parametrize("step", ["PLAN", "CRITIQUE", "REFINE"])
@pytest.mark.parametrize(
    "name", ["a link in place of a script", "a Makefile", "a file that is gone"]
)
def test_it_is_tampering_in_every_step(
    name: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = ATTEMPTS[name]
    project = _prepared(tmp_path, monkeypatch, attempt)
    project.let_the_agent(attempt.deed, step)
    assert (project.new(), project.stop()["reason"]) == (10, "tampered")
    allow = f" (to allow it: --may-change '{attempt.told.split(' was ')[0]}')"
    told = f"modified during the agent's call ({step}): {attempt.told}{allow}"
    assert project.stop()["detail"] == told
    assert project.stop()["passed"] is False


def _environment(folder: Path) -> str:
    """Make a virtual environment of this Python in a folder, and return its packages."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to(sys.executable)
    home = os.path.dirname(os.path.realpath(sys.executable))
    (folder / "pyvenv.cfg").write_text(f"home = {home}\n")
    packages = folder / f"lib/python3.{sys.version_info.minor}/site-packages"
    (packages / "linter").mkdir(parents=True)
    (packages / "linter/__init__.py").write_text("def verdict():\n    return 1\n")
    return str(packages)


INSTALLED = {
    "a package": ("linter/__init__.py", "def verdict():\n    return 0\n"),
    "a line that each start runs": ("evil.pth", "import os; os._exit(0)\n"),
    "a module that each start imports": ("sitecustomize.py", LEAVE),
}


@pytest.mark.parametrize("inside", [True, False], ids=["in the project", "outside"])
@pytest.mark.parametrize(("name", "text"), INSTALLED.values(), ids=INSTALLED.keys())
def test_what_is_installed_for_a_check_is_held(
    name: str, text: str, *, inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ".venv" if inside else "../beside/venv"
    script = "import sys, linter; sys.exit(linter.verdict())"
    attempt = Attempt(command=[f"{where}/bin/python", "-c", script], deed="", told="")
    project = _prepared(tmp_path, monkeypatch, attempt)
    packages = _environment(project.folder / where)
    project.let_the_agent(f"write({packages!r} + '/{name}', {text!r})")
    assert (project.new(), project.stop()["reason"]) == (10, "tampered")
    assert f"site-packages/{name} was " in project.stop()["detail"]


STALE = """
import importlib.util, marshal, struct
source = Path("checks/helper.py")
code = compile("def verdict():\\n    return 0\\n", "checks/helper.py", "exec")
status = source.stat()
stamp = struct.pack("<II", int(status.st_mtime) & 0xFFFFFFFF, status.st_size)
cache = Path(importlib.util.cache_from_source("checks/helper.py"))
cache.parent.mkdir(exist_ok=True)
cache.write_bytes(importlib.util.MAGIC_NUMBER + bytes(4) + stamp + marshal.dumps(code))
"""


@pytest.mark.parametrize("step", ["PRODUCE", "REFINE"])
def test_byte_code_that_lies_about_its_source_is_not_read(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = Attempt(command=["PYTHON", "checks/judge.py"], deed="", told="", files=IMPORTING)
    project = _prepared(tmp_path, monkeypatch, attempt)
    project.let_the_agent(STALE, step)
    assert (project.new(), project.stop()["reason"]) == (6, "iteration_limit")
    # A Python that is started like any other believes it.
    subprocess.run([sys.executable, "checks/judge.py"], check=True, timeout=20)


FOOLED = """
path = Path("typed.py")
status = path.stat()
for text in ("x: str = 'a'\\n", "x: int = 'a'\\n"):
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    subprocess.run(["PYTHON", "-m", "mypy", "typed.py"], check=True)
"""


def test_a_cache_of_a_type_checker_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = ShellProject(tmp_path, monkeypatch)
    project.put({"typed.py": "x: int = 'a'\n"})
    command = ["PYTHON", "-m", "mypy", "typed.py"]
    project.judge_by({"command": command}, iterations=1)
    project.let_the_agent(FOOLED.replace("PYTHON", sys.executable))
    assert (project.new(), project.stop()["reason"]) == (6, "iteration_limit")
    assert (project.folder / ".mypy_cache").is_dir()


# The agent leaves a process in a session of its own, without what its surroundings say of it,
# which waits until the check has begun, and lets it go on when it has written.
LEFT = """
script = '''
n=0
while [ ! -e ../beside/begun ] && [ $n -lt 500 ]; do sleep 0.02; n=$((n+1)); done
{deed}
touch ../beside/written
'''
subprocess.Popen(
    ["env", "-i", f"PATH={{os.environ['PATH']}}", "setsid", "sh", "-c", 'sh -c "$0" &', script],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
"""
WAITING = """\
touch ../beside/begun
n=0
while [ ! -e ../beside/written ] && [ $n -lt 40 ]; do sleep 0.02; n=$((n+1)); done
test -e checks/lib.sh || exit 0
test ! -e checks/new.sh || exit 0
. checks/lib.sh
"""
LATE = {
    "a file that decides": ("echo exit 0 > checks/lib.sh", "checks/lib.sh was changed"),
    "a file that is new": ("echo exit 0 > checks/new.sh", "checks/new.sh was added"),
    "a file that goes": ("rm checks/lib.sh", "checks/lib.sh was removed"),
}


@pytest.mark.parametrize(("deed", "told"), LATE.values(), ids=LATE.keys())
def test_what_an_agent_left_running_changes_no_judgement(
    deed: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"checks/judge.sh": WAITING, "checks/lib.sh": "exit 1\n"}
    attempt = Attempt(command=BY_SCRIPT, deed="", told="", files=files)
    project = _prepared(tmp_path, monkeypatch, attempt)
    project.let_the_agent(LEFT.format(deed=deed))
    status = project.new()
    if (project.beside / "written").exists():
        assert (status, project.stop()["reason"]) == (9, "phase_error")
        assert f"modified during EVALUATE: {told}" in project.stop()["detail"]
    else:  # it was ended with the call
        assert (status, project.stop()["reason"]) == (6, "iteration_limit")


KILLING = ["a Makefile", "a link in place of a script", "a hook of git"]


@pytest.mark.parametrize("step", ["PRODUCE", "REFINE"])
@pytest.mark.parametrize("name", KILLING)
def test_an_agent_that_kills_its_driver_earns_nothing(
    name: str,
    step: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    attempt = ATTEMPTS[name]
    project = _prepared(tmp_path, monkeypatch, attempt)
    project.let_the_agent(attempt.deed, step, after="kill -9 $PPID; sleep 30")
    assert project.new_process() == -9
    for _ in range(2):
        assert project.resume() == 14
        told = " ".join("".join(capsys.readouterr()).split())
        assert f"the project changed since the run last looked at it: {attempt.told}" in told
        assert "pytest-reflex loop resume run --accept-changes" in told
    state = json.loads((project.folder / RUN / "run.json").read_text())
    assert state["status"] == "running"


def test_a_script_behind_a_link_that_leads_out_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = Attempt(command="sh tools/judge.sh", deed="", told="")
    project = _prepared(tmp_path, monkeypatch, attempt)
    project.put({"../beside/tools/judge.sh": "exit 1\n"})
    (project.folder / "tools").symlink_to("../beside/tools")
    project.let_the_agent("write('tools/judge.sh', 'exit 0\\n')")
    assert (project.new(), project.stop()["reason"]) == (10, "tampered")
    assert "beside/tools/judge.sh was changed" in project.stop()["detail"]
