"""What the hook runs at each stop, what it does not run, and what it makes of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.hook.desk import RECORDED, Desk, goal

CHECKED = {"a": {"met": True, "command": "test -f done"}}


def test_claims_of_everything_are_held_until_each_is_proven(desk: Desk) -> None:
    desk.write(goal(CHECKED, exit_signal=True))
    desk.approve()
    assert "- a: exit status 1" in desk.stop()
    (desk.project / "done").touch()
    assert desk.stop() == ""
    assert "the goal is reached" in desk.told


def test_what_is_proven_needs_no_claim_but_the_signal(desk: Desk) -> None:
    desk.write(goal({"a": {"met": False, "command": "true"}}))
    desk.approve()
    assert "`exit_signal`" in desk.stop()
    desk.write(goal({"a": {"met": False, "command": "true"}}, exit_signal=True))
    assert desk.stop() == ""


def test_what_nobody_approved_is_shown_and_not_run(desk: Desk) -> None:
    state = goal({"a": {"met": False, "command": "touch ran"}, "b": False}, exit_signal=True)
    desk.write(state)
    reason = desk.stop()
    assert "- a: not run, because it is not approved: touch ran" in reason
    desk.write(goal({"a": {"met": True, "command": "touch ran"}}, exit_signal=True))
    assert desk.stop() == ""
    assert not (desk.project / "ran").exists()


@pytest.mark.parametrize("store", ["nothing", "\xff{", "[]", '{"approved": ["x"]}', "removed"])
def test_who_is_let_go_on_claims_is_told_what_was_not_run(desk: Desk, store: str) -> None:
    from pytest_reflex.storage.user_state import UserFile

    desk.write(goal({"a": {"met": True, "command": "touch ran"}}, exit_signal=True))
    if store != "nothing":
        desk.approve()
        path = UserFile("approved", desk.project).path
        assert path
        path.write_text(store, "latin-1") if store != "removed" else path.unlink()
    assert desk.stop() == ""
    told = "the goal is reached: not run, because it is not approved: touch ran"
    assert told in desk.told
    assert not (desk.project / "ran").exists()


@pytest.mark.parametrize(
    "changed",
    [
        {"command": "test -f done; touch ran"},
        {"command": "test -f done", "compare": "< 5"},
        {"command": " test -f done"},
        {"criteria": "evil.yaml", "artifact": "a.md"},
    ],
    ids=str,
)
def test_what_an_agent_changes_is_not_run_any_more(desk: Desk, changed: dict[str, Any]) -> None:
    desk.write(goal(CHECKED, exit_signal=True))
    desk.approve()
    (desk.project / "a.md").write_text("x")
    (desk.project / "evil.yaml").write_text(
        "name: evil\nversion: 1\nrules:\n  - {id: a.x.y, description: d, severity: fail, "
        "check: {type: executable, command: touch ran}}\n"
    )
    desk.write(goal({"a": {"met": False, **changed}}))
    desk.stop()
    assert not (desk.project / "ran").exists()


def test_what_must_not_be_is_looked_at_each_time_and_lets_go(desk: Desk) -> None:
    must_not = [
        {"text": "no new dependency", "command": "test -f new"},
        {"text": "never run", "command": "touch ran"},
        "prose",
    ]
    state = goal({"a": {"met": False, "command": "touch looked; false"}}, mustNot=must_not)
    desk.write({**state, "mustNot": must_not[:1]})
    desk.approve()
    desk.write(state)
    assert desk.stop()
    (desk.project / "looked").unlink()
    (desk.project / "new").touch()
    assert desk.stop() == ""
    assert "must not be: no new dependency (exit status 0)" in desk.told
    assert not (desk.project / "looked").exists()
    (desk.project / "new").unlink()
    assert desk.stop()
    assert not (desk.project / "ran").exists()


def test_a_measurement_and_criteria_are_verified_too(desk: Desk) -> None:
    (desk.project / "words.yaml").write_text(
        "name: words\nversion: 1\nrules:\n  - {id: a.x.alpha, description: says alpha, "
        "severity: fail, check: {type: content, search: alpha}}\n"
    )
    (desk.project / "a.md").write_text("beta\n")
    status = {
        "fast": {"met": False, "command": "cat time.txt", "compare": "p95 < 100 ms"},
        "worded": {"met": False, "criteria": "words.yaml", "artifact": "a.md"},
        "by rule": {"met": False, "check": "words.yaml", "artifact": "a.md", "rule": "a.x.alpha"},
        "seen": {"met": True, "verification": "observation"},
    }
    (desk.project / "time.txt").write_text("p95: 120 ms\n")
    desk.write(goal(status, exit_signal=True))
    desk.approve()
    reason = desk.stop()
    assert "- fast: 120 ms, wanted p95 < 100 ms" in reason
    assert "- worded: " in reason
    assert "- by rule: " in reason
    assert "seen" not in reason
    (desk.project / "time.txt").write_text("p95: 0.09 s\n")
    (desk.project / "a.md").write_text("alpha\n")
    assert desk.stop() == ""


def test_checks_end_at_their_time_and_hold_once(desk: Desk) -> None:
    desk.monkeypatch.setattr("pytest_reflex.drivers.goal.hook.SHARE", 0.3 / 60)
    command = "echo x >> begun; sleep 60"
    desk.write(goal({"a": {"met": True, "command": command}}, exit_signal=True))
    desk.approve()
    started = time.monotonic()
    assert "checks did not finish" in desk.stop()
    assert desk.state()["hook"]["blocks"] == 1
    assert desk.stop() == ""
    assert "checks did not finish, twice in a row" in desk.told
    assert time.monotonic() - started < 30
    assert (desk.project / "begun").read_text() == "x\nx\n"
    assert "checks did not finish" in desk.stop()
    assert desk.state()["hook"]["blocks"] == 2


WORDS = """\
name: words
version: 1
rules:
  - id: a.x.alpha
    description: says alpha
    severity: fail
    hint: add the word alpha
    check: {type: content, search: alpha}
  - {id: b.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
"""
RUNS = """\
  - id: a.x.runs
    description: it runs
    severity: fail
    check: {type: executable, command: touch ran}
"""
ON_WORDS = ("--criteria", "words.yaml", "--artifact", "a.md")


@pytest.fixture
def words(desk: Desk) -> Desk:
    (desk.project / "words.yaml").write_text(WORDS)
    (desk.project / "a.md").write_text("nothing\n")
    return desk


def test_criteria_alone_hold_with_their_critique(words: Desk) -> None:
    reason = words.stop(*ON_WORDS)
    assert reason.startswith("a.md does not pass its criteria yet: score 0.000, needs 0.9.")
    assert "- a.x.alpha: " in reason
    assert "wanted: add the word alpha" in reason
    (words.project / "a.md").write_text("alpha beta\n")
    assert words.stop(*ON_WORDS) == ""
    assert not (words.project / ".loop").exists()


def test_criteria_alone_hold_where_there_is_no_artifact_yet(words: Desk) -> None:
    (words.project / "a.md").unlink()
    assert words.stop(*ON_WORDS).startswith("There is no a.md yet.")


def test_criteria_alone_hold_each_session_as_often_as_it_may_be(words: Desk) -> None:
    held = []
    for number in range(11):
        (words.project / "a.md").write_text(f"nothing {number}\n")
        held.append(bool(words.stop(*ON_WORDS)))
    assert held == [True] * 8 + [False] * 3
    assert words.stop(*ON_WORDS, session_id="another")
    assert words.stop(*ON_WORDS, session_id=...) == ""
    same = [bool(words.stop(*ON_WORDS, session_id="a third")) for _ in range(7)]
    assert same == [True] * 5 + [False] * 2


def test_criteria_that_were_passed_are_held_to_anew(words: Desk) -> None:
    for number in range(3):
        (words.project / "a.md").write_text(f"nothing {number}\n")
        assert f"held {number + 1} of" in words.stop(*ON_WORDS)
    (words.project / "a.md").write_text("alpha beta\n")
    assert words.stop(*ON_WORDS) == ""
    (words.project / "a.md").write_text("nothing\n")
    assert "held 1 of" in words.stop(*ON_WORDS)


@pytest.mark.parametrize(
    "spoil", ["no criteria", "criteria that are none", "nowhere to count", "a folder of criteria"]
)
def test_criteria_that_cannot_be_used_hold_nobody(words: Desk, spoil: str) -> None:
    path = words.project / "words.yaml"
    if spoil == "no criteria":
        path.unlink()
    elif spoil == "criteria that are none":
        path.write_text("rules: [")
    elif spoil == "nowhere to count":
        words.monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    else:
        path.unlink()
        path.mkdir()
    assert words.stop(*ON_WORDS) == ""
    assert "stop allowed: " in words.told


@pytest.mark.parametrize("more", [{"check": {"type": "judged"}}, {}], ids=["judged", "prose"])
def test_rules_that_need_a_judge_hold_nobody(words: Desk, more: dict[str, Any]) -> None:
    rule = {"id": "b.x.kind", "description": "is kind", "severity": "fail", **more}
    (words.project / "words.yaml").write_text(f"{WORDS}  - {json.dumps(rule)}\n")
    assert "kind" not in words.stop(*ON_WORDS)
    assert "LLM-graded rules do not block: 1" in words.told
    (words.project / "a.md").write_text("alpha beta\n")
    assert words.stop(*ON_WORDS) == ""


def test_a_command_of_criteria_is_run_once_they_are_installed(words: Desk) -> None:
    (words.project / "words.yaml").write_text(WORDS + RUNS)
    reason = words.stop(*ON_WORDS)
    assert "a.x.alpha" in reason
    assert "it is not approved: criteria words.yaml for a.md; touch ran" in words.told
    assert not (words.project / "ran").exists()
    words.approve(*ON_WORDS)
    words.stop(*ON_WORDS)
    assert (words.project / "ran").exists()
    (words.project / "ran").unlink()
    (words.project / "words.yaml").write_text(WORDS + RUNS.replace("ran", "ran more"))
    words.stop(*ON_WORDS)
    assert not (words.project / "ran").exists()
    (words.project / "words.yaml").write_text("name: x\nversion: 1\nrules:\n" + RUNS)
    assert words.stop(*ON_WORDS) == ""


@pytest.mark.long
def test_b094_standard_output_is_one_document_whatever_else_is_printed(desk: Desk) -> None:
    """As a process: what a check, a warning or a start-up file prints is not in the answer."""
    (desk.project / "sitecustomize.py").write_text("import warnings; warnings.warn('old')\n")
    desk.write(goal({"a": {"met": False, "command": "echo loud; exit 1"}}))
    desk.approve()
    done = subprocess.run(
        [str(Path(sys.executable).parent / "pytest-reflex"), "hook", "stop"],
        input=json.dumps({**RECORDED, "cwd": str(desk.project)}),
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONWARNINGS": "default",
            "PYTHONPATH": str(desk.project),
            "XDG_STATE_HOME": str(desk.project.parent / "state"),
        },
        cwd=desk.project.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["decision"] == "block"
    assert "exit status 1: loud" in json.loads(done.stdout)["reason"]
