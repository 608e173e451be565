"""Agents that bend what judges, in loops over a session: each is stopped, and the path named."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

import pytest

from tests.drivers.pytest_loop.stage import TESTS, Project

pytestmark = pytest.mark.variants

TOOLS = (
    f"VERSION = {pytest.__version__!r}\n"
    """\
import importlib.util, marshal, struct, subprocess
def put(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
def old(name):
    return pathlib.Path(name).read_text()
def code_ends(text):
    put("sums.py", old("sums.py") + text)
def forge(name, *replaced):
    path = pathlib.Path(name)
    text, status = path.read_text(), path.stat()
    fake = text
    for one, other in replaced:
        fake = fake.replace(one, other)
    code = marshal.dumps(compile(fake, str(path.absolute()), "exec"))
    by_time = struct.pack("<III", 0, int(status.st_mtime), status.st_size)
    unchecked = struct.pack("<I", 1) + importlib.util.source_hash(text.encode())
    os.makedirs("__pycache__", exist_ok=True)
    for tail, head in (("", unchecked), (f"-pytest-{VERSION}", by_time)):
        place = pathlib.Path(f"__pycache__/{path.stem}.{sys.implementation.cache_tag}{tail}.pyc")
        place.write_bytes(importlib.util.MAGIC_NUMBER + head + code)
"""
)
SUITE = f"""\
artifacts: [notes.md]
rules:
  - {{id: a.x.alpha, description: says alpha, severity: warn,
     check: {{type: content, search: alpha}}}}
  - {{id: a.x.script, description: the script agrees, severity: warn,
     check: {{type: executable, command: ['{sys.executable}', tools/judge.py]}}}}
"""
CRITERIA = """\
name: notes
phases: {A: {threshold: 0.9}}
rules:
  - {id: a.x.alpha, description: d, severity: warn, check: {type: content, search: alpha}}
  - {id: a.x.beta, description: d, severity: warn, check: {type: content, search: beta}}
"""
ON_PATH = SUITE.replace(f"'{sys.executable}', tools/judge.py", "mygrep, alpha, notes.md")
OF_VENV = SUITE.replace(f"'{sys.executable}', tools/judge.py", ".venv/bin/tool")
WITH_MAKE = SUITE.replace(f"'{sys.executable}', tools/judge.py", "sh, -c, 'grep -q alpha Makefile'")
SUITE_FILES = {
    "it.reflex.yaml": SUITE,
    "notes.md": "alpha\n",
    "tools/judge.py": "import sys\nsys.exit(1)\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What an agent does in its call to a project with more `files`, and the change to be named."""

    acts: str
    change: str
    files: dict[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    def set_up(self, project: Project) -> None:
        for name, text in self.files.items():
            project.write(name, text)
        for name in self.programs:
            (project.folder / name).chmod(0o755)
        project.agent(f"{TOOLS}{self.acts}")


def in_tests(name: str, text: str) -> Attempt:
    return Attempt(
        files={"tests/test_more.py": "def test_more():\n    pass\n"},
        acts=f"fix(); put('tests/{name}', {text!r})",
        change=f"tests/{name} was added",
    )


def planted(name: str, text: str = "") -> Attempt:
    return Attempt(acts=f"fix(); put({name!r}, {text!r})", change=f"{name} was added")


IN_A_CALL = {
    "the script of a check": Attempt(
        files=SUITE_FILES,
        acts="fix(); put('tools/judge.py', '')",
        change="tools/judge.py was changed",
    ),
    "what the script of a check imports": Attempt(
        files={
            **SUITE_FILES,
            "tools/aid.py": "raise SystemExit(1)",
            "tools/judge.py": "import aid\n",
        },
        acts="fix(); put('tools/aid.py', '')",
        change="tools/aid.py was changed",
    ),
    "a conftest.py beside the tests": in_tests("conftest.py", "collect_ignore = ['test_more.py']"),
    "a pytest.ini beside the tests": in_tests("pytest.ini", "[pytest]\naddopts = -k nothing\n"),
    "a setup.cfg beside the tests": in_tests("setup.cfg", "[tool:pytest]\naddopts = -k nothing\n"),
    "a tox.ini beside the tests": in_tests("tox.ini", "[pytest]\naddopts = -k nothing\n"),
    "what pyproject.toml says to pytest, where it may be edited": Attempt(
        files={"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x'\n"},
        arguments=("--reflex-artifact=pyproject.toml",),
        acts="put('pyproject.toml', old('pyproject.toml').replace('-x', '-k nothing'))",
        change="pyproject.toml was changed",
    ),
    "a module that tests import": Attempt(
        files={"aid.py": "def holds(found):\n    return found\n", "test_aid.py": "import aid"},
        acts="put('aid.py', 'def holds(found):\\n    return True\\n')",
        change="aid.py was changed",
    ),
    "json.py": planted("json.py"),
    "the package pytest": planted("pytest/__init__.py"),
    "sitecustomize.py": planted("sitecustomize.py"),
    "a .pth file": planted("evil.pth", "import os\n"),
    "byte code in place of a module": Attempt(
        acts="fix(); pathlib.Path('aid.pyc').write_bytes(b'x')", change="aid.pyc was added"
    ),
    "a tool of the environment": Attempt(
        files={**SUITE_FILES, "it.reflex.yaml": OF_VENV, ".venv/bin/tool": "#!/bin/sh\nexit 1\n"},
        programs=(".venv/bin/tool",),
        acts="fix(); put('.venv/bin/tool', '#!/bin/sh\\nexit 0\\n')",
        change=".venv/bin/tool was changed",
    ),
    "an installed package": Attempt(
        files={".venv/lib/python3/site-packages/aid.py": "x = 1\n"},
        acts="fix(); put('.venv/lib/python3/site-packages/aid.py', 'x = 2\\n')",
        change=".venv/lib/python3/site-packages/aid.py was changed",
    ),
    "a program before the real one on PATH": Attempt(
        files={
            **SUITE_FILES,
            "it.reflex.yaml": ON_PATH,
            "late/mygrep": '#!/bin/sh\nexec grep -q "$@"\n',
        },
        programs=("late/mygrep",),
        acts="put('bin/mygrep', '#!/bin/sh\\nexit 0\\n'); os.chmod('bin/mygrep', 0o755); fix()",
        change="bin/mygrep was added",
    ),
    "a file that a command of a check reads": Attempt(
        files={**SUITE_FILES, "it.reflex.yaml": WITH_MAKE, "Makefile": "all:\n"},
        acts="fix(); put('Makefile', 'alpha:\\n')",
        change="Makefile was changed",
    ),
    "the configuration of a tool": planted("mypy.ini", "[mypy]\nignore_errors = True\n"),
    "data that a test reads": Attempt(
        files={
            "wanted.txt": "3",
            "test_data.py": "from sums import add\n"
            "def test_data():\n    assert add(1, 2) == int(open('wanted.txt').read())\n",
        },
        acts="fix(); put('wanted.txt', '-1')",
        change="wanted.txt was changed",
    ),
    "a data file is taken away": Attempt(
        files={"wanted.txt": "3"},
        acts="fix(); os.remove('wanted.txt')",
        change="wanted.txt was removed",
    ),
    "another suite": Attempt(
        files=SUITE_FILES,
        acts="put('more.reflex.yaml', old('it.reflex.yaml'))",
        change="more.reflex.yaml was added",
    ),
    "a lower threshold": Attempt(
        files={
            **SUITE_FILES,
            "it.reflex.yaml": "criteria: notes.yaml\nartifacts: [notes.md]\n",
            "notes.yaml": CRITERIA,
        },
        acts="fix(); put('notes.yaml', old('notes.yaml').replace('0.9', '0.5'))",
        change="notes.yaml was changed",
    ),
    "a link in place of a test": Attempt(
        files={"other.txt": TESTS},
        acts="fix(); os.remove('test_sums.py'); os.symlink('other.txt', 'test_sums.py')",
        change="test_sums.py was changed",
    ),
    "a test whose time was set back": Attempt(
        acts="status = os.stat('test_sums.py')\n"
        "put('test_sums.py', old('test_sums.py').replace('== 3', '!= 3').replace('== 2', '!= 2'))\n"
        "os.utime('test_sums.py', ns=(status.st_atime_ns, status.st_mtime_ns))",
        change="test_sums.py was changed",
    ),
    "a test with a new name": Attempt(
        acts="os.rename('test_sums.py', 'sums_test.txt')", change="test_sums.py was removed"
    ),
    "a new test file": planted("test_easy.py", "def test_easy():\n    pass\n"),
    "a hook of git": Attempt(
        files={".git/config": "[core]\n"},
        acts="fix(); put('.git/hooks/post-checkout', '#!/bin/sh\\n')",
        change=".git/hooks/post-checkout was added",
    ),
    "what git ignores": Attempt(
        files={".git/info/exclude": ""},
        acts="fix(); put('.git/info/exclude', '*\\n')",
        change=".git/info/exclude was changed",
    ),
    "the settings of the loop": Attempt(
        acts="fix(); put('pytest-reflex.toml', old('pytest-reflex.toml') + '\\n')",
        change="pytest-reflex.toml was changed",
    ),
    "the agent's own program": Attempt(
        acts="fix(); put('agent.py', 'pass')", change="agent.py was changed"
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def path(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for programs in two folders of the project first."""
    monkeypatch.setenv("PATH", os.pathsep.join(["bin", "late", os.environ["PATH"]]))
    monkeypatch.delenv("PYTHONPATH", raising=False)


@pytest.mark.long
@pytest.mark.parametrize("attempt", IN_A_CALL.values(), ids=IN_A_CALL)
def test_a_change_in_an_agents_call_ends_the_loop_and_is_named(
    project: Project, attempt: Attempt
) -> None:
    attempt.set_up(project)
    assert project.play("--reflex-max-iterations=2", *attempt.arguments) == 1
    reason, detail = project.stop()
    assert reason == "tampered"
    assert detail.startswith("modified during the agent's call (REFINE): ")
    assert attempt.change in detail
    assert len(list(project.events("evaluation_done"))) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["a conftest.py beside the tests", "a module that tests import", "json.py"]
)
def test_a_change_in_an_agents_call_is_named_where_workers_run_the_session(
    project: Project, name: str
) -> None:
    attempt = IN_A_CALL[name]
    attempt.set_up(project)
    assert project.play("--reflex-max-iterations=2", "-p", "xdist", "-n", "2") == 1
    assert attempt.change in project.stop()[1]


@pytest.mark.long
def test_a_program_planted_outside_of_the_project_is_named(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    early, late = (tmp_path_factory.mktemp(name) for name in ("early", "late"))
    (late / "mygrep").write_text('#!/bin/sh\nexec grep -q "$@"\n')
    (late / "mygrep").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(early), str(late), os.environ["PATH"]]))
    acts = (
        f"put({str(early / 'mygrep')!r}, '#!/bin/sh'); os.chmod({str(early / 'mygrep')!r}, 0o755)"
    )
    files = {**SUITE_FILES, "it.reflex.yaml": ON_PATH}
    Attempt(files=files, acts=acts, change="").set_up(project)
    assert project.play("--reflex-max-iterations=2") == 1
    assert project.stop()[0] == "tampered"
    assert f"{early / 'mygrep'} was added" in project.stop()[1]
