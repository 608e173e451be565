"""A run whose tool killed its driver goes on with its gates as they were at the start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_reflex.contracts.validate import schema

pytestmark = [pytest.mark.long, pytest.mark.variants]

PYTHON = sys.executable
FAILING = "import sys\nsys.exit(1)\n"
RULES = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
AGENT = """\
import os, pathlib, signal, sys
def write(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
def replace(name, old, new):
    write(name, pathlib.Path(name).read_text().replace(old, new))
if not os.path.exists("../killed"):
    write("../killed", "")
    {act}
    os.kill(os.getppid(), signal.{signal})
    signal.pause()
print("done")
"""
SCRIPT = f"command = ['{PYTHON}', 'check.py']"

Sitting = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "check.py").write_text("import json, sys\nsys.exit(1)\n")
    (folder / "steps.sh").write_text("exit 1\n")
    (folder / "Makefile").write_text("check:\n\t@sh steps.sh\n")
    (folder / "words.yaml").write_text(RULES)
    (folder / "good.md").write_text("beta\n")
    (folder / "tests/test_it.py").write_text("def test_it():\n    assert False\n")
    return folder


@pytest.fixture
def killed(project: Path) -> Callable[..., Sitting]:
    """Return a function that runs until the tool ends the driver; it returns the next sitting."""

    def run(gate: str, act: str, *more: str, signal: str = "SIGKILL") -> Sitting:
        (project / "pytest-reflex.toml").write_text(
            f"[iterate]\nagent = 'tool'\n[iterate.gates.it]\n{gate}\n"
            f"[agents.tool]\ncommand = ['{PYTHON}', '-I', '-S', '../agent.py']\n"
        )
        (project.parent / "agent.py").write_text(AGENT.format(act=act, signal=signal))
        first = sitting("run", "--fresh")
        assert first.returncode == (-9 if signal == "SIGKILL" else 130)
        return sitting

    def sitting(*verb: str) -> subprocess.CompletedProcess[str]:
        program = str(Path(PYTHON).with_name("pytest-reflex"))
        command = [program, "iterate", verb[0], "build", "-n", "1", *verb[1:]]
        return subprocess.run(
            command, cwd=project, capture_output=True, text=True, check=False, timeout=120,
            env={**os.environ, "PATH": f"bin{os.pathsep}{os.environ['PATH']}"},
        )  # fmt: skip

    return run


# A gate, what the tool does before it kills the driver, and the path that is named.
ATTEMPTS = {
    "a script": (SCRIPT, "write('check.py', '')", "check.py"),
    "a script is removed": (SCRIPT, "os.unlink('check.py')", "check.py"),
    "a script that a script runs": (
        "command = ['make', 'check']", "write('steps.sh', 'exit 0')", "steps.sh",
    ),
    "a makefile that comes first": (
        "command = ['make', 'check']", "write('GNUmakefile', 'check:')", "GNUmakefile",
    ),
    "a conftest": (
        f"command = ['{PYTHON}', '-m', 'pytest', 'tests']",
        "write('tests/conftest.py', 'import os; os._exit(0)')", "tests/conftest.py",
    ),
    "a program that comes first on the PATH": (
        "command = ['grep', '-q', 'alpha', 'good.md']", "write('bin/grep', '#!/bin/sh')",
        "bin/grep",
    ),
    "a module of the standard library": (
        SCRIPT, "write('json.py', 'raise SystemExit')", "json.py",
    ),
    "criteria": (
        "criteria = 'words.yaml'\nartifacts = ['good.md']", "replace('words.yaml', 'alpha', 'b')",
        "words.yaml",
    ),
    "a protected file": (
        "command = ['true']\nprotect = ['tests/**']", "write('tests/test_it.py', '')",
        "tests/test_it.py",
    ),
    "a file that a diff gate protects": (
        "max_files = 9\nprotect = ['tests/**']", "write('tests/new.py', '')", "tests/new.py",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("gate", "act", "path"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_a_resume_finds_what_was_modified_before_the_driver_was_killed(
    killed: Callable[..., Sitting], gate: str, act: str, path: str
) -> None:
    done = killed(gate, act)("resume")
    assert f"Quality gate it cannot pass: modified during the run: {path};" in done.stderr
    assert f"    | it: modified during the run: {path}" in done.stderr
    assert done.returncode == 6


def test_it_is_found_again_by_each_sitting_until_it_is_back(
    project: Path, killed: Callable[..., Sitting]
) -> None:
    sitting = killed("command = ['sh', 'steps.sh']\nartifacts = ['x']", "write('good.md', 'x')")
    (project / "steps.sh").write_text("exit 0\n")
    (project.parent / "killed").unlink()
    assert sitting("resume").returncode == -9
    assert "modified during the run: steps.sh" in sitting("resume").stderr
    assert sitting("run", "--fresh").returncode == 0


def test_a_file_that_was_put_back_is_as_good_as_before(
    project: Path, killed: Callable[..., Sitting]
) -> None:
    (project / "steps.sh").write_text("exit 0\n")
    sitting = killed("command = ['sh', 'steps.sh']", "write('steps.sh', 'exit 3')")
    (project / "steps.sh").write_text("exit 0\n")
    (project / "steps.sh").chmod(0o644)
    done = sitting("resume")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "act",
    [
        "replace('pytest-reflex.toml', 'check.py', 'good.py')",
        "replace('pytest-reflex.toml', 'gates.it', 'gates.other')",
        "write('good.py', ''); write('pytest-reflex.toml', '[iterate]\\nagent = \"offline\"\\n')",
    ],
)
def test_a_gate_that_is_declared_otherwise_is_refused(
    killed: Callable[..., Sitting], act: str
) -> None:
    done = killed(SCRIPT, act)("resume", "--ai-cmd", "cat")
    assert "these gates were changed, added or removed: iterate.gates.it" in done.stderr
    assert "iterate run build --fresh" in done.stderr
    assert done.returncode == 4


def test_a_run_that_was_interrupted_in_order_takes_files_as_they_are(
    project: Path, killed: Callable[..., Sitting]
) -> None:
    sitting = killed(SCRIPT, "pass", signal="SIGINT")
    (project / "check.py").write_text("")
    assert "gates_at_start" not in state(project)
    assert sitting("resume").returncode == 0


@pytest.mark.parametrize(
    "act", ["write('good.md', 'more')", "write('tests/test_it.py', 'def test_it(): pass')"]
)
def test_work_of_a_killed_run_is_not_called_tampering(
    project: Path, killed: Callable[..., Sitting], act: str
) -> None:
    (project / "tests/test_it.py").write_text("def test_it():\n    pass\n")
    sitting = killed(f"command = ['{PYTHON}', '-m', 'pytest', '-q', 'tests']", act)
    done = sitting("resume")
    assert done.returncode == 0, done.stderr


def test_the_state_says_what_gates_relied_on_at_the_start(
    project: Path, killed: Callable[..., Sitting]
) -> None:
    killed(SCRIPT, "pass")
    found = state(project)
    jsonschema.validate(found, schema("iteration-state"))
    assert str(project / "check.py") in found["gates_at_start"]["it"]["found"]


def test_what_gates_relied_on_is_no_state_where_it_cannot_be_read(
    project: Path, killed: Callable[..., Sitting]
) -> None:
    sitting = killed(SCRIPT, "pass")
    path = project / ".rooda/state/build.json"
    path.write_text(json.dumps(state(project) | {"gates_at_start": {"it": {"found": []}}}))
    done = sitting("resume")
    assert "gates_at_start" in done.stderr
    assert done.returncode == 12


def state(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / ".rooda/state/build.json").read_text())
    return found
