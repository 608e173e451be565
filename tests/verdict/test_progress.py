"""Stagnation, blockers that stay, oscillation, the best so far."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from pytest_reflex.model.enums import Level
from pytest_reflex.model.run import EvaluationMark
from pytest_reflex.verdict.progress import (
    best,
    flips_between,
    mark_of,
    oscillates,
    stagnation_after,
    stagnation_of,
    stuck_on_blockers,
)
from tests.verdict.sets import evaluation, rule


def mark(
    score: str, *failing: str, level: str = "A", sha: str = "", blocked: bool = False
) -> EvaluationMark:
    return EvaluationMark(
        iteration=1,
        level=Level(level),
        score=Fraction(score),
        passed=False,
        blockers=failing if blocked else (),
        failing=failing,
        sha256=sha or score,
    )


def count(*marks: EvaluationMark) -> int:
    total = 0
    for n in range(len(marks)):
        total = stagnation_after(total, marks[: n + 1])
    return total


STAGNATION = {
    "the first evaluation is the baseline": ([mark("0")], 0),
    "a small rise counts": ([mark("0.80"), mark("0.81")], 1),
    "B022 exactly 0.02 from 0.80 does not": ([mark("0.80"), mark("0.82")], 0),
    "B022 exactly 0.02 from 0.90 does not": ([mark("0.90"), mark("0.92")], 0),
    "a falling score counts": ([mark("0.80"), mark("0.70")], 1),
    "twice": ([mark("0.80"), mark("0.80"), mark("0.81")], 2),
    "a rise resets": ([mark("0.80"), mark("0.80"), mark("0.9")], 0),
    "a blocker leaves it as it is": ([mark("0.8"), mark("0.8"), mark("0.8", "r", blocked=True)], 1),
    "a new phase is a new baseline": ([mark("0.8"), mark("0.8"), mark("0.8", level="B")], 0),
}


@pytest.mark.parametrize(("marks", "expected"), STAGNATION.values(), ids=STAGNATION.keys())
def test_stagnation_count(marks: list[EvaluationMark], expected: int) -> None:
    assert count(*marks) == expected
    assert stagnation_of(marks) == expected


def test_nothing_is_no_stagnation() -> None:
    assert stagnation_of([]) == 0


def test_three_equal_blocked_evaluations_are_stuck() -> None:
    marks = [mark("0.5", "a.x.one", blocked=True)] * 3
    assert stuck_on_blockers(marks, 3)
    assert not stuck_on_blockers(marks[:2], 3)
    assert not stuck_on_blockers(marks, 0)


STUCK = {
    "one is enough for one": ([mark("0.5", "one", blocked=True)], 1, True),
    "what was before does not matter": (
        [mark("0.1", "two", blocked=True), *[mark("0.5", "one", blocked=True)] * 2],
        2,
        True,
    ),
    "another score": (
        [mark("0.5", "one", blocked=True), mark("0.6", "one", blocked=True)],
        2,
        False,
    ),
    "another phase": (
        [mark("0.5", "one", blocked=True), mark("0.5", "one", level="B", blocked=True)],
        2,
        False,
    ),
    "no blocker": ([mark("0.5", "one")] * 3, 3, False),
    "nothing yet": ([], 3, False),
    "what blocks now counts": ([mark("0.5", "one"), mark("0.5", "one", blocked=True)], 2, True),
    "not what did": ([mark("0.5", "one", blocked=True), mark("0.5", "one")], 2, False),
}


@pytest.mark.parametrize(("marks", "limit", "expected"), STUCK.values(), ids=STUCK)
def test_evaluations_are_stuck(marks: list[EvaluationMark], limit: int, expected: bool) -> None:
    assert stuck_on_blockers(marks, limit) is expected


def test_another_failing_rule_is_not_stuck() -> None:
    marks = [mark("0.5", "one", blocked=True)] * 2 + [mark("0.5", "two", blocked=True)]
    assert not stuck_on_blockers(marks, 3)


def failing(*rules: str, level: str = "A") -> list[EvaluationMark]:
    """Return evaluations of artifacts that all differ, each with one failing rule."""
    return [mark("1", r, sha=f"{level}{n}", level=level) for n, r in enumerate(rules)]


def artifacts(*digests: str) -> list[EvaluationMark]:
    return [mark("1", sha=sha) for sha in digests]


OSCILLATION = {
    "an earlier artifact came back": (
        [mark("1", sha="x"), mark("2", sha="y"), mark("3", sha="x")],
        True,
    ),
    "the artifact only stayed": (
        [mark("1", sha="x"), mark("1", sha="x"), mark("1", sha="x")],
        False,
    ),
    "in another phase": (
        [mark("1", sha="x"), mark("2", sha="y"), mark("3", sha="x", level="B")],
        False,
    ),
    "failing sets A-B-A-B": (
        [
            mark("1", "a", sha="1"),
            mark("1", "b", sha="2"),
            mark("1", "a", sha="3"),
            mark("1", "b", sha="4"),
        ],
        True,
    ),
    "failing sets A-A-A-A": ([mark("1", "a", sha=str(n)) for n in range(4)], False),
    "failing sets A-B-A-B after others": (failing("c", "a", "b", "a", "b"), True),
    "failing sets A-B-A-B and then another": (failing("a", "b", "a", "b", "c"), False),
    "failing sets A-B-A": (failing("a", "b", "a"), False),
    "failing sets A-B-A-C": (failing("a", "b", "a", "c"), False),
    "failing sets C-B-A-B": (failing("c", "b", "a", "b"), False),
    "failing sets A-B-A-B over two phases": (
        [*failing("a", "b"), *failing("a", "b", level="B")],
        False,
    ),
    "one from the middle came back": (artifacts("v", "w", "x", "y", "x"), True),
    "the first of many came back": (artifacts("x", "v", "w", "y"), False),
    "it came back and stayed": (artifacts("x", "y", "x", "x"), False),
    "it stayed and then changed": (artifacts("x", "x", "y"), False),
    "it changed and then stayed": (artifacts("x", "y", "y"), False),
    "back after two": (artifacts("x", "y", "x"), True),
    "two are too few": (artifacts("x", "x"), False),
    "it had come back in the phase before": (
        [*artifacts("x", "y", "x"), mark("1", sha="z", level="B")],
        False,
    ),
    "it came back in the second phase": (
        [mark("1", sha="w"), *(mark("1", sha=sha, level="B") for sha in "xyx")],
        True,
    ),
    "it came back in the second phase from the first": (
        [*artifacts("x", "y"), *(mark("1", sha=sha, level="B") for sha in "vwx")],
        False,
    ),
    "nothing yet": ([], False),
}


@pytest.mark.parametrize(("marks", "expected"), OSCILLATION.values(), ids=OSCILLATION.keys())
def test_oscillation(marks: list[EvaluationMark], expected: bool) -> None:
    assert oscillates(marks) is expected


BEST = {
    "B over A": ([mark("0.9"), mark("0.1", level="B")], 1),
    "higher score": ([mark("0.9"), mark("0.1")], 0),
    "the first of three": ([mark("0.9"), mark("0.1"), mark("0.2")], 0),
    "the only one": ([mark("0.1")], 0),
    "fewer blockers": ([mark("0.5", "r", blocked=True), mark("0.5", "r")], 1),
    "the later of two that differ otherwise": ([mark("0.5", sha="x"), mark("0.5", sha="y")], 1),
    "the later of equals": ([mark("0.5"), mark("0.5")], 1),
    "passed over a higher score": ([replace(mark("0.5"), passed=True), mark("0.9")], 0),
    "passed over a later one": ([replace(mark("0.5"), passed=True), mark("0.5")], 0),
    "B over A that passed": ([replace(mark("1"), passed=True), mark("0.1", level="B")], 1),
    "a higher score over fewer blockers": ([mark("0.6", "r", blocked=True), mark("0.5")], 0),
}


@pytest.mark.parametrize(("marks", "index"), BEST.values(), ids=BEST.keys())
def test_best_so_far(marks: list[EvaluationMark], index: int) -> None:
    assert best(marks) is marks[index]


def test_nothing_is_best_of_nothing() -> None:
    assert best([]) is None


def test_a_mark_remembers_blockers_and_everything_that_failed() -> None:
    pairs = [(rule("a.x.one"), "error"), (rule("a.x.two", "warn"), "fail")]
    made = mark_of(evaluation(pairs), 3)
    assert (made.blockers, made.failing) == (("a.x.one",), ("a.x.one", "a.x.two"))


def test_flips_tell_fixed_broken_and_still_failing() -> None:
    flips = flips_between([mark("0.5", "a.x", "a.y"), mark("0.5", "a.y", "a.z")])
    assert flips
    assert (flips.fixed, flips.broken, flips.still) == (("a.x",), ("a.z",), ("a.y",))


def test_the_first_evaluation_of_a_phase_has_no_flips() -> None:
    assert flips_between([mark("0.5", "a.x")]) is None
    assert flips_between([mark("1", level="A"), mark("0.5", "b.x", level="B")]) is None
    assert flips_between([*failing("a", "b"), mark("0.5", "b.x", level="B")]) is None


def test_flips_are_those_of_the_last_two_of_many() -> None:
    flips = flips_between([mark("1"), *failing("x", "y", level="B")])
    assert flips
    assert (flips.fixed, flips.broken, flips.still) == (("x",), ("y",), ())
