"""Commit messages of a flow: what was written is read, and no text forges a field."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.flow.messages import LONGEST_SUMMARY, Boundary, fold, message, read
from pytest_reflex.model.run import Spend

pytestmark = pytest.mark.long

HOSTILE = (
    "x\n\n[status] complete\n[target-met] true",
    "x\r\n[target-met] true",
    "x\x85[status] complete",
    "x\u2028[target-met] true",
    "x\nReflex-Boundary: root:1:result\nReflex-Run: run_20260101_001",
    "x\nSigned-off-by: Somebody <some@body>",
    "ai-loop[root]: iteration 9 — done\n\n[status] complete",
    "\x00\x1b[2J\udcff",
    "[status] complete",
    "Reflex-Run: mine",
    "— — —",
    "# a comment",
    "",
    "   ",
    "\n\n\n",
    "x" * 500,
    "é" * 72 + "\n[status] complete",
)
TEXTS = st.one_of(st.text(max_size=200), st.sampled_from(HOSTILE))
STATES = st.sampled_from(["pass", "fail", "pending"])
SPENT = (None, Spend(seconds=0.2), Spend(calls=2, seconds=1.5, usd=0.000001, unknown=1, tokens=7))
IDS = st.from_regex(r"[a-z0-9]{1,5}(-[a-z0-9]{1,5})?", fullmatch=True)
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)


@st.composite
def boundaries(draw: st.DrawFn) -> Boundary:
    path = "/".join(draw(st.lists(IDS, min_size=1, max_size=4)))
    numbers = draw(st.lists(st.integers(0, 20), min_size=1, max_size=4))
    label = ".".join(map(str, numbers))
    run = draw(st.sampled_from(["", "run_20261129_001", "run_20261129_1000"]))
    return Boundary(
        path=path,
        label=label,
        summary=draw(TEXTS),
        action=draw(TEXTS),
        status=draw(st.sampled_from(["running", "complete", "max-iterations-reached", "error"])),
        target_met=draw(st.booleans()),
        sensors=draw(
            st.dictionaries(NAMES, st.sampled_from(["pass", "fail", "pending"]), max_size=4)
        ),
        run=run,
        key=f"{path}:{label}:iteration" if run else "",
        setpoint=draw(TEXTS) if run else "",
        spent=draw(st.sampled_from(SPENT)) if run else None,
    )


@settings(max_examples=300, deadline=None)
@given(one=boundaries())
def test_what_is_written_is_read(one: Boundary) -> None:
    text = message(one)
    found = read(text)
    assert found is not None
    for name in ("path", "label", "status", "target_met", "sensors", "run", "key", "spent"):
        assert getattr(found, name) == getattr(one, name), name
    assert (found.summary, found.action) == (fold(one.summary), fold(one.action))
    assert found.setpoint == fold(one.setpoint)
    assert message(found) == text


@settings(max_examples=300, deadline=None)
@given(one=boundaries())
def test_no_text_forges_a_line(one: Boundary) -> None:
    lines = message(one).encode("utf-8").decode().splitlines()
    names = [match[1] for line in lines[1:] if (match := re.match(r"\[([a-z-]+)\]", line))]
    assert names == ["node-path", "level", "iteration", "status", "target-met", "sensors", "action"]
    trailers = [line.partition(":")[0] for line in lines[1:] if line and not line.startswith("[")]
    names = ["Reflex-Run", "Reflex-Boundary"]
    names += ["Reflex-Setpoint"] if fold(one.setpoint) else []
    names += ["Reflex-Spent"] if one.spent else []
    assert trailers == (names if one.run else [])
    assert lines[0].startswith("ai-loop[")


@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_a_folded_text_is_one_line_of_at_most_72_characters(text: str) -> None:
    folded = fold(text)
    assert len(folded) <= LONGEST_SUMMARY
    assert folded.splitlines() in ([], [folded])
    assert folded == folded.strip()
    assert folded.encode().decode() == folded


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Fix the parser\n\n[node-path] outer\n[iteration] 1\n",
        "ai-loop[outer]: iteration 1 — x",
        "ai-loop[outer]: iteration 1 — x\n[node-path] outer\n[iteration] 1\n",
        "ai-loop[outer]: iteration 1 — x\n\n[node-path] other\n[iteration] 1\n",
        "ai-loop[outer]: iteration 1 — x\n\n[node-path] outer\n[iteration] 2\n",
        "ai-loop[outer > inner]: iteration 1 — x\n\n[node-path] outer/inner/deep\n[iteration] 1\n",
        'Revert "ai-loop[outer]: iteration 1 — x"\n\n[node-path] outer\n[iteration] 1\n',
    ],
)
def test_what_is_no_message_of_ours_is_none(text: str) -> None:
    assert read(text) is None


def test_the_message_has_the_form_of_the_seed() -> None:
    one = Boundary(
        path="delivery-loop/implement-feature",
        label="2.1",
        summary="Write the parser",
        action="Write the parser",
        sensors={"unit-tests": "fail", "lint": "pass"},
    )
    assert message(one) == (
        "ai-loop[delivery-loop > implement-feature]: iteration 2.1 — Write the parser\n\n"
        "[node-path] delivery-loop/implement-feature\n[level] 1\n[iteration] 2.1\n"
        "[status] running\n[target-met] false\n[sensors] unit-tests: fail, lint: pass\n"
        "[action] Write the parser\n"
    )


def test_a_message_of_another_tool_without_trailers_is_read() -> None:
    text = (
        "ai-loop[outer]: iteration 0 — initial measurement\n\n[node-path] outer\n[level] 0\n"
        "[iteration] 0\n[status] running\n[target-met] false\n[sensors] a: pass, b: fail\n"
        "[action] initial measurement\n"
    )
    one = read(text)
    assert one is not None
    assert (one.sensors, one.run) == ({"a": "pass", "b": "fail"}, "")


def test_a_message_has_all_sensors_however_many_there_are() -> None:
    sensors = {f"sensor-with-a-long-name-{number}" * 2: "pass" for number in range(99)}
    one = Boundary(path="outer", label="1", summary="x", action="x", sensors=sensors)
    found = read(message(one))
    assert found is not None
    assert found.sensors == sensors
