"""A goal is begun where its spec is clear, worked on, and over when each criterion is proven."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from pytest_reflex.drivers.goal.transitions import GoalVerdict
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Reply
from tests.drivers.flow.stage import repository
from tests.drivers.goal.stage import (
    ALPHA,
    BETA,
    DONE,
    GATE,
    SEEN,
    SPEC,
    STATE,
    Stage,
    claim,
    work,
)

ALL = (ALPHA, BETA, DONE, GATE)


def test_a_goal_that_is_proven_ships(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.deeds = [work]
    assert stage.start() == ExitCode.OK
    out, err = capsys.readouterr()
    assert out.startswith("<loop-complete>\nAll success criteria satisfied:\n- `grep -q alpha")
    assert out.count(": ✓\n") == 4
    assert out.index("</loop-complete>") < out.index("🟢 SHIP")
    assert "[LOOP] Starting | Shape: Tool (9/10) | Workflow: A | Steps: 2 | Budget: $25" in err
    assert "[LOOP] Iteration 1/10 | Cost: $0/$25 | Step: add alpha" in err
    assert stage.standing.verdict == GoalVerdict.SHIP
    assert stage.state()["status"] == "completed"


def test_the_state_is_written_at_the_start_with_the_keys_of_the_seed(stage: Stage) -> None:
    seen: list[dict[str, Any]] = []

    def look(stage: Stage) -> None:
        seen.append(stage.state())
        work(stage)

    stage.deeds = [look]
    stage.start()
    state = seen[0]
    assert state["spec"] == SPEC
    assert list(state)[:10] == [
        *("spec", "criteria", "criteriaStatus", "exit_signal", "steps", "completedSteps"),
        *("remainingSteps", "iteration", "status", "circuitBreaker"),
    ]
    assert state["criteria"] == list(ALL)
    assert (state["exit_signal"], state["iteration"], state["status"]) == (False, 0, "in_progress")
    assert state["steps"] == state["remainingSteps"] == ["add alpha", "add beta"]


@pytest.mark.parametrize(
    "proof",
    [
        True,
        {"met": True, "verification": "execution output", "evidence": "all of it passes"},
        {"met": True, "verification": "measurement", "evidence": "p95 is 3 ms"},
        {"met": True, "verification": "observation", "evidence": "I have looked at it"},
        {"met": True, "verification": "code review", "evidence": "reviewed"},
    ],
    ids=["bare", "execution", "measurement", "observation", "review"],
)
def test_who_claims_everything_and_proves_nothing_never_ships(
    stage: Stage, capsys: pytest.CaptureFixture[str], proof: Any
) -> None:
    def lie(stage: Stage) -> None:
        stage.say(claims=dict.fromkeys(ALL, proof), exits=True)

    stage.deeds = [lie]
    assert stage.start("--max-iterations", "2") == ExitCode.ITERATION_LIMIT
    out = capsys.readouterr().out
    assert "<loop-complete>" not in out
    assert "🔴 RESEARCH" in out
    assert stage.met() == {ALPHA: False, BETA: False, DONE: True, GATE: True}


def test_claims_alone_are_research(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    def lie(stage: Stage) -> None:
        stage.add("alpha beta")
        stage.say(claims=dict.fromkeys(ALL, True), exits=True)

    stage.deeds = [lie]
    assert stage.start() == ExitCode.GATE_FAILED
    out = capsys.readouterr().out
    assert "<loop-complete>" not in out
    assert "🔴 RESEARCH" in out
    assert stage.record.reason == "unproven"
    assert stage.state()["status"] == "paused"


def test_one_claim_among_four_is_monitored(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def claims_one(stage: Stage) -> None:
        work(stage)
        stage.say(claims={DONE: True}, exits=True)

    stage.deeds = [claims_one]
    assert stage.start() == ExitCode.OK
    out = capsys.readouterr().out
    assert "🟡 MONITOR" in out
    assert out.rstrip().rpartition("\n")[2].startswith("MONITOR: not proven by the program: when")


def test_both_the_criteria_and_the_signal_are_needed(stage: Stage) -> None:
    def silent(stage: Stage) -> None:
        work(stage)
        stage.say(exits=False)

    stage.deeds = [silent, claim(exits=True)]
    assert stage.start() == ExitCode.OK
    assert len(stage.prompts) == 2
    assert [one["exit_signal"] for one in stage.iterations()] == [False, True]


def test_an_assumption_keeps_the_signal_away(stage: Stage) -> None:
    def assume(stage: Stage) -> None:
        work(stage)
        assumed = {"met": True, "verification": "assumption", "evidence": "should be"}
        stage.say(claims={DONE: assumed}, exits=True)

    stage.deeds = [assume]
    assert stage.start("--max-iterations", "1") == ExitCode.ITERATION_LIMIT
    assert stage.iterations()[0]["exit_signal"] is False
    assert stage.state()["exit_signal"] is False


def test_only_what_the_agent_worked_on_is_verified_and_all_before_the_end(stage: Stage) -> None:
    spec = SPEC.replace("grep -q alpha notes.txt", "sh -c 'echo a >> ran; grep -q alpha notes.txt'")
    spec = spec.replace("grep -q beta notes.txt", "sh -c 'echo b >> ran; grep -q beta notes.txt'")
    first = "`sh -c 'echo a >> ran; grep -q alpha notes.txt'` exits 0"
    ran: list[str] = []

    def step(word: str, exits: bool) -> Any:
        def deed(stage: Stage) -> None:
            path = stage.folder / "ran"
            ran.append(path.read_text() if path.exists() else "")
            path.write_text("")
            stage.add(word)
            name = next(text for text in stage.met() if word in text)
            stage.write("search.md", "x")
            stage.say(claims={name: True, DONE: SEEN, GATE: SEEN}, exits=exits)

        return deed

    stage.deeds = [step("alpha", False), step("beta", True)]
    assert stage.start(spec=spec) == ExitCode.OK
    assert ran == ["", "a\n"]
    assert sorted((stage.folder / "ran").read_text().split()) == ["a", "b"]
    assert first in stage.met()


def test_a_change_of_another_key_is_undone_and_named(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def meddle(stage: Stage) -> None:
        state = stage.state()
        state["goal"]["plans"][ALPHA]["command"] = "true"
        state["circuitBreaker"]["stuckCount"] = 0
        stage.write(str(STATE), json.dumps({**state, "spec": "less", "status": "completed"}))
        stage.say(claims={ALPHA: True, "another": True})

    stage.deeds = [meddle]
    stage.start("--max-iterations", "1")
    told = "goal, spec, status, criteriaStatus of 'another'"
    assert f"[LOOP] Undone in the state file: {told}" in capsys.readouterr().err
    assert stage.state()["spec"] == SPEC
    assert stage.met()[ALPHA] is False
    assert "another" not in stage.met()


@pytest.mark.parametrize("text", [
    "", "{", "[]", '{"criteriaStatus": 5, "exit_signal": "yes"}',
    r'{"completedSteps": ["\ud800"]}', r'{"\udc00": 1}', r'{"criteriaStatus": {"\ud800": true}}',
])  # fmt: skip
def test_a_state_file_that_is_spoilt_claims_nothing(stage: Stage, text: str) -> None:
    stage.deeds = [lambda stage: stage.write(str(STATE), text) and None]
    assert stage.start("--max-iterations", "1") == ExitCode.ITERATION_LIMIT
    assert stage.iterations()[0]["undone"]
    assert stage.state()["spec"] == SPEC


def test_a_record_s_folder_that_is_removed_keeps_what_did_not_change(stage: Stage) -> None:
    stage.deeds = [lambda stage: shutil.rmtree(stage.folder / ".pytest-reflex"), work]
    assert stage.start() == ExitCode.OK
    assert len(stage.prompts) == 2


def test_a_state_file_that_is_removed_is_written_again(stage: Stage) -> None:
    stage.deeds = [lambda stage: (stage.folder / STATE).unlink()]
    stage.start("--max-iterations", "1")
    assert stage.iterations()[0]["undone"] == ["the file (it was removed)"]
    assert stage.state()["spec"] == SPEC


BLOCK = """\
---LOOP_STATUS---
EXIT_SIGNAL: true
CRITERIA: {criteria}
STUCK_COUNT: 0
NEXT: none
---END_STATUS---
"""


def test_the_status_block_counts_where_the_file_says_nothing(stage: Stage) -> None:
    def deed(stage: Stage) -> str:
        stage.add("alpha beta")
        return BLOCK.replace("{criteria}", json.dumps({ALPHA: True, BETA: True}))

    stage.deeds = [deed]
    stage.start("--max-iterations", "1")
    assert stage.met() == {ALPHA: True, BETA: True, DONE: False, GATE: False}


def test_the_file_wins_over_the_block_and_a_mismatch_is_named(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def deed(stage: Stage) -> str:
        stage.say(claims={DONE: True})
        return BLOCK.replace("{criteria}", json.dumps({ALPHA: True, DONE: True}))

    stage.deeds = [deed]
    stage.start("--max-iterations", "1")
    assert stage.iterations()[0]["mismatch"] == [ALPHA]
    assert stage.iterations()[0]["exit_signal"] is False
    assert "status block says something else" in capsys.readouterr().err


def test_the_block_that_is_printed_is_that_of_the_state(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def deed(stage: Stage) -> None:
        stage.add("alpha")
        stage.say(claims={ALPHA: True}, completedSteps=["add alpha"], remainingSteps=["add beta"])

    stage.deeds = [deed]
    stage.start("--max-iterations", "1")
    err = capsys.readouterr().err
    assert "[LOOP] ✓ add alpha complete | Progress: 1/2 | Next: add beta" in err
    block = err[err.index("---LOOP_STATUS---") : err.index("---END_STATUS---")].splitlines()
    assert block[1] == "EXIT_SIGNAL: false"
    assert json.loads(block[2].removeprefix("CRITERIA: ")) == stage.met()
    assert block[3:] == ["STUCK_COUNT: 0", "NEXT: add beta"]


def test_what_verifies_is_put_back(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.write("check.sh", "grep -q alpha notes.txt\n")
    spec = SPEC.replace("`grep -q alpha notes.txt`", "`sh check.sh`")

    def cheat(stage: Stage) -> None:
        stage.write("check.sh", "exit 0\n")
        stage.say(claims={"`sh check.sh` exits 0": True})

    stage.deeds = [cheat]
    stage.start("--max-iterations", "1", spec=spec)
    assert (stage.folder / "check.sh").read_text() == "grep -q alpha notes.txt\n"
    assert stage.met()["`sh check.sh` exits 0"] is False
    told = "Put back, because it verifies the goal: check.sh"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("spoil", ["the copies", "the folder", "all of it"])
def test_who_spoils_what_was_kept_does_not_verify_by_what_it_changed(
    stage: Stage, capsys: pytest.CaptureFixture[str], spoil: str
) -> None:
    stage.write("check.sh", "grep -q alpha notes.txt\n")
    spec = SPEC.replace("`grep -q alpha notes.txt`", "`sh check.sh`")

    def cheat(stage: Stage) -> None:
        runs = stage.folder / ".pytest-reflex/runs/goal"
        for path in runs.rglob("protected/*") if spoil == "the copies" else ():
            path.write_text("exit 0\n")
        for path in list(runs.rglob("protected")) if spoil == "the folder" else ():
            shutil.rmtree(path)
        if spoil == "all of it":
            shutil.rmtree(runs)
        stage.write("check.sh", "exit 0\n")
        stage.say(claims=dict.fromkeys(stage.met(), True), exits=True)

    stage.deeds = [cheat]
    assert stage.start("--max-iterations", "1", spec=spec) == ExitCode.NOT_PERSISTED
    assert "check.sh was changed, and there is no copy of it any more" in capsys.readouterr().err
    assert stage.goal("continue", "--yes") == ExitCode.NOT_PERSISTED
    out, err = capsys.readouterr()
    assert "what verifies goal-1 was kept in" in err
    assert "SHIP" not in out
    assert len(stage.prompts) == 1
    assert stage.goal("cancel") == ExitCode.OK


@pytest.mark.parametrize("what", ["a folder", "a pipe", "a link to nothing", "a link to itself"])
def test_a_shape_file_that_cannot_be_read_is_not_left_out(
    stage: Stage, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    path = stage.folder / ".loop/shape/SHAPE.md"
    path.parent.mkdir(parents=True)
    if what == "a folder":
        path.mkdir()
    elif what == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nothing" if what.endswith("nothing") else path.name)
    stage.deeds = [work]
    assert stage.start() == ExitCode.USAGE
    assert "SHAPE.md" in capsys.readouterr().err
    assert not stage.prompts


NO_CRITERIA = """\
Add a page /status that returns 200. Scope: `status.py`. No new deps, <100 LOC. Done when it is \
merged to main.
"""


@pytest.mark.parametrize(
    ("spec", "flags", "told"),
    [
        ("Improve performance", (), "missing: scope, constraints, success, done"),
        (SPEC.replace("Add the", "Have the").replace("add ", "put "), (), "--workflow A, B or C"),
        (SPEC, ("--reversibility", "1"), "no pre-check"),
        (
            NO_CRITERIA,
            (),
            "the spec has no criteria",
        ),
    ],
    ids=["clear", "workflow", "precheck", "criteria"],
)
def test_a_box_that_is_unclear_stops_before_the_start(
    stage: Stage, capsys: pytest.CaptureFixture[str], spec: str, flags: Any, told: str
) -> None:
    assert stage.start(*flags, spec=spec) == ExitCode.SPEC_REFUSED
    assert told in capsys.readouterr().err
    assert not (stage.folder / ".loop").exists()
    assert not stage.prompts


def test_a_precheck_with_an_argument_against_lets_type_1_begin(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.write("empty.md", "It is fine.\n")
    flags = ("--reversibility", "1", "--precheck")
    assert stage.start(*flags, "empty.md") == ExitCode.SPEC_REFUSED
    stage.write("pre.md", "## Counter-arguments\n\n- clients may depend on it\n")
    stage.deeds = [work]
    assert stage.start(*flags, "pre.md") == ExitCode.OK
    assert "clients may depend on it" in stage.standing.precheck
    assert "🟡 MONITOR" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--budget", "101"), "at most 100"),
        (("--budget", "0"), "above 0"),
        (("--max-iterations", "51"), "between 1 and 50"),
        (("--max-iterations", "0"), "between 1 and 50"),
        (("--agent", "offline"), "cannot take a prompt"),
        (("--precheck", "none.md"), "none.md"),
        (("--precheck", "."), ". is not a regular file"),
        (("--precheck", "pipe"), "pipe is not a regular file"),
        (("--precheck", "a\0b"), "is not a name of a file"),
        (("--precheck", "long.md"), "long.md is too long: 100,001 bytes, the limit is 100,000"),
        (("--criteria", "none.yaml"), "does not name what to check"),
    ],
)
def test_options_that_cannot_be_used_begin_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str], flags: Any, told: str
) -> None:
    os.mkfifo(stage.folder / "pipe")
    stage.write("long.md", "x" * 100_001)
    assert stage.start(*flags) == ExitCode.USAGE
    assert told in capsys.readouterr().err
    assert not (stage.folder / ".loop").exists()


CRITERIA = """\
name: words
version: 1
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: b.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
"""


def test_each_rule_of_a_criteria_file_is_a_criterion(stage: Stage) -> None:
    stage.write("words.yaml", CRITERIA)

    def deed(stage: Stage) -> None:
        stage.write("search.md", "x")
        stage.write("words.yaml", CRITERIA.replace("search: beta", "search: some"))
        stage.add("alpha")
        stage.say(claims=dict.fromkeys(stage.met(), SEEN), exits=True)

    stage.deeds = [deed]
    stage.start("--criteria", "words.yaml=notes.txt", "--max-iterations", "1")
    met = stage.met()
    assert met["a.x.alpha: says alpha"] is True
    assert met["b.x.beta: says beta"] is False
    assert stage.iterations()[0]["restored"] == ["words.yaml"]


SHAPE = """\
## criteria
- tests pass
- the page renders

## verification
- tests pass: execution output
- the page renders: assumption

## mustNot
- notes are lost
"""


def test_the_shape_file_adds_criteria_and_what_must_not_be(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.write(".loop/shape/SHAPE.md", SHAPE)
    stage.deeds = [work]
    stage.start("--max-iterations", "1")
    state = stage.state()
    assert {"tests pass", "the page renders"} <= set(state["criteria"])
    assert state["mustNot"] == [{"text": "notes are lost"}]
    assert "notes are lost (not checked: the agent has to report it)" in capsys.readouterr().err
    assert "- notes are lost" in stage.prompts[0]


def test_a_goal_is_not_begun_beside_one_that_is_not_finished(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [claim(DONE)]
    stage.start("--max-iterations", "1")
    assert stage.start() == ExitCode.USAGE
    assert "goal-1 is not finished" in capsys.readouterr().err


def test_a_goal_is_not_begun_beside_one_that_is_driven(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[int] = []
    stage.deeds = [lambda stage: found.append(stage.start()), work]
    stage.start("--max-iterations", "1")
    assert found == [ExitCode.LOCKED]
    assert "another process is running goal-1" in capsys.readouterr().err


def test_what_happened_is_written_for_programs_and_people(stage: Stage) -> None:
    stage.deeds = [claim(DONE), work]
    assert stage.start() == ExitCode.OK
    rows = stage.iterations()
    assert [one["iteration"] for one in rows] == [1, 2]
    assert rows[1]["usd"] == 2.0
    summary = (stage.folder / ".loop/summary.md").read_text("utf-8")
    assert "# goal-1: the target is met" in summary
    assert "| when both commands pass | met |" in summary
    assert "SHIP" in summary


def test_a_checkpoint_is_made_before_each_iteration(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [lambda stage: stage.add("more"), work]
    assert stage.start("--reversibility", "2B") == ExitCode.USAGE
    assert "this is not a git repository" in capsys.readouterr().err
    repository(stage.folder, {})
    assert stage.start("--reversibility", "2B") == ExitCode.OK

    def notes(number: int) -> str:
        ref = f"refs/pytest-reflex/goal/goal-1/{number}:notes.txt"
        argv = ["git", "show", ref]
        return subprocess.run(argv, cwd=stage.folder, capture_output=True, text=True).stdout

    assert [notes(1), notes(2), notes(3)] == ["some\n", "some\nmore\n", ""]
    tree = ["git", "ls-tree", "--name-only", "refs/pytest-reflex/goal/goal-1/1"]
    listed = subprocess.run(tree, cwd=stage.folder, capture_output=True, text=True).stdout.split()
    assert ".loop" not in listed
    branches = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname)", "refs/heads"],
        cwd=stage.folder, capture_output=True, text=True,
    )  # fmt: skip
    assert branches.stdout.split() == ["refs/heads/main"]


def test_a_tool_that_fails_leaves_the_goal_unmet(stage: Stage) -> None:
    stage.deeds = [lambda stage: Reply(text="", agent="script", error="exit 1: no key")]
    assert stage.start("--max-iterations", "1") == ExitCode.ITERATION_LIMIT
    assert stage.iterations()[0]["error"] == "exit 1: no key"
    assert "- no key" not in stage.prompts[0]


def test_an_assumption_of_the_shape_file_keeps_the_end_away(stage: Stage) -> None:
    stage.write(".loop/shape/SHAPE.md", SHAPE.replace("- tests pass: execution output\n", ""))
    stage.deeds = [work]
    assert stage.start("--max-iterations", "1") == ExitCode.ITERATION_LIMIT
    assert stage.state()["criteriaStatus"]["the page renders"]["verification"] == "assumption"
    assert stage.iterations()[0]["exit_signal"] is False


def test_the_prompt_asks_for_one_unit_of_work(stage: Stage) -> None:
    def deed(stage: Stage) -> None:
        stage.add("alpha")
        stage.say(claims={ALPHA: True, BETA: True}, completedSteps=["add alpha"])

    stage.deeds = [deed]
    stage.start("--max-iterations", "2")
    first, second = stage.prompts
    assert SPEC.strip() in first
    assert "Now: add alpha\n" in first
    assert "Do one logical unit of work: what `Now` says." in first
    assert "Now: add beta\n" in second
    assert f"- [x] {ALPHA}" in second
    assert f"- [ ] {BETA} (verified by the program: `grep -q beta notes.txt`)" in second
    assert "# What failed in the last iteration\n\n`grep -q beta notes.txt` exits 0: exit" in second
