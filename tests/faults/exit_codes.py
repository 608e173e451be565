"""Exit statuses of commands: what ran and said no is a failure, what could not run is an error."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.model.enums import Outcome
from tests.faults.figure import Figure, of_cases
from tests.faults.targets import target_of

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR
# name: (command, shell, outcome)
TABLE: dict[str, tuple[str | list[str], str, Outcome]] = {
    "0": ("exit 0", "", PASS),
    "1": ("exit 1", "", FAIL),
    "2": ("exit 2", "", FAIL),
    "125": ("exit 125", "", FAIL),
    "126": ("/etc/passwd", "", ERROR),
    "127": ("nosuchtool", "", ERROR),
    "not found, without a shell": (["nosuchtool"], "", ERROR),
    "137 by a shell": ("sh -c 'kill -9 $$'; exit $?", "", ERROR),
    "killed": ("kill -9 $$", "", ERROR),
    "crashed": (["sh", "-c", "kill -SEGV $$"], "", ERROR),
    "255": ("exit 255", "", FAIL),
    "a failure within a pipeline": ("false | true", "bash-strict", FAIL),
}


def figure(full: bool) -> Figure:
    """Judge one artifact by each command."""
    return of_cases([(name, _judged(*TABLE[name])) for name in TABLE])


def _judged(command: str | list[str], shell: str, outcome: Outcome) -> list[str]:
    params = {"shell": shell} if shell else {}
    with tempfile.TemporaryDirectory() as folder:
        evaluation = evaluate(target_of(Path(folder), [command], **params), built_in_registry())
    (row,) = evaluation.results
    if row.outcome is outcome and evaluation.passed == (outcome is PASS):
        return []
    return [f"{row.outcome.value}, not {outcome.value}"]
