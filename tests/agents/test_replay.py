"""A recording answers byte for byte, or says in which line the prompt drifted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.prompts import boundary
from pytest_reflex.agents.recorder import Recorder
from pytest_reflex.agents.recording import Header, RecordedCall
from pytest_reflex.agents.replay import ReplayAgent
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.storage.journal import Journal
from tests.agents.making import request, rule
from tests.agents.test_recorder import LIMITED, RUN, record, started

OTHER_RUN = "task-20270202-111111"
RULE = rule("a.x.y")
KEPT = replace(LIMITED, details={"exit": 3, "limited": True})


def recorded(folder: Path, *calls: tuple[StepRequest, Reply]) -> ReplayAgent:
    """Record calls in one folder; return the agent that replays them in another."""
    (folder / "then").mkdir()
    with Recorder(template="../r.jsonl", project=folder / "then") as recorder:
        recorder.pytest_reflex_record(started())
        for asked, reply in calls:
            recorder.pytest_reflex_answered(asked, reply)
    return ReplayAgent(folder / "r.jsonl", folder / "now")


def ask(step: Step = Step.PRODUCE, run_id: str = OTHER_RUN, **more: Any) -> StepRequest:
    return request(step, RULE, run_id=run_id, **more)


def said(text: str, **more: Any) -> Reply:
    return Reply(text=text, agent="tool", **more)


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    agent = recorded(tmp_path, (ask(run_id=RUN), LIMITED))
    assert agent.respond(ask()) == KEPT
    assert agent.unused_calls() == ()


def test_an_artifact_that_names_another_folder_is_another_artifact(tmp_path: Path) -> None:
    then = ask(Step.REFINE, RUN, artifact=f"in {tmp_path}/then/a.md\n")
    agent = recorded(tmp_path, (then, said("x")))
    error = agent.respond(ask(Step.REFINE, artifact=f"in {tmp_path}/now/a.md\n")).error
    assert "the prompt is not the recorded one: call 1 (REFINE" in error


def test_a_finding_may_name_the_folder_of_the_project(tmp_path: Path) -> None:
    then = ask(run_id=RUN, plan=(f"fix {tmp_path}/then/a.md, it took 0.25s",))
    agent = recorded(tmp_path, (then, said("x")))
    assert agent.respond(ask(plan=(f"fix {tmp_path}/now/a.md, it took 1.75s",))).text == "x"


def test_a_prompt_that_drifted_is_a_miss_that_says_where(tmp_path: Path) -> None:
    agent = recorded(tmp_path, (ask(run_id=RUN, plan=("say it",)), said("x")))
    reply = agent.respond(ask(plan=("sing it",)))
    assert reply.text == ""
    assert reply.error == (
        "the prompt is not the recorded one: call 1 (PRODUCE, iteration 1, phase B), line 27 of it:"
        " recorded '1. say it', now '1. sing it'"
    )


def test_the_second_try_of_a_miss_says_the_same(tmp_path: Path) -> None:
    agent = recorded(tmp_path, (ask(run_id=RUN, plan=("say it",)), said("x")))
    error = agent.respond(ask(plan=("sing it",))).error
    assert agent.respond(ask(plan=("sing it",), refusal=error)).error == error
    assert [call.number for call in agent.unused_calls()] == [1]


def test_a_call_that_was_never_made_is_a_miss(tmp_path: Path) -> None:
    agent = recorded(tmp_path, (ask(run_id=RUN), said("x")))
    error = agent.respond(ask(iteration=2)).error
    assert error == "the recording has no further call at PRODUCE, iteration 2, phase B"


def test_a_second_try_has_its_own_answer(tmp_path: Path) -> None:
    first, second = ask(run_id=RUN), ask(run_id=RUN, refusal="no JSON")
    agent = recorded(tmp_path, (first, said("bad")), (second, said("good")))
    assert agent.respond(ask()).text == "bad"
    assert agent.respond(ask(refusal="no JSON")).text == "good"


def test_of_a_call_that_an_interruption_repeated_the_last_answer_counts(tmp_path: Path) -> None:
    agent = recorded(tmp_path, (ask(run_id=RUN), said("lost")), (ask(run_id=RUN), said("used")))
    assert agent.respond(ask()).text == "used"
    assert agent.unused_calls() == ()


def test_a_resumed_replay_goes_on_at_its_place(tmp_path: Path) -> None:
    calls = [(ask(run_id=RUN, iteration=n), said(str(n))) for n in (1, 2, 3)]
    agent = recorded(tmp_path, *calls)
    assert agent.respond(ask(iteration=2)).text == "2"
    assert [call.number for call in agent.unused_calls()] == [3]


def test_a_secret_that_was_hidden_is_none_to_the_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-planted-0123456789")
    plan: dict[str, Any] = {"plan": ("use sk-planted-0123456789",)}
    with Recorder(template="r.jsonl", project=tmp_path) as recorder:
        recorder.hidden = {"sk-planted-0123456789": "$MY_API_KEY"}
        recorder.pytest_reflex_record(started())
        recorder.pytest_reflex_answered(ask(run_id=RUN, **plan), said("x"))
    assert ReplayAgent(tmp_path / "r.jsonl", tmp_path).respond(ask(**plan)).text == "x"


DAMAGED = {
    "nothing": (lambda lines: [], 1, "it is not a recording of a loop"),
    "another file": (lambda lines: [b'{"a": 1}\n'], 1, "it is not a recording of a loop"),
    "a later version": (lambda lines: [b'{"recording": 2}\n'], 1, "it has version 2"),
    "no run": (lambda lines: [b'{"recording": 1, "hidden": []}\n'], 1, "its run_id is missing"),
    "a changed answer": (
        lambda lines: [lines[0], lines[1].replace(b'"answer":"x"', b'"answer":"y"'), lines[2]],
        2,
        "its sum is wrong",
    ),
    "a lost line": (lambda lines: [lines[0], lines[2]], 2, "it does not follow the line before"),
    "no JSON": (lambda lines: [*lines, b"oops\n"], 4, "it is not JSON"),
    "a prompt without its hash": (
        lambda lines: [b'{"recording":1,"run_id":"r","project":"/p","hidden":[]}\n',
                       b'{"call":1,"prompt":"x","prompt_sha256":"y"}\n'],
        2,
        "its prompt is not the one that its prompt_sha256 is of",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "line", "reason"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_recording_is_named_by_line(
    damage: Any, line: int, reason: str, tmp_path: Path
) -> None:
    path = record(tmp_path, LIMITED, LIMITED)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(UsageError) as raised:
        ReplayAgent(path, tmp_path)
    assert str(raised.value).startswith(f"{path}:{line}: the recording cannot be used: {reason}")


TABLES: dict[str, tuple[dict[str, Any], str]] = {
    "no recording": ({}, "agent replay needs a recording"),
    "no text": ({"recording": 5}, "agent replay needs a recording"),
    "another key": ({"recording": "r", "model": "m"}, "model is not a key of a replay"),
    "no file": ({"recording": "r.jsonl"}, "there is no recording"),
}


@pytest.mark.parametrize(("table", "message"), TABLES.values(), ids=TABLES.keys())
def test_a_table_that_cannot_be_used_is_told(
    table: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        ReplayAgent.from_table({"kind": "replay", **table}, tmp_path)


def of_version(folder: Path, *calls: tuple[StepRequest, str, str], version: int = 1) -> ReplayAgent:
    """Return the agent that replays calls whose prompts another version has written."""
    with Journal.create(folder / "r.jsonl") as journal:
        journal.append(Header(run_id=RUN, project=str(folder)).to_json())
        for number, (asked, prompt, answer) in enumerate(calls, 1):
            call = RecordedCall.of(
                asked, said(answer), number=number, attempt=number, prompt=prompt
            )
            wire = replace(call, version=version).to_json()
            if version == 1:
                del wire["prompts"]
            journal.append(wire)
    return ReplayAgent(folder / "r.jsonl", folder)


OLD = "Write a courses API, in other words"


@pytest.mark.parametrize("version", [1, 99])
@pytest.mark.parametrize("step", [Step.PLAN, Step.PRODUCE, Step.PREPARE])
def test_prompts_of_another_version_are_found_by_their_place(
    tmp_path: Path, step: Step, version: int
) -> None:
    first, second = (ask(step, iteration=number) for number in (1, 2))
    agent = of_version(tmp_path, (first, OLD, "one"), (second, OLD, "two"), version=version)
    assert [agent.respond(one).text for one in (first, second)] == ["one", "two"]
    assert agent.unused_calls() == ()


@pytest.mark.parametrize("step", [Step.CRITIQUE, Step.REFINE])
def test_what_another_version_was_asked_of_another_artifact_is_a_miss(
    tmp_path: Path, step: Step
) -> None:
    then, now = ask(step, artifact="# Then\n"), ask(step, artifact="# Now\n")
    prompt = f"BEGIN {boundary('# Then' + chr(10))}"
    agent = of_version(tmp_path, (then, prompt, "one"), (then, prompt, "two"))
    assert agent.respond(then).text == "two"  # an interruption came between
    again = ask(step, iteration=2, artifact="# Now\n")
    (tmp_path / "more").mkdir()
    agent = of_version(tmp_path / "more", (again, prompt, "one"))
    assert "is about another task or artifact" in agent.respond(replace(now, iteration=2)).error


def test_another_task_is_a_miss_in_another_version_too(tmp_path: Path) -> None:
    agent = of_version(tmp_path, (ask(), OLD, "one"))
    assert "another task" in agent.respond(ask(task="Write a poem")).error


def test_the_second_try_of_another_version_has_its_own_answer(tmp_path: Path) -> None:
    first, second = ask(), ask(refusal="no JSON")
    agent = of_version(tmp_path, (first, OLD, "bad"), (second, f"{OLD}, again", "good"))
    assert [agent.respond(one).text for one in (first, second)] == ["bad", "good"]


def test_what_another_version_took_and_today_refuses_is_answered_again(tmp_path: Path) -> None:
    agent = of_version(tmp_path, (ask(Step.PREPARE), OLD, "taken"))
    assert agent.respond(ask(Step.PREPARE)).text == "taken"
    assert agent.respond(ask(Step.PREPARE, refusal="no check for a.x.y")).text == "taken"
