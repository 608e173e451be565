"""The call of a tool that was under way when the loop was killed is in the spend after a resume."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import jsonschema
import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import schema
from pytest_reflex.drivers.iterate import initial_state
from pytest_reflex.drivers.iterate.model import Bounds, IterationGate, State
from pytest_reflex.drivers.iterate.state import is_driven
from pytest_reflex.drivers.iterate.status import status_of
from pytest_reflex.model.steps import Question, Reply
from tests.drivers.iterate.project import Project, told
from tests.drivers.iterate.stage import Script, Stage
from tests.faults.driven import wait_until

pytestmark = [pytest.mark.long, pytest.mark.variants]

PAID = Reply(text="did it", agent="tool", usd=0.25, tokens=100)
KILLS = "cat > /dev/null\necho x >> calls\n{act}\n"
KILL = "kill -9 $PPID; sleep 60"
LOST = "1 agent call was not counted when the run was killed; it counts as paid"
CONFIG = """\
[iterate]
agent = "script"
unchanged = 0
[agents.script]
command = ["sh", "agent.sh"]
answer = "json:text"
cost = "json:usd"
"""


class Killed:
    """A stage that keeps what a kill at some moment would have left."""

    def __init__(self, folder: Path) -> None:
        self.root, self.kept = folder / "rooda", folder / "kept"
        self.root.mkdir()

    def now(self, question: Question | None = None) -> Reply:
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.root, self.kept)
        return PAID

    def stage(self, *acts: object, **more: object) -> Stage:
        script = Script(acts)  # type: ignore[arg-type]
        return Stage(self.root, script, **more)  # type: ignore[arg-type]

    def come_to_life(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self.kept, self.root)

    def taken_up(self, bounds: Bounds) -> State:
        """Return the state with which a resume begins."""
        found = self.stage().saved()
        options = initial_state.IterateOptions()
        return initial_state.resume_state(found, "build", bounds, options, reset_failures=False)


@pytest.mark.parametrize("before", [0, 1, 3])
def test_the_call_counts_once_at_an_unknown_cost(tmp_path: Path, before: int) -> None:
    killed, bounds = Killed(tmp_path), Bounds(max_iterations=5)
    killed.stage(*[PAID] * before, killed.now, PAID, bounds=bounds).run()
    killed.come_to_life()
    wire = json.loads((killed.root / "state/build.json").read_bytes())
    jsonschema.validate(wire, schema("iteration-state"))
    assert wire.get("spend", {"calls": 0})["calls"] == before
    shown = status_of(killed.root, "build").state
    assert shown is not None
    assert (shown.spend.calls, shown.spend.unknown) == (before + 1, 1)
    state = killed.taken_up(bounds)
    assert (state.spend, state.calls) == (shown.spend, ())
    again = killed.stage(PAID, bounds=Bounds(max_iterations=before + 2))
    again.run(state)
    assert again.loop is not None
    spend = again.loop.state.spend
    assert (spend.calls, spend.unknown, spend.usd) == (before + 3, 1, (before + 2) * 0.25)


def test_a_second_kill_adds_one_call_and_not_the_first_again(tmp_path: Path) -> None:
    killed, bounds = Killed(tmp_path), Bounds(max_iterations=5)
    killed.stage(PAID, killed.now, PAID, bounds=bounds).run()
    for kills in (1, 2, 3):
        killed.come_to_life()
        state = killed.taken_up(bounds)
        assert (state.spend.calls, state.spend.unknown, state.iteration) == (1 + kills, kills, 1)
        killed.stage(killed.now, PAID, bounds=bounds).run(state)
    assert status_of(killed.root, "build").state is None


def test_a_kill_before_the_next_call_adds_nothing(tmp_path: Path) -> None:
    killed, bounds = Killed(tmp_path), Bounds(max_iterations=5)
    killed.stage(PAID, killed.now, PAID, bounds=bounds).run()
    killed.come_to_life()
    state, stage = killed.taken_up(bounds), killed.stage(PAID, bounds=bounds)
    stage.lines = _Snapshot(killed)
    stage.run(state)
    killed.come_to_life()
    again = killed.taken_up(bounds)
    assert (again.spend.calls, again.spend.unknown) == (2, 1)


class _Snapshot(list[str]):
    """Keeps what a kill would leave at the first line that is reported."""

    def __init__(self, killed: Killed) -> None:
        super().__init__()
        self._killed: Killed | None = killed

    def append(self, line: str) -> None:
        super().append(line)
        if self._killed is not None:
            self._killed.now()
        self._killed = None


def test_the_price_of_a_call_whose_gates_were_under_way_is_known(tmp_path: Path) -> None:
    killed, bounds = Killed(tmp_path), Bounds(max_iterations=2)
    copy = ("sh", "-c", f"rm -rf {killed.kept}; cp -r {killed.root} {killed.kept}")
    gate = IterationGate(name="copies", command=copy)
    killed.stage(PAID, bounds=bounds, gates=[gate]).run()
    killed.come_to_life()
    state = killed.taken_up(bounds)
    assert (state.spend.calls, state.spend.usd, state.spend.unknown) == (2, 0.5, 0)


@pytest.mark.parametrize(
    "fault", [KeyboardInterrupt(), RuntimeError("it broke")], ids=["Ctrl-C", "an error"]
)
def test_a_call_that_was_interrupted_in_order_counts_once_too(
    tmp_path: Path, fault: BaseException
) -> None:
    killed, bounds = Killed(tmp_path), Bounds(max_iterations=5)
    with pytest.raises(type(fault)):
        killed.stage(PAID, fault, bounds=bounds).run()
    state = killed.taken_up(bounds)
    assert (state.spend.calls, state.spend.unknown, state.calls) == (2, 1, ())


class Real:
    """A project whose tool kills the loop as often as `kills` says, and works then."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        (folder / "pytest-reflex.toml").write_text(CONFIG)
        self.tool(KILL)

    def tool(self, act: str) -> None:
        (self.project.folder / "agent.sh").write_text(KILLS.format(act=act))

    def works(self) -> None:
        self.tool("""echo '{"text": "did it", "usd": 0.5}'""")

    def killed(self, *argv: str) -> None:
        process = self.project.start(*argv)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        wait_until(lambda: not is_driven(Path(".rooda"), "build"))

    def spend(self, capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
        capsys.readouterr()
        assert main(["iterate", "status", "build", "--json"]) == 0
        spend = json.loads(capsys.readouterr().out)["spend"]
        return spend["calls"], spend["unknown_cost_calls"]


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Real:
    monkeypatch.chdir(tmp_path)
    return Real(tmp_path)


def test_two_real_kills_are_two_calls_that_a_budget_of_calls_counts(
    real: Real, capsys: pytest.CaptureFixture[str]
) -> None:
    real.killed("run", "build", "-n", "9", "--budget", "calls=3,usd=9")
    assert real.spend(capsys) == (1, 1)
    real.killed("resume", "build")
    assert real.spend(capsys) == (2, 2)
    assert main(["iterate", "status", "build"]) == 0
    out = capsys.readouterr().out
    assert "Spent: 2 calls, 0.0 s, unknown cost" in out
    assert "calls 2 of 3, usd unknown of 9" in out
    real.works()
    assert main(["iterate", "resume", "build"]) == 8
    lines = told(capsys.readouterr().err)
    assert lines.count(f"WARNING: {LOST}") == 1
    assert any("calls: 3 of 3 used" in line for line in lines)
    assert real.spend(capsys) == (3, 2)
    assert main(["iterate", "resume", "build", "--budget", "calls=+1"]) == 8
    assert LOST not in capsys.readouterr().err
    assert real.spend(capsys) == (4, 2)
    assert "calls 4 of 4, usd 1 (unknown for 2 calls) of 9" in _status(capsys)


def test_a_budget_that_the_lost_call_uses_up_pays_nothing_more(
    real: Real, capsys: pytest.CaptureFixture[str]
) -> None:
    real.killed("run", "build", "-n", "9", "--budget", "calls=1")
    real.works()
    assert main(["iterate", "resume", "build"]) == 8
    assert "calls: 1 of 1 used (0 iterations completed" in capsys.readouterr().err
    assert (real.project.folder / "calls").read_text() == "x\n"


def test_a_tool_that_removes_the_state_before_it_kills_leaves_nothing_to_resume(
    real: Real, capsys: pytest.CaptureFixture[str]
) -> None:
    real.tool(f"rm -rf .rooda; {KILL}")
    real.killed("run", "build", "-n", "9")
    assert not os.path.exists(".rooda/state/build.json")
    real.tool("""rm -rf .rooda; echo '{"text": "did it", "usd": 0.5}'""")
    assert main(["iterate", "run", "build", "-n", "2"]) == 0
    assert "2 calls, " in capsys.readouterr().err


def _status(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    main(["iterate", "status", "build"])
    return capsys.readouterr().out
