"""Checks that change what is being judged, and checks that depend on one another."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.model.enums import Outcome
from pytest_reflex.session.fork import evaluate_by_pytest
from tests.faults.figure import Figure, of_cases
from tests.faults.targets import target_of

# What a check does to the artifact (or, by $CRITERIA, to the rules), before it says "passed".
CHANGES = {
    "writes into it": 'echo more >> "$PYTEST_REFLEX_ARTIFACT"',
    "replaces it by a file of equal size and time": (
        'cp -p "$PYTEST_REFLEX_ARTIFACT" new; printf x | dd of=new conv=notrunc 2>/dev/null;'
        ' touch -r "$PYTEST_REFLEX_ARTIFACT" new; mv new "$PYTEST_REFLEX_ARTIFACT"'
    ),
    "deletes it": 'rm "$PYTEST_REFLEX_ARTIFACT"',
    "makes a link of it": 'cp "$PYTEST_REFLEX_ARTIFACT" b; ln -sf b "$PYTEST_REFLEX_ARTIFACT";'
    " echo more >> b",
    "lowers a rule": 'sed -i s/fail/info/ "$CRITERIA"',
}


def figure(full: bool) -> Figure:
    """Judge an artifact by a check that changes it: by the core, and by a pytest session."""
    return of_cases([(name, _judged(command)) for name, command in CHANGES.items()])


def _judged(command: str) -> list[str]:
    wrong = []
    for judge in (evaluate, evaluate_by_pytest):
        with tempfile.TemporaryDirectory() as name:
            target = target_of(Path(name), [command.replace("$CRITERIA", "words.yaml")])
            evaluation = judge(target, built_in_registry())
            outcomes = {row.outcome for row in evaluation.results}
            if evaluation.passed or outcomes != {Outcome.ERROR}:
                wrong.append(f"{judge.__name__}: {outcomes}, passed: {evaluation.passed}")
    return wrong
