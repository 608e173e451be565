"""Small statements of the seed of the loop: events, steps, retries, critiques."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.contracts.steps import blockers_left_out, read_issues
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.steps import Reply
from tests.drivers.reflex.stage import PLAN, Script, Stage, issues

pytestmark = pytest.mark.variants

WARN = """\
name: words
rules:
  - {id: a.x.must, description: d, severity: fail, check: {type: content, search: must}}
  - {id: b.x.should, description: d, severity: warn, check: {type: content, search: should}}
"""
GOOD, BAD = "alpha beta gamma\n", "x\n"

# What is played, by criteria: (produce, refine, settings, reason, the step of its end)
ENDS: dict[str, tuple[str, list[str], list[str], Mapping[str, Any], str]] = {
    "it passed at once": ("threshold_reached", [GOOD], [GOOD], {}, ""),
    "it passed at last": ("threshold_reached", [BAD, GOOD], [GOOD], {}, ""),
    "the limit": ("iteration_limit", [BAD], [BAD], {"loop.max_iterations": 2}, ""),
    "no progress": (
        "stagnation", [BAD], [BAD], {"loop.blocker_stagnation": 2, "loop.oscillation": False}, "",
    ),
    "only warnings": ("no_major_issues", ["must\n"], ["must\n"], {}, WARN),
}  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "produce", "refine", "flags", "criteria"), ENDS.values(), ids=ENDS
)
def test_the_step_of_an_end_by_an_evaluation_is_evaluate(
    tmp_path: Path,
    reason: str,
    produce: list[str],
    refine: list[str],
    flags: Mapping[str, Any],
    criteria: str,
) -> None:
    stage = Stage(tmp_path, criteria) if criteria else Stage(tmp_path)
    events = stage.play(Script(produce=[*produce], refine=[*refine]), flags)
    run = stage.run_json()
    assert (run["stop"]["reason"], run["current_step"]) == (reason, "EVALUATE")
    assert (events[-1].kind, events[-1].step) == (EventKind.STOPPED, Step.EVALUATE)


def test_the_step_of_a_loop_that_is_extended_is_due_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    events = stage.play(Script(produce=BAD, refine=BAD, critique="no"), {"loop.max_iterations": 2})
    run = stage.run_json()
    assert (run["stop"]["reason"], run["current_step"]) == ("phase_error", "CRITIQUE")
    assert events[-1].step is Step.CRITIQUE


@pytest.mark.parametrize("produce", [GOOD, BAD, "alpha\n"])
def test_evaluation_done_has_score_and_passed_at_its_top(tmp_path: Path, produce: str) -> None:
    events = Stage(tmp_path).play(
        Script(produce=produce, refine=produce), {"loop.max_iterations": 2}
    )
    found = [event.payload for event in events if event.kind is EventKind.EVALUATION_DONE]
    assert len(found) > 1
    for payload in found:
        judged = payload["evaluation"]
        assert (payload["score"], payload["passed"]) == (judged["score"], judged["passed"])


# Answers of PLAN before one that is good; the first iteration that has them.
TRIES: dict[str, list[str]] = {
    "no JSON": ["I cannot plan"],
    "too short": [json.dumps({"plan": ["one"]})],
    "empty": [""],
}


@pytest.mark.parametrize("tries", TRIES.values(), ids=TRIES)
@pytest.mark.parametrize("iteration", [1, 2])
def test_a_retry_of_plan_has_the_same_events(
    tmp_path: Path, tries: list[str], iteration: int
) -> None:
    plans = [PLAN] * (iteration - 1) + [*tries, PLAN]
    script = Script(plan=plans, produce=BAD, refine=[BAD, GOOD])
    Stage(tmp_path).play(script, {"loop.max_iterations": 3})
    asked = [r for r in script.requests if r.step is Step.PLAN and r.iteration == iteration]
    first, second = asked
    assert second.refusal
    assert second.history == first.history
    assert first.history[-1]["event"] == ("run_started" if iteration == 1 else "iteration_advanced")


FAILED = ("a.f", "a.g", "a.w", "a.x", "a.y", "a.z")
BLOCKERS = ("a.f", "a.g")
CRITIQUES: dict[str, tuple[tuple[str, ...], str]] = {
    "all that block": (("a.w", "a.g", "a.f"), ""),
    "one of them, and room for the other": (("a.w", "a.f"), ""),
    "those that block alone": (("a.g",), ""),
    "none of them": (("a.w",), "not named: a.f, a.g"),
    "one of them, and no room for the other": (
        ("a.f", "a.w", "a.x", "a.y", "a.z"), "not named: a.g",
    ),
    "none of them, in five": (("a.w", "a.x", "a.y", "a.z", "a.w"), "not named: a.f, a.g"),
}  # fmt: skip


@pytest.mark.parametrize(("named", "refused"), CRITIQUES.values(), ids=CRITIQUES)
def test_a_critique_names_fail_rules_before_warn_rules(
    named: tuple[str, ...], refused: str
) -> None:
    found = read_issues(issues(*named), FAILED)
    ids = [issue["rule_id"] for issue in found]
    assert ids == sorted(named)
    assert ids == sorted(ids, key=lambda rule_id: rule_id not in BLOCKERS)
    told = blockers_left_out(found, BLOCKERS)
    assert told.endswith(refused) if refused else told == ""


def test_a_critique_without_the_blockers_is_asked_for_once_more(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    script = Script(
        produce=[BAD, GOOD], refine=GOOD, critique=[issues("a.x.beta"), issues("a.x.alpha")]
    )
    events: list[Event] = stage.play(script)
    (refused,) = [e.payload["message"] for e in events if e.kind is EventKind.PHASE_ERROR]
    assert refused.endswith("not named: a.x.alpha")
    (critique,) = [e.payload["issues"] for e in events if e.kind is EventKind.CRITIQUE_DONE]
    assert [issue["rule_id"] for issue in critique] == ["a.x.alpha"]


def test_a_critique_that_leaves_them_out_again_is_taken(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    script = Script(produce=[BAD, GOOD], refine=GOOD, critique=issues("a.x.beta"))
    events: list[Event] = stage.play(script)
    (critique,) = [e.payload["issues"] for e in events if e.kind is EventKind.CRITIQUE_DONE]
    assert [issue["rule_id"] for issue in critique] == ["a.x.beta"]
    assert script.asked().count("CRITIQUE") == 2
    assert events[-1].payload["reason"] == "threshold_reached"


def test_a_critique_that_costs_nothing_is_taken_as_it_is(tmp_path: Path) -> None:
    free = Reply(text=issues("a.x.beta"), agent="script", details={"free": True})
    script = Script(produce=[BAD, GOOD], refine=GOOD, critique=free)
    Stage(tmp_path).play(script)
    assert script.asked().count("CRITIQUE") == 1
