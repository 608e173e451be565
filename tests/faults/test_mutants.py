"""The seeded faults of 9.9: each can be planted, and there are enough of them."""

from __future__ import annotations

import pytest

from tests.faults.mutants import Mutation, mutations
from tests.faults.warm import ROOT

MUTATIONS = mutations()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_has_its_place_in_the_code(mutation: Mutation) -> None:
    assert mutation.problem(ROOT / "pytest_reflex") == ""


def test_there_are_thirty_and_more_each_with_its_name() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 30


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"file": "gone.py"}, "there is no gone.py"),
        ({"old": "nothing like it"}, "its old text stands 0 times in errors.py"),
        ({"file": "__init__.py", "old": '"""'}, "its old text stands 2 times in __init__.py"),
        ({"tests": ("tests/gone.py::test_x",)}, "there is no tests/gone.py::test_x"),
    ],
)
def test_a_mutation_that_cannot_be_planted_says_why(change: dict[str, str], problem: str) -> None:
    fields = {"name": "n", "file": "errors.py", "old": "class ReflexError", "new": "", "tests": ()}
    mutation = Mutation(**{**fields, **change})  # type: ignore[arg-type]
    assert mutation.problem(ROOT / "pytest_reflex") == problem
