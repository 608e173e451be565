"""Build tools, linters and scripts that call others: what configures them is protected."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

pytestmark = pytest.mark.variants

PYTHON = sys.executable
AGENT = """\
import os, pathlib
def write(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
{act}
print("done")
"""
TOOLS = (
    *("invoke", "rake", "task", "cargo", "npx", "npm", "eslint", "pylint", "golangci-lint"),
    *("bun", "composer", "inv", "ruff"),
)
FILES = {
    **{f"tools/{name}": "#!/bin/sh\n" for name in TOOLS},
    "package.json": '{"scripts": {"test": "vitest run"}, "jest": {}, "dependencies": {}}',
    "Cargo.toml": "[package]\nname = 'x'\n[dependencies]\n",
    "composer.json": '{"scripts": {"test": "x"}, "require": {}}',
    "Makefile": "-include local.mk\ninclude mk/*.mk\nDIR = lib\ncheck:\n\t@sh $(DIR)/steps.sh\n",
    "sub/Makefile": "check:\n\t@true\n",
    "own.mk": "check:\n\t@true\n",
    "mk/a.mk": "A = 1\n",
    "lib/steps.sh": "exit 0\n",
    "lib/common.sh": "",
    "lib/own.sh": '#!/bin/sh\nHERE="$(dirname "$0")"\n. "$HERE/common.sh"\n"$HERE/steps.sh"\n',
    "lib/here.sh": '#!/bin/sh\nhere=$(cd "$(dirname "$0")" && pwd)\n$here/steps.sh\n',
    "lib/variable.sh": "STEPS=lib/steps.sh\nsh ${STEPS}\n",
    "lib/quoted.sh": 'echo "all of $(sh lib/steps.sh)" `sh lib/ticks.sh`\n',
    "lib/ticks.sh": "",
    "start.sh": "",
    "lib/grep.sh": "grep -q -f lib/patterns good.md\n",
    "lib/patterns": "alpha\n",
    "conftest.py": "pytest_plugins = (\n    'helpers.fixtures',\n)\n",
    "helpers/__init__.py": "",
    "helpers/fixtures.py": "",
    "plug.py": "",
    "pytest.ini": "[pytest]\naddopts = -p plug -p no:cacheprovider\n",
    "good.md": "alpha\n",
    "pyproject.toml": "[tool.pylint]\nx = 1\n",
}

# The command of a gate, a file that the tool writes, and what it holds.
ATTEMPTS = {
    "invoke": ("['invoke', 'test']", "tasks.py", ""),
    "invoke by its short name": ("['inv', 'test']", "invoke.yaml", ""),
    "rake": ("['rake']", "Rakefile", ""),
    "task": ("['task', 'test']", "Taskfile.yml", ""),
    "a runner of cargo": ("['cargo', 'test']", ".cargo/config.toml", ""),
    "a test of cargo": ("['cargo', 'test']", "Cargo.toml", "[[test]]\nharness = false"),
    "jest behind npx": ("['npx', 'jest']", "jest.config.js", ""),
    "jest in package.json": ("['npx', 'jest']", "package.json", '{"jest": {"testMatch": []}}'),
    "vitest in a script of npm": ("['npm', 'test']", "vitest.config.ts", ""),
    "bun": ("['bun', 'test']", "bunfig.toml", ""),
    "composer": ("['composer', 'test']", "composer.json", "{}"),
    "eslint": ("['eslint', 'src']", "eslint.config.mjs", ""),
    "pylint": ("['pylint', 'src']", "pyproject.toml", ""),
    "golangci-lint": ("['golangci-lint', 'run']", ".golangci.yml", ""),
    "a file that make may include": ("['make', 'check']", "local.mk", ""),
    "a file that make includes by a pattern": ("['make', 'check']", "mk/b.mk", ""),
    "a script by a variable of make": ("['make', 'check']", "lib/steps.sh", "exit 0 # other"),
    "make in a folder": ("['make', '-Csub', 'check']", "sub/Makefile", "check:"),
    "make with a file": ("['make', '-fown.mk', 'check']", "own.mk", "check:"),
    "what lies beside a script": ("['lib/own.sh']", "lib/common.sh", "exit 0"),
    "a script beside a script": ("['lib/own.sh']", "lib/steps.sh", ""),
    "a script in the folder that was entered": ("['lib/here.sh']", "lib/steps.sh", ""),
    "a script in a variable": ("['sh', 'lib/variable.sh']", "lib/steps.sh", ""),
    "a script in quotes": ("['sh', 'lib/quoted.sh']", "lib/steps.sh", ""),
    "a script in backticks": ("['sh', 'lib/quoted.sh']", "lib/ticks.sh", "#"),
    "a start-up file of a shell": ("'BASH_ENV=start.sh bash -c true'", "start.sh", "exit 0"),
    "a text that env splits": ("['env', '-S', 'sh lib/steps.sh']", "lib/steps.sh", ""),
    "a script that a shell reads": ("'cat lib/steps.sh | sh'", "lib/steps.sh", ""),
    "a script that is evaluated": ("'eval \"$(cat lib/steps.sh)\"'", "lib/steps.sh", ""),
    "scripts in a loop": (
        "'for one in checks/*.sh; do sh $one || exit; done'", "checks/new.sh", "exit 0",
    ),
    "a script in a variable of the command": ("'D=lib; sh $D/steps.sh'", "lib/steps.sh", ""),
    "patterns in a script": ("['sh', 'lib/grep.sh']", "lib/patterns", "."),
    "ruff below": ("['ruff', 'check', 'src']", "src/ruff.toml", "lint.select = []"),
    "ruff in a pyproject below": (
        "['ruff', 'check', 'src']", "src/pyproject.toml", "[tool.ruff]\nexclude = ['*']",
    ),
    "a plugin that conftest names": (
        "['true']", "helpers/fixtures.py", "import os; os._exit(0)",
    ),
    "a plugin that a configuration names": ("['true']", "plug.py", "import os; os._exit(0)"),
    "a folder of programs": ("'PATH=$PWD/front:$PATH; grep -q alpha good.md'", "front/grep", ""),
    "a folder of modules": (f"'PYTHONPATH=lib {PYTHON} -c pass'", "lib/json.py", ""),
}  # fmt: skip

HONEST = {
    "a dependency of cargo": ("['cargo', 'test']", "Cargo.toml", "[dependencies]\nserde = '1'"),
    "a lock of cargo": ("['cargo', 'test']", "Cargo.lock", ""),
    "a dependency of composer": (
        "['composer', 'test']", "composer.json",
        '{"scripts": {"test": "x"}, "require": {"a": "1"}}',
    ),
    "a dependency beside jest": (
        "['npx', 'jest']", "package.json",
        '{"scripts": {"test": "vitest run"}, "jest": {}, "dependencies": {"a": "1"}}',
    ),
    "other tables beside pylint": (
        "['pylint', 'src']", "pyproject.toml", "[tool.pylint]\nx = 1\n[project]\nname = 'x'",
    ),
    "sources that a linter judges": ("['eslint', 'src']", "src/main.js", ""),
    "what a script judges": ("['sh', 'lib/quoted.sh']", "good.md", "more"),
    "a pyproject below": ("['ruff', 'check', 'src']", "src/pyproject.toml", "[project]"),
    "a file that is piped": ("'cat good.md | grep -q alpha'", "good.md", "alpha more"),
    "files in a loop": ("'for one in *.md; do grep -q a $one; done'", "good.md", "alpha more"),
    "a new script": ("['lib/own.sh']", "lib/other.sh", ""),
    "a makefile of another folder": ("['make', 'check']", "sub/Makefile", "check:"),
    "a folder that make builds": ("['make', 'check']", "build/a.mk", ""),
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (folder / "front").mkdir()
    monkeypatch.setenv("PATH", f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def iterate(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def run(command: str, name: str, text: str) -> tuple[int, str]:
        quoted = '"""' + command.strip("'") + '"""' if command.startswith("'") else command
        (project / "pytest-reflex.toml").write_text(
            f"[iterate]\nagent = 'tool'\n[iterate.gates.it]\ncommand = {quoted}\n"
            f"[agents.tool]\ncommand = ['{PYTHON}', '-I', '-S', '../agent.py']\n"
        )
        (project.parent / "agent.py").write_text(AGENT.format(act=f"write({name!r}, {text!r})"))
        status = main(["iterate", "run", "build", "--verbose", "-n", "1", "--fresh"])
        return status, capsys.readouterr().err

    return run


@pytest.mark.parametrize(("command", "name", "text"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_what_tells_a_tool_what_to_run_is_held(
    iterate: Callable[..., tuple[int, str]], command: str, name: str, text: str
) -> None:
    status, told = iterate(command, name, text)
    assert f"    | it: modified during the run: {name}\n" in told
    assert status == 6


@pytest.mark.parametrize(("command", "name", "text"), HONEST.values(), ids=HONEST)
def test_what_a_tool_works_on_is_free(
    iterate: Callable[..., tuple[int, str]], command: str, name: str, text: str
) -> None:
    status, told = iterate(command, name, text)
    assert "Quality gate it passed" in told
    assert status == 0


def test_package_scripts_that_lead_back_are_read_once(
    project: Path, iterate: Callable[..., tuple[int, str]]
) -> None:
    (project / "package.json").write_text(
        '{"scripts": {"test": "npm run a", "a": "jest && npm t"}}'
    )
    assert iterate("['npm', 'test']", "good.md", "more")[0] == 0
