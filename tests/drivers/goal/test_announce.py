"""The lines of a goal have the forms of the seed, whatever is put into them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.goal import show
from pytest_reflex.drivers.goal.model import Criterion, GoalState, Shape, Verification, Workflow
from pytest_reflex.drivers.goal.plan import Rubric, score_spec
from pytest_reflex.drivers.goal.scoring import Dimension


def rubric(total: int) -> Rubric:
    points = [min(2, max(0, total - 2 * index)) for index in range(5)]
    return score_spec("x", dict(zip(Dimension, points, strict=True)))


def test_the_start_is_announced() -> None:
    line = show.start_text(rubric(6), Shape.COLLEAGUE, Workflow.DEBUG, steps=4, budget=25)
    assert line == (
        "[LOOP] Starting | Shape: Colleague (6/10) | Workflow: B | Steps: 4 | Budget: $25"
    )
    line = show.start_text(rubric(9), Shape.TOOL, Workflow.BUILD, steps=5, budget=None)
    assert line == "[LOOP] Starting | Shape: Tool (9/10) | Workflow: A | Steps: 5 | Budget: unknown"


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(None, "unknown/$25"), (0, "$0/$25"), (1.5, "$1.50/$25"), (0.004, "$0.00/$25")],
)
def test_an_iteration_is_announced_with_its_cost(cost: float | None, shown: str) -> None:
    line = show.before_iteration(2, 10, cost=cost, budget=25, step="Fix\nit")
    assert line == f"[LOOP] Iteration 2/10 | Cost: {shown} | Step: Fix it"


def test_a_step_is_announced_with_what_follows() -> None:
    line = show.after_step("Find it", done=1, total=4, following="Fix it")
    assert line == "[LOOP] ✓ Find it complete | Progress: 1/4 | Next: Fix it"
    assert show.after_step("b", done=4, total=4, following="").endswith("| Next: none")


def test_gates_ask_in_the_words_of_the_seed() -> None:
    steps = ["Identify failing test", "Add instrumentation", "Fix root cause", "Verify fix"]
    assert show.gate_steps(steps).splitlines() == [
        "G1: Decomposed into 4 steps:",
        "1. Identify failing test",
        "2. Add instrumentation",
        "3. Fix root cause",
        "4. Verify fix",
        "Proceed? [Y/n]",
    ]
    assert show.gate_iteration("Step 2") == "G2: Step 2 complete. Continue? [Y/n]"
    assert show.gate_completion() == "G3: All criteria met. Confirm done? [Y/n]"
    assert show.DISCLOSURE == "Writing state to .loop/state.json. Delete after session? [Y/n]"


@pytest.mark.parametrize(
    ("answer", "every"),
    [
        ("proceed without confirmation", True),
        (" Proceed  without confirmation. ", True),
        ("y", False),
        ("do not proceed without confirmation", False),
        ("", False),
    ],
)
def test_one_answer_stands_for_all_gates(answer: str, every: bool) -> None:
    assert show.answers_all(answer) is every


@pytest.mark.long
@given(st.dictionaries(st.text(), st.booleans()), st.booleans(), st.text())
def test_a_status_block_has_the_criteria_of_the_state(
    met: dict[str, bool], signal: bool, following: str
) -> None:
    criteria = tuple(Criterion(text=text, met=value) for text, value in met.items())
    state = GoalState(spec="x", criteria=criteria, exit_signal=signal, stuck_count=3)
    lines = show.status_block(state, following).split("\n")
    assert [line.partition(":")[0] for line in lines] == [
        "---LOOP_STATUS---",
        "EXIT_SIGNAL",
        "CRITERIA",
        "STUCK_COUNT",
        "NEXT",
        "---END_STATUS---",
    ]
    assert json.loads(lines[2].partition(": ")[2]) == met
    assert json.loads(lines[1].partition(": ")[2]) is (signal and bool(met) and all(met.values()))


def test_completion_names_each_criterion() -> None:
    criteria = (Criterion(text="a", met=True), Criterion(text="b", met=True))
    state = GoalState(spec="", criteria=criteria, exit_signal=True)
    block = show.complete_block(state)
    assert block.splitlines() == [
        "<loop-complete>",
        "All success criteria satisfied:",
        "- a: ✓",
        "- b: ✓",
        "</loop-complete>",
    ]


@pytest.mark.parametrize(
    ("criteria", "exit_signal"),
    [
        ((), True),
        ((Criterion(text="a"),), True),
        ((Criterion(text="a", met=True, verification=Verification.ASSUMPTION),), True),
        ((Criterion(text="a", met=True),), False),
    ],
    ids=["no criteria", "unmet", "assumed", "not signalled"],
)
def test_completion_is_said_only_when_all_is_met_and_signalled(
    criteria: tuple[Criterion, ...], exit_signal: bool
) -> None:
    with pytest.raises(ValueError, match="each of its criteria"):
        show.complete_block(GoalState(spec="", criteria=criteria, exit_signal=exit_signal))
