"""The last line on a terminal is the verdict, however long the artifact is; a pipe has none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

pytestmark = pytest.mark.long

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
NEW = ["loop", "new", "x", "--alias", "run", "--criteria", "words.yaml", "--evaluator", "core"]
NEW += ["--input", "draft.md", "--yes"]
ARTIFACT = "artifact: .ai-factory/evolution/run/artifact.md"
CASES = {
    "passed": ("alpha", f"Gate: passed, score 1.000, threshold_reached; {ARTIFACT}"),
    "not passed": ("beta", f"Gate: NOT passed, score 0.000, iteration_limit; {ARTIFACT}"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "words.yaml").write_text(CRITERIA)
    return tmp_path


@pytest.mark.parametrize(("word", "last"), CASES.values(), ids=CASES.keys())
def test_a_terminal_ends_with_the_verdict(word: str, last: str, project: Path) -> None:
    (project / "draft.md").write_text("line\n" * 50 + word)
    argv = [*NEW, "--max-iterations", "1"]
    with Terminal(argv, project, columns=120, rows=20) as terminal:
        assert terminal.end() == (0 if word == "alpha" else 6)
        shown = " ".join(terminal.shown.split())
    assert shown.endswith(f" line {word} {last}")
    assert terminal.shown.count(word) == 1


def test_quiet_gives_a_terminal_the_artifact_only(project: Path) -> None:
    (project / "draft.md").write_text("alpha")
    with Terminal([*NEW, "--quiet"], project) as terminal:
        assert terminal.end() == 0
        assert terminal.everything.strip() == "alpha"
        assert terminal.raw.endswith(b"\n")


def test_a_pipe_ends_with_the_artifact(project: Path) -> None:
    (project / "draft.md").write_text("alpha")
    argv = [sys.executable, "-m", "pytest_reflex", *NEW]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("Gate: passed\n\nalpha")
    assert "Gate: " not in done.stderr
