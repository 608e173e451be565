"""What a check reads around the project and in what looks leave out: an agent may not change it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.drivers.reflex.shell_project import RUN, SAYS_BETA, ShellProject

pytestmark = pytest.mark.variants

EVIL = "#!/bin/sh\nexit 0\n"
LINT = {"lint.py": "import os\n"}
RUFF = ["PYTHON", "-m", "ruff", "check", "lint.py"]
SUBMODULE = """\
git init -q .
git init -q ../beside/sub
git -C ../beside/sub -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
git -c protocol.file.allow=always submodule --quiet add ../beside/sub sub
"""
PASSES = "open({!r}, 'a').write('[check]\\n\\tpasses = 1\\n')"
ASKS = ["config", "--get", "check.passes"]
PROGRAM = {"../beside/tools/mylint": f"#!/bin/sh\n{SAYS_BETA}\n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What an agent does (Python) to make `command` pass, after `setup` (shell)."""

    command: str | list[str]
    deed: str
    told: str
    files: Mapping[str, str] = field(default_factory=dict)
    setup: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    root: str = ""


def above(name: str) -> Attempt:
    return Attempt(
        command=f"test -e ../{name}", deed=f"write('../{name}', '')", told=f"/{name} was added"
    )


ATTEMPTS = {
    "a configuration beside the artifact": Attempt(
        command=["PYTHON", "-m", "ruff", "check", f"{RUN}/artifact.md"],
        deed=f"write('{RUN}/ruff.toml', 'exclude = [\"*.md\"]\\nforce-exclude = true\\n')",
        told="ruff.toml was added",
    ),
    "a module beside the artifact": Attempt(
        command=f"test -e {RUN}/json.py", deed=f"write('{RUN}/json.py', '')",
        told="json.py was added",
    ),
    "a configuration beside the runs": Attempt(
        command="test -e .ai-factory/evolution/ruff.toml",
        deed="write('.ai-factory/evolution/ruff.toml', '')", told="evolution/ruff.toml was added",
    ),
    "a folder among the runs": Attempt(
        command="test -e .ai-factory/evolution/x/a.txt",
        deed="write('.ai-factory/evolution/x/a.txt', '')", told="evolution/x/a.txt was added",
    ),
    "what lies in the folder of the runs": Attempt(
        command="sh tests/judge.sh", files={"tests/judge.sh": ". tests/lib.sh\n",
                                            "tests/lib.sh": "exit 1\n"},
        deed="write('tests/lib.sh', 'exit 0\\n')", root="tests", told="tests/lib.sh was changed",
    ),
    "what lies beside runs in the project's own folder": Attempt(
        command="sh judge.sh", files={"judge.sh": ". ./lib.sh\n", "lib.sh": "exit 1\n"},
        deed="write('lib.sh', 'exit 0\\n')", root=".", told="lib.sh was changed",
    ),
    "a table of pyproject.toml above, for a linter": Attempt(
        command=RUFF, files=LINT | {"../pyproject.toml": "[project]\nname = 'x'\n"},
        deed="write('../pyproject.toml', '[tool.ruff]\\nlint.ignore = [\"F401\"]\\n')",
        told="/pyproject.toml was changed",
    ),
    "package.json above": above("package.json"),
    "options of eslint above": above(".eslintrc.json"),
    "a module of options of eslint above": above("eslint.config.mjs"),
    "tsconfig.json above": above("tsconfig.json"),
    "Cargo.toml above": above("Cargo.toml"),
    "options of cargo above": above(".cargo/config.toml"),
    "go.work above": above("go.work"),
    "the version of Python above": above(".python-version"),
    "above a program of the project's own": Attempt(
        command=["./check.sh"], files=LINT | {"check.sh": "#!/bin/sh\ntest -e ../ruff.toml\n"},
        deed="write('../ruff.toml', '')", told="/ruff.toml was added",
    ),
    "what a shell reads first": Attempt(
        command=["bash", "-c", "exit 1"], variables={"BASH_ENV": "BESIDE/rc"},
        deed="write('../beside/rc', 'exit 0\\n')", told="beside/rc was added",
    ),
    "a module on PYTHONPATH": Attempt(
        command=["PYTHON", "-c", "import helper, sys; sys.exit(helper.STATUS)"],
        files={"../beside/lib/helper.py": "STATUS = 1\n"},
        variables={"PYTHONPATH": "BESIDE/lib"},
        deed="write('../beside/lib/helper.py', 'STATUS = 0\\n')",
        told="beside/lib/helper.py was changed",
    ),
    "a module of the standard library on PYTHONPATH": Attempt(
        command=["PYTHON", "-c", "import json, sys; sys.exit(1)"],
        variables={"PYTHONPATH": "BESIDE/lib"},
        deed="write('../beside/lib/json.py', 'import os; os._exit(0)\\n')",
        told="beside/lib/json.py was added",
    ),
    "the user's options of git": Attempt(
        command=["git", *ASKS], variables={"HOME": "BESIDE"},
        deed=PASSES.format("../beside/.gitconfig"), told="beside/.gitconfig was added",
    ),
    "the user's options of a type checker": Attempt(
        command=["PYTHON", "-m", "mypy", "typed.py"], files={"typed.py": "x: int = 'no'\n"},
        variables={"HOME": "BESIDE"},
        deed="write('../beside/.mypy.ini', '[mypy]\\nignore_errors = True\\n')",
        told="beside/.mypy.ini was added",
    ),
    "the user's options of a linter": Attempt(
        command=RUFF, files=LINT, variables={"XDG_CONFIG_HOME": "BESIDE/config"},
        deed="write('../beside/config/ruff/ruff.toml', 'lint.ignore = [\"F401\"]\\n')",
        told="config/ruff/ruff.toml was added",
    ),
    "a file behind a link": Attempt(
        command="sh judge.sh",
        files={"judge.sh": ". ./lib.sh\n", "../beside/lib.sh": "exit 1\n"},
        setup="ln -s ../beside/lib.sh lib.sh",
        deed="write('../beside/lib.sh', 'exit 0\\n')", told="beside/lib.sh was changed",
    ),
    "a folder behind a link": Attempt(
        command="sh judge.sh",
        files={"judge.sh": ". lib/deep/a.sh\n", "../beside/lib/deep/a.sh": "exit 1\n"},
        setup="ln -s ../beside/lib lib",
        deed="write('../beside/lib/deep/a.sh', 'exit 0\\n')", told="deep/a.sh was changed",
    ),
    "a new file behind a link": Attempt(
        command="test -e lib/new", files={"../beside/lib/old": ""},
        setup="ln -s ../beside/lib lib",
        deed="write('../beside/lib/new', '')", told="beside/lib/new was added",
    ),
    "a link into what no look enters": Attempt(
        command="sh judge.sh",
        files={"judge.sh": ". ./lib.sh\n", ".idea/lib.sh": "exit 1\n"},
        setup="ln -s .idea/lib.sh lib.sh",
        deed="write('.idea/lib.sh', 'exit 0\\n')", told=".idea/lib.sh was changed",
    ),
    "a repository behind a link": Attempt(
        command=["git", *ASKS], setup="git init -q ../beside/r; ln -s ../beside/r/.git .git",
        deed=PASSES.format(".git/config"), told="/config was changed",
    ),
    "the configuration of a submodule": Attempt(
        command=["git", "-C", "sub", *ASKS], setup=SUBMODULE,
        deed=PASSES.format(".git/modules/sub/config"), told="modules/sub/config was changed",
    ),
    "a hook of a submodule": Attempt(
        command=["git", "-C", "sub", "hook", "run", "pre-commit"], setup=SUBMODULE,
        deed=f"write('.git/modules/sub/hooks/pre-commit', {EVIL!r}, 0o755)",
        told="modules/sub/hooks/pre-commit was added",
    ),
    "a program in a folder of git's": Attempt(
        command=["mylint"], files=PROGRAM | {".git/tools/x": ""},
        path=(".git/tools", "BESIDE/tools"),
        deed=f"write('.git/tools/mylint', {EVIL!r}, 0o755)", told="tools/mylint was added",
    ),
    "a program that nobody has": Attempt(
        command="mylint || exit 1", path=("BESIDE/tools",),
        deed=f"write('../beside/tools/mylint', {EVIL!r}, 0o755)", told="tools/mylint was added",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_what_checks_read_elsewhere_may_not_change_in_a_call(
    attempt: Attempt,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = ShellProject(tmp_path, monkeypatch)
    project.put(attempt.files)
    for name, value in attempt.variables.items():
        monkeypatch.setenv(name, value.replace("BESIDE", str(project.beside)))
    subprocess.run(["sh", "-ec", attempt.setup], check=True, timeout=60)
    project.search_first(one.replace("BESIDE", str(project.beside)) for one in attempt.path)
    project.judge_by({"command": attempt.command})
    if attempt.root:
        settings = Path("pytest-reflex.toml")
        root = f'[loop]\nroot = "{attempt.root}"\n'
        settings.write_text(settings.read_text().replace("[loop]\n", root))
    project.let_the_agent(attempt.deed)
    assert project.new() == 10
    told = " ".join("".join(capsys.readouterr()).split())
    assert "the deed failed" not in told
    assert "modified during the agent's call (PRODUCE): " in told
    assert "".join(attempt.told.split()) in "".join(told.split())


HONEST = {
    "git packs its files": ("git gc -q; git repack -adq", "git init -q"),
    "editors leave files": ("touch a.txt~ '#a.txt#' .a.swn .~lock.a.odt# .nfs01 .fuse_hidden1", ""),
    "a note beside the artifact": (f"touch {RUN}/notes.md", ""),
    "another loop": ("mkdir .ai-factory/evolution/x; touch .ai-factory/evolution/x/run.json", ""),
    "the state lies behind a link": ("", "mkdir ../beside/ai; ln -s ../beside/ai .ai-factory"),
    "links lead anywhere": ("", ("ln -s . me; ln -s .. up; ln -s no dead; ln -s / top; "
                            "ln -s /proc/self self; ln -s /dev/null null")),
    "what is behind a link may change": ("echo x >> logs/a.log",
                                         "mkdir ../beside/logs; ln -s ../beside/logs logs"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("deed", "setup"), HONEST.values(), ids=HONEST.keys())
def test_what_bears_on_no_check_may_change(
    deed: str, setup: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = ShellProject(tmp_path, monkeypatch)
    project.put({"a.txt": ""})
    subprocess.run(["sh", "-ec", setup], check=True, timeout=60)
    project.judge_by({"command": f"grep -q alpha {RUN}/artifact.md"})
    project.let_the_agent(f"subprocess.run(['sh', '-ec', {deed!r}], check=True)")
    assert project.new("--may-change", "logs/**") == 0
    assert project.stop()["passed"] is True


@pytest.mark.long
@pytest.mark.parametrize("declared", [{"writes": ["out/*.txt"]}, {}], ids=["declared", "shell"])
def test_a_check_writes_behind_a_link(
    declared: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = ShellProject(tmp_path, monkeypatch)
    (project.beside / "out").mkdir()
    (project.folder / "out").symlink_to("../beside/out")
    project.judge_by({"command": "date +%N > out/a.txt", **declared})
    project.let_the_agent("")
    assert project.new() == 0
