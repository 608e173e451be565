"""Workflow, reversibility and points follow from the words of a spec."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.goal.model import Reversibility, Workflow
from pytest_reflex.drivers.goal.spec import gate_of, points_of, reversibility_of, workflow_of


@pytest.mark.parametrize(
    ("workflow", "spec"),
    [
        ("A", "Add a flag"),
        ("A", "Implement retries, then fix the docs"),
        ("A", "A new feature for exports"),
        ("A", "Creating the index"),
        ("B", "Fix auth and add a test"),
        ("B", "The build is broken"),
        ("B", "Debug the importer"),
        ("B", "There is an error in the log, refactor it"),
        ("B", "Tests are failing since we added the cache"),
        ("C", "Refactor the parser, fix what breaks"),
        ("C", "Clean up the errors module"),
        ("C", "Migrate to v2 and add tests"),
        ("C", "Reorganise the folder"),
        (None, "Make it better"),
        (None, "The address of a prefix"),
    ],
)
def test_the_earliest_verb_decides(workflow: str | None, spec: str) -> None:
    assert workflow_of(spec) == (workflow and Workflow(workflow))


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("2A", "Rename the helper"),
        ("2A", "Change a config value"),
        ("2A", "Fix a typo in the README"),
        ("2B", "Upgrade the dependencies"),
        ("2B", "Refactor the settings module"),
        ("2B", "Fix auth"),
        ("2B", ""),
        ("1", "Rename a column of the users table"),
        ("1", "Change the public API of the client"),
        ("1", "Schema changes for orders, and a config value"),
        ("1", "Drop table sessions"),
        ("1", "Deploy it to production"),
        ("2B", "Refactor the client without changing the public API"),
        ("2A", "Rename the helper, no breaking changes"),
    ],
)
def test_what_is_hardest_to_roll_back_decides(kind: str, spec: str) -> None:
    assert reversibility_of(spec) is Reversibility(kind)


def test_each_workflow_has_a_gate_that_only_evidence_meets() -> None:
    gates = [gate_of(one) for one in Workflow]
    assert len({one.text for one in gates}) == 3
    assert not any(one.plan.runs or one.met for one in gates)


def test_points_go_by_the_number_of_steps() -> None:
    counted = [points_of(steps) for steps in (0, 1, 2, 3, 4, 5, 6, 8, 9, 100)]
    assert counted == [1, 1, 3, 3, 5, 5, 8, 8, 13, 13]


@given(st.text())
def test_any_text_is_classified(spec: str) -> None:
    assert reversibility_of(spec) in Reversibility
    assert workflow_of(spec) in (None, *Workflow)
