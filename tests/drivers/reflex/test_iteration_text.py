"""What a loop tells people: the seed's block, the critique, the summary."""

from __future__ import annotations

from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.reports.iteration import (
    block,
    change_line,
    command_lines,
    critique_lines,
    distance,
    summary,
)
from pytest_reflex.reports.lines import plain
from tests.drivers.reflex.histories import History

STOPPED = {"reason": "iteration_limit", "passed": False, "detail": ""}


def blocked() -> RunState:
    return History().round("a.x.must", "a.x.should").state


def test_the_block_has_the_lines_of_the_seed() -> None:
    state = blocked()
    assert state.evaluation
    assert plain(block(state, state.evaluation, "evolution/courses/artifact.md")).splitlines() == [
        "── Iteration 1/4 | Phase A | Score: 0.000 | FAIL ──",
        "Plan: one (+2 more)",
        "Hash: 11111111",
        "Changed: nothing",
        "Failed: a.x.must",
        "Warnings: a.x.should",
        "Artifact: evolution/courses/artifact.md",
    ]


def test_an_error_is_told_apart_from_a_failure() -> None:
    state = History().round().switched().prepared().evaluated("b.x.must", outcome="error").state
    assert state.evaluation
    told = plain(block(state, state.evaluation, "a"))
    assert "Failed: b.x.must\n" in told
    assert "Not measured: b.x.must (error)" in told


def test_the_first_artifact_is_the_initial_generation() -> None:
    assert change_line({"initial": True, "added": ["# T"]}) == "initial generation"


def test_changes_are_listed_by_kind() -> None:
    changed = {"added": ["## A", "## B"], "modified": [], "removed": ["## C"]}
    assert change_line(changed) == "added ## A, ## B; removed ## C"


def test_the_critique_gives_one_line_per_issue() -> None:
    state = blocked()
    assert state.evaluation
    issue = {"rule_id": "a.x.must", "problem": "not there", "fix_instruction": "add\n \x1b[31m it"}
    told = plain(critique_lines(state.evaluation, [issue]))
    assert told == "  - a.x.must: not there; fix: add \\x1b[31m it"


def test_without_a_critique_rules_and_messages_are_listed() -> None:
    state = blocked()
    assert state.evaluation
    assert [line[0] for line in critique_lines(state.evaluation, None)] == [
        ("  - a.x.must:", "strong"),
        ("  - a.x.should:", "strong"),
    ]


def test_distance_to_success_has_gap_blockers_and_progress() -> None:
    state = History().round("a.x.must").state
    assert state.evaluation
    assert plain(distance(state.evaluation)).splitlines()[1:] == [
        "  threshold 0.8, score 0.333, gap 0.467",
        "  blocking rules: 1 (a.x.must)",
        "  rules passed: 1/2",
    ]


def test_the_summary_says_what_was_restored_and_that_it_did_not_pass() -> None:
    history = History().round("a.x.must").refined("2").advanced()
    first = history.events[4].payload["evaluation"]
    history.round("a.x.must", "a.x.should", sha="2")
    restored = {**STOPPED, "restored_from": {"iteration": 1, "phase": "A"}, "after": "1" * 64}
    ended = history.add(EventKind.STOPPED, {**restored, "evaluation": first})
    text = plain(summary(ended.state))
    assert "Stop reason: iteration_limit" in text
    assert "Restored: the best artifact, of iteration 1, phase A" in text
    assert "Final score: 0.333 (1 of 3 points, threshold 0.8)" in text
    assert text.endswith("Gate: NOT passed")


def test_an_artifact_that_was_not_evaluated_shows_no_score() -> None:
    history = (
        History().planned().produced().add(EventKind.STOPPED, {**STOPPED, "reason": "user_stop"})
    )
    assert "Final score: none" in plain(summary(history.state))


def test_unknown_cost_stays_unknown() -> None:
    history = History().planned()
    cost = {"calls": 2, "seconds": 1.5, "usd": None, "tokens": None}
    history.events[-1].payload["cost"] = cost  # type: ignore[index]
    assert "Spend: 2 calls, 1.5 s, unknown cost" in plain(summary(history.state))


def test_a_command_of_an_agent_is_shown_as_it_is() -> None:
    made = {"rule_id": "a.x.y", "command": "rm -rf \x1b[2J", "sha256": "12" * 32}
    told = plain(command_lines([{**made, "approved_by": "--allow-agent-commands"}]))
    assert told == '  - a.x.y, 12121212, runs by --allow-agent-commands: "rm -rf \\u001b[2J"'
    assert "is not run" in plain(command_lines([{**made, "approved_by": None}]))


def test_a_tampered_run_shows_no_score() -> None:
    events = (
        History()
        .round("a.x.must")
        .add(
            EventKind.FAILED,
            {"reason": "tampered", "passed": False, "detail": "x.yaml was changed"},
        )
    )
    text = plain(summary(events.state))
    assert "Stop reason: tampered (x.yaml was changed)" in text
    assert "Final score: none" in text
    assert "Next: review what was modified" in text
