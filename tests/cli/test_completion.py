"""The shell completes aliases with those that make sense, through click's protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reflex.drivers.iterate.model import Status
from pytest_reflex.drivers.iterate.state import state_file
from tests.drivers.iterate.tape import state as iteration_state
from tests.drivers.reflex.stage import Script, Stage, history_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One loop that was interrupted, one that stopped, one that completed."""
    stage = Stage(tmp_path_factory.mktemp("project"))
    with stage.begin(Script(produce="x\n"), alias="left-alone") as loop:
        next(history_of(loop))
    stage.play(
        Script(produce="x\n", refine="x\n"), {"loop.max_iterations": 1}, alias="limit-reached"
    )
    stage.play(Script(produce="alpha beta gamma\n"), alias="all-done")
    return stage.project


def completed(project: Path, *words: str, shell: str = "bash") -> subprocess.CompletedProcess[str]:
    """Ask as a shell does: `words` after the program's name, the last of them begun."""
    environment = {
        **os.environ,
        "_PYTEST_REFLEX_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(("pytest-reflex", *words)),
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words)),
    }
    return subprocess.run(
        [sys.executable, "-c", "from pytest_reflex.cli.main import main; raise SystemExit(main())"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


MEANT = {
    ("resume",): ["left-alone"],
    ("extend",): ["limit-reached"],
    ("stop", "--alias"): ["left-alone"],
    ("feedback",): ["left-alone", "limit-reached"],
    ("clean",): ["all-done", "left-alone", "limit-reached"],
    ("show",): ["all-done", "left-alone", "limit-reached"],
}


@pytest.mark.parametrize("words", MEANT, ids=" ".join)
def test_a_verb_is_completed_with_the_loops_it_can_take(
    words: tuple[str, ...], project: Path
) -> None:
    answer = completed(project, "loop", *words, "")
    found = [line.removeprefix("plain,") for line in answer.stdout.splitlines()]
    assert (answer.returncode, found, answer.stderr) == (0, MEANT[words], "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_what_was_begun(shell: str, project: Path) -> None:
    answer = completed(project, "loop", "status", "lim", shell=shell)
    assert answer.returncode == 0
    assert "limit-reached" in answer.stdout
    assert "left-alone" not in answer.stdout


def test_a_verb_that_is_not_known_is_passed_over(project: Path) -> None:
    answer = completed(project, "loop", "nonsense", "")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "plain,resume" in answer.stdout


def test_a_configuration_that_is_wrong_is_no_matter_of_the_shell(tmp_path: Path) -> None:
    (tmp_path / "pytest-reflex.toml").write_text("[loop]\nroot = 3\n")
    answer = completed(tmp_path, "loop", "show", "")
    assert (answer.returncode, answer.stdout.strip(), answer.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("iterate", "run", "bu"), ["build"]),
        (("iterate", "info", "audit-"), ["audit-docs"]),
        (("iterate", "status", "rev"), ["review"]),
        (("iterate", "resume", ""), ["plan"]),
        (("iterate", "feedback", "p"), ["plan"]),
        (("iterate", "history", "b"), ["build"]),
        (("iterate", "clean", ""), ["build", "plan"]),
    ],
    ids=" ".join,
)
def test_a_verb_is_completed_with_the_procedures_it_can_take(
    words: tuple[str, ...], names: list[str], tmp_path: Path
) -> None:
    root = tmp_path / ".rooda"
    for name, status in (("plan", Status.INTERRUPTED), ("build", Status.COMPLETED)):
        with state_file(root, name, pytest.fail) as file:
            file.save(replace(iteration_state(1, status=status), procedure_name=name))
    answer = completed(tmp_path, *words)
    found = [line.removeprefix("plain,") for line in answer.stdout.splitlines()]
    assert (answer.returncode, found, answer.stderr) == (0, names, "")


def test_stop_is_completed_with_what_is_driven(tmp_path: Path) -> None:
    root = tmp_path / ".rooda"
    with state_file(root, "build", pytest.fail) as file:
        file.save(iteration_state(1, status=Status.INTERRUPTED))
    with state_file(root, "plan", pytest.fail) as file:
        file.save(replace(iteration_state(1, status=Status.RUNNING), procedure_name="plan"))
        answer = completed(tmp_path, "iterate", "stop", "")
    assert (answer.returncode, answer.stdout.strip(), answer.stderr) == (0, "plain,plan", "")
