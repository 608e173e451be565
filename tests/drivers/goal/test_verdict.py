"""The verdict follows from the proofs, and its box is equally wide whatever is in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.goal.model import Criterion, GoalState, Reversibility, Verification
from pytest_reflex.drivers.goal.transitions import WIDEST, verdict_box, verdict_of
from pytest_reflex.model.plain import columns

PROOFS = {
    "run": Verification.EXECUTION_OUTPUT,
    "seen": Verification.OBSERVATION,
    "measured": Verification.MEASUREMENT,
    "review": Verification.CODE_REVIEW,
    "claim": Verification.CLAIM,
    "assumed": Verification.ASSUMPTION,
    "bare": None,
}


def goal(proofs: str, steps: int = 3) -> GoalState:
    criteria = tuple(
        Criterion(text=f"{index}", met=word != "unmet", verification=PROOFS.get(word))
        for index, word in enumerate(proofs.split())
    )
    return GoalState(spec="x", criteria=criteria, steps=("step",) * steps)


@pytest.mark.parametrize(
    ("verdict", "kind", "proofs"),
    [
        ("SHIP", "2A", "run seen measured"),
        ("SHIP", "2B", "run"),
        ("MONITOR", "1", "run"),
        ("MONITOR", "2A", "run run run review"),
        ("MONITOR", "2B", "run run run claim"),
        ("MONITOR", "2B", "run run run bare"),
        ("MONITOR", "2A", "run run run run run run run claim claim claim"),
        ("RESEARCH", "2A", "run run run run run run claim claim claim claim"),
        ("RESEARCH", "2A", "run run review"),
        ("RESEARCH", "2A", "claim claim claim"),
        ("RESEARCH", "2A", "run run run run assumed"),
        ("RESEARCH", "2A", "run run run run unmet"),
        ("RESEARCH", "2A", ""),
    ],
)
def test_proofs_decide(verdict: str, kind: str, proofs: str) -> None:
    assert verdict_of(goal(proofs), Reversibility(kind)) == verdict


def test_a_box_has_its_lines() -> None:
    box = verdict_box(
        goal("run run measured claim"),
        Reversibility.FAST,
        alternative="roll back",
        risk="one claim",
    )
    assert box == [
        "╭─ 🟡 MONITOR ───────────────────────────────────╮",
        "│ Verified: execution output, measurement, claim │",
        "│ Checklist: 3/4 criteria verified               │",
        "│ Subjective: ~25% · Type 2A · 3pt               │",
        "├────────────────────────────────────────────────┤",
        "│ ↳ Alt: roll back                               │",
        "│ ↳ Risk: one claim                              │",
        "╰────────────────────────────────────────────────╯",
    ]


def test_a_narrow_box_is_as_wide_as_the_one_of_the_seed() -> None:
    box = verdict_box(goal("run"), Reversibility.FAST, alternative="none", risk="low")
    assert box[0] == "╭─ 🟢 SHIP ──────────────────────────╮"


WORDS = st.text() | st.text(alphabet="字界🟢é\u0301\u200d👨‍👩‍👧 ab", max_size=400)


@pytest.mark.long
@given(WORDS, WORDS, st.lists(st.sampled_from([*PROOFS, "unmet"])))
def test_all_lines_of_a_box_are_equally_wide(
    alternative: str, risk: str, proofs: list[str]
) -> None:
    state = goal(" ".join(proofs), len(proofs))
    box = verdict_box(state, Reversibility.FAST, alternative=alternative, risk=risk)
    assert len({columns(line) for line in box}) == 1
    assert columns(box[0]) <= WIDEST + 4
    assert not any("\n" in line for line in box)


@pytest.mark.parametrize("letter", ["z", "表"])
def test_a_row_of_the_box_is_as_wide_as_it_may_be_and_no_wider(letter: str) -> None:
    long = letter * 300
    box = verdict_box(goal("run"), Reversibility.FAST, alternative=long, risk="low")
    assert {columns(row) for row in box} == {WIDEST + 4}
    assert "".join(box).count(letter) == 300
