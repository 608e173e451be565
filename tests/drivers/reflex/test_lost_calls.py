"""A call that was under way when a run was killed is in the spend once somebody goes on with it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems
from pytest_reflex.drivers.reflex.artifacts import stable_events
from pytest_reflex.drivers.reflex.lost_calls import PendingCall, find_lost_calls
from pytest_reflex.drivers.reflex.run_status import find_run
from pytest_reflex.drivers.reflex.statefile import CALLS
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.steps import Reply, StepRequest
from tests.drivers.reflex.histories import History
from tests.drivers.reflex.stage import PLAN, Script, Stage, critique_all, history_of
from tests.slim import slim_python

pytestmark = pytest.mark.variants

BAD, GOOD = "x\n", "alpha beta gamma\n"
PROSE = """\
name: prose
rules:
  - {id: a.x.alpha, description: d, severity: fail, check: Verify that alpha is said}
"""
CHECKS = json.dumps({"checks": [{"rule_id": "a.x.alpha", "type": "content", "search": "alpha"}]})


class Killed:
    """Answers like a script, and keeps what a kill in the call of one step would have left."""

    def __init__(self, stage: Stage, step: Step) -> None:
        self.stage, self.step = stage, step
        self.kept = stage.project.parent / "killed"

    def at(self, step: Step, text: str | Callable[[StepRequest], str]) -> Any:
        def answer(request: StepRequest) -> Any:
            if step is self.step and not self.kept.exists():
                shutil.copytree(self.stage.root, self.kept)
            said = text if isinstance(text, str) else text(request)
            return Reply(text=said, agent="script", usd=0.25, tokens=100)

        return answer

    def script(self) -> Script:
        texts: dict[Step, Any] = {
            Step.PLAN: PLAN, Step.PRODUCE: BAD, Step.PREPARE: CHECKS,
            Step.CRITIQUE: critique_all, Step.REFINE: BAD,
        }  # fmt: skip
        answers = {step: self.at(step, text) for step, text in texts.items()}
        script = Script()
        script.lines = {}
        for step, answer in answers.items():
            setattr(script, f"pytest_reflex_{step.value.lower()}", answer)
        return script

    def come_to_life(self) -> None:
        """Put back what the kill left: the folder is that of a run that nobody drives."""
        shutil.rmtree(self.stage.root)
        shutil.copytree(self.kept, self.stage.root)


@pytest.mark.parametrize(
    ("step", "paid"), [("PLAN", 0), ("PRODUCE", 1), ("PREPARE", 2), ("CRITIQUE", 3), ("REFINE", 4)]
)
def test_the_call_counts_at_an_unknown_cost(tmp_path: Path, step: str, paid: int) -> None:
    (tmp_path / "project").mkdir()
    stage = Stage(tmp_path / "project", PROSE)
    killed = Killed(stage, Step(step))
    flags = {"loop.max_iterations": 2}
    with stage.begin(killed.script(), flags, sequential=True) as loop:
        list(history_of(loop))
    killed.come_to_life()
    run = stage.run_json()
    assert [one["step"] for one in run[CALLS]] == [step]
    assert problems("run", run) == []
    shown = find_run(stage.root, "words").state.spend
    assert (shown.calls, shown.unknown, shown.usd) == (paid + 1, 1, paid * 0.25)
    with stage.resume(killed.script()) as again:
        told = f"{step} was under way when the run was killed; its call counts as paid"
        assert again.files.recovered == (told,)
        assert again.state.spend == shown
        assert CALLS not in stage.run_json()
        events = list(again.files.latest_events())
        list(history_of(again))
    assert (events[-1].kind, events[-1].was_interrupted) == (EventKind.PHASE_ERROR, True)
    assert stage.run_json()["spend"]["unknown_cost_calls"] == 1


def test_a_run_that_was_killed_goes_the_way_of_an_unbroken_one(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    stage = Stage(tmp_path / "project", PROSE)
    killed = Killed(stage, Step.CRITIQUE)
    unbroken = stable_events(
        stage.play(killed.script(), {"loop.max_iterations": 2}, sequential=True), stage.project
    )
    killed.come_to_life()
    with stage.resume(killed.script()) as again:
        list(history_of(again))
        assert stable_events(again.files.latest_events(), stage.project) == unbroken


def test_a_call_whose_step_is_durable_is_not_lost() -> None:
    events = History().planned().produced().events
    calls = [{"step": "PLAN", "after": 1}, {"step": "PREPARE", "after": 2}]
    run = {"run_id": events[0].run_id, CALLS: calls}
    assert find_lost_calls(run, events) == [PendingCall(Step.PREPARE, 2)]
    assert find_lost_calls({**run, "run_id": "another"}, events) == []


NO_CALLS: dict[str, object] = {
    "none": None,
    "no list": "PLAN",
    "no object": ["PLAN"],
    "an unknown step": [{"step": "SHIP", "after": 1}],
    "no number": [{"step": "REFINE", "after": "1"}],
}


@pytest.mark.parametrize("calls", NO_CALLS.values(), ids=NO_CALLS)
def test_what_is_no_call_counts_as_none(calls: object) -> None:
    events: list[Event] = History().planned().events
    assert find_lost_calls({"run_id": events[0].run_id, CALLS: calls}, events) == []


def test_no_call_is_under_way_where_a_run_was_left_in_good_order(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with stage.begin(Script(produce=BAD, refine=BAD)) as loop:
        for event in history_of(loop):
            if event.kind is EventKind.CRITIQUE_DONE:
                break
    assert CALLS not in stage.run_json()
    before = stage.run_json()["spend"]
    with stage.resume(Script(produce=GOOD, refine=GOOD)) as again:
        assert again.state.spend.to_json() == before


AGENT = """\
import os, sys, time
step = sys.stdin.read().split("executing phase ", 1)[1].split()[0]
if step == "PRODUCE":
    os.kill(os.getppid(), {signal})
    time.sleep(60)
print('{{"plan": ["say alpha", "say more", "look again"]}}')
"""


def ended_in_produce(folder: Path, number: int, *more: str) -> subprocess.CompletedProcess[str]:
    """Begin a loop in `folder` that gets a signal when the agent is asked for PRODUCE."""
    (folder / "agent.py").write_text(AGENT.format(signal=int(number)))
    rule = "{id: a.x.alpha, description: d, severity: fail, check: {type: content, search: alpha}}"
    (folder / "words.yaml").write_text(f"name: words\nrules:\n  - {rule}\n")
    command = json.dumps([slim_python(), "agent.py"])
    config = f'agent = "s"\n[agents.s]\ncommand = {command}\n[loop]\nevaluator = "core"\n'
    (folder / "pytest-reflex.toml").write_text(config)
    argv = ["new", "say", "--alias", "words", "--criteria", "words.yaml", "--yes", *more]
    return subprocess.run(
        [slim_python(), "-m", "pytest_reflex", "loop", *argv],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.long
def test_a_real_kill_in_a_call_is_told_by_status_and_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ended_in_produce(tmp_path, signal.SIGKILL, "--quiet").returncode == -signal.SIGKILL
    assert main(["loop", "status", "--json"]) == 0
    spend = json.loads(capsys.readouterr().out)["spend"]
    assert (spend["calls"], spend["unknown_cost_calls"]) == (2, 2)
    main(["loop", "resume", "--agent", "offline"])
    assert "PRODUCE was under way when the run was killed" in capsys.readouterr().err
    assert main(["loop", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spend"]["calls"] == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)], ids=["killed", "Ctrl-C"]
)
def test_a_call_that_was_cut_off_is_in_the_log_of_events(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: signal.Signals,
    status: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ended_in_produce(tmp_path, number, "--events", "events.jsonl")
    assert done.returncode == status
    main(["loop", "resume", "--agent", "offline", "--events", "events.jsonl"])
    assert "gave nothing usable" not in done.stderr + capsys.readouterr().err
    log = [json.loads(line) for line in Path("events.jsonl").read_text("utf-8").splitlines()]
    history = Path(".ai-factory/evolution/words/history.jsonl").read_text("utf-8").splitlines()
    told = [one["fields"]["seq"] for one in log if "seq" in one["fields"]]
    assert told == [json.loads(line)["seq"] for line in history]
    (cut,) = (one for one in log if one["fields"].get("payload", {}).get("interrupted"))
    assert (cut["kind"], cut["fields"]["event"]) == ("acted", "phase_error")
    assert {cut["fields"][key] for key in ("usd", "tokens")} == {None}
