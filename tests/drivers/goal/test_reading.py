"""What is taken from an answer of an agent: its last status block, whatever stands around it."""

from __future__ import annotations

import pytest

from pytest_reflex.drivers.goal import statefile
from pytest_reflex.drivers.goal.loop_files import work_of
from pytest_reflex.drivers.goal.model import Criterion, GoalState

STATE = GoalState(spec="do it", criteria=(Criterion(text="a"), Criterion(text="b")))
BEGIN, END = "---LOOP_STATUS---", "---END_STATUS---"


def block(*rows: str) -> str:
    return "\n".join([BEGIN, *rows, END, ""])


def claimed(answer: str) -> tuple[list[str], bool]:
    """Return what an answer claims to be met, and whether it signals the end."""
    work = work_of(STATE, statefile.dump(STATE), answer)
    return [text for text, claim in work.claims.items() if claim.met], work.exit_signal


@pytest.mark.parametrize(
    ("answer", "met", "exits"),
    [
        (block('CRITERIA: {"a": true}', "EXIT_SIGNAL: true"), ["a"], True),
        (block("  EXIT_SIGNAL :  TRUE  ", '\tCRITERIA:{"b": true}\r'), ["b"], True),
        (block('CRITERIA: {"a": true}') + block('CRITERIA: {"b": true}'), ["b"], False),
        (BEGIN + "\n" + block('CRITERIA: {"a": true}'), ["a"], False),
        (block('CRITERIA: {"a": true}') + BEGIN + "\nEXIT_SIGNAL: true\n", ["a"], False),
        (block('CRITERIA: {"another": true, "a": 1}'), [], False),
        (block(r'CRITERIA: {"\ud800": true}', "EXIT_SIGNAL: yes"), [], False),
        (END + "\nEXIT_SIGNAL: true\n" + BEGIN, [], False),
        ("EXIT_SIGNAL: true", [], False),
        ("", [], False),
    ],
)
def test_the_last_whole_block_counts(answer: str, met: list[str], exits: bool) -> None:
    assert claimed(answer) == (met, exits)


@pytest.mark.parametrize(
    "text",
    [
        (BEGIN + "\n") * 100_000,
        block("NEXT: " + " " * 1_000_000 + "x"),
        block("A" * 1_000_000),
        (END + BEGIN) * 100_000,
        block(*["MUST_NOT:"] * 100_000),
    ],
    ids=["beginnings", "blanks", "a key", "ends", "rows"],
)
def test_an_answer_of_any_size_is_read_in_a_time_that_grows_with_it(text: str) -> None:
    assert claimed(text) == ([], False)


@pytest.mark.parametrize(
    ("rows", "broken"),
    [
        (["MUST_NOT: it leaks"], ("it leaks",)),
        (["MUST_NOT: it leaks", "MUST_NOT: none", "MUST_NOT: nothing works"],
         ("it leaks", "nothing works")),
        *(([f"MUST_NOT: {word}"], ()) for word in ("none", "None.", "N/A", "-", "nothing", "")),
    ],
)  # fmt: skip
def test_who_reports_nothing_that_must_not_be_breaks_nothing(
    rows: list[str], broken: tuple[str, ...]
) -> None:
    assert work_of(STATE, statefile.dump(STATE), block(*rows)).broken == broken
