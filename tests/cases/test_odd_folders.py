"""Cases from the field: a project whose path holds all that a shell would act on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

FOLDER = "My Proj $(touch pwned) 'q' \"d\" é"
ARTIFACT = "my draft $(touch pwned) 'q'.md"
CRITERIA = """\
name: words
rules:
  - id: a.x.command
    description: a command reads it
    severity: fail
    check: {type: executable, command: 'grep -q alpha "$PYTEST_REFLEX_ARTIFACT"'}
    fix: {append: {text: alpha}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "the criteria.yaml").write_text(CRITERIA)
    (folder / ARTIFACT).write_text("# Words\nalpha\n")
    return folder


def run(project: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, "-m", *argv],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


COMMANDS = {
    "evaluate": ("pytest_reflex", "evaluate", ARTIFACT, "--criteria", "the criteria.yaml"),
    "pytest": (
        *("pytest", "-p", "pytest_reflex.plugin", "--reflex-criteria", "the criteria.yaml"),
        *("--reflex-artifact", ARTIFACT, "--reflex-json", "the report.json"),
    ),
    "loop": (
        *("pytest_reflex", "loop", "new", "say it", "--criteria", "the criteria.yaml", "--yes"),
        *("--input", ARTIFACT, "--output", "the 'result'.md"),
    ),
}


@pytest.mark.parametrize("argv", COMMANDS.values(), ids=COMMANDS.keys())
def test_b095_commands_work_in_a_folder_of_any_name(argv: tuple[str, ...], project: Path) -> None:
    done = run(project, *argv)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(project.parent.rglob("pwned"))
