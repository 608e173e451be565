"""Calls of any driver on the frame that were under way at a kill count once after a resume."""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_reflex.drivers.common import snapshot
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.record import DriverRecord, load
from pytest_reflex.drivers.common.record_file import NextStep, RunFile
from pytest_reflex.drivers.common.running import Tools, resume, run
from pytest_reflex.model.steps import Question, Reply
from pytest_reflex.model.stop import StopReason
from pytest_reflex.storage.atomic import replace_file

PAID = Reply(text="done", agent="agent", usd=0.25, tokens=10)
LOST = "1 agent call was not counted when the run was killed; it counts as paid"


class Agent:
    """Answers at a price; `act` is called in each call."""

    name = "agent"

    def __init__(self, act: Callable[[Question], object]) -> None:
        self._act = act

    def ask(self, question: Question) -> Reply:
        self._act(question)
        return PAID

    def respond(self, request: Any) -> Reply:
        raise AssertionError("it has no steps")


class Asking:
    """A driver that asks all its `prompts` at once in each of `most` steps."""

    name = "asking"

    def __init__(self, *prompts: str, most: int = 2) -> None:
        self._prompts, self._most = prompts, most

    def start(self, given: Mapping[str, str]) -> Mapping[str, Any]:
        return {"done": 0}

    def decide(self, record: DriverRecord) -> NextStep | Stop:
        return NextStep("ask") if record.data["done"] < self._most else Stop(StopReason.SUCCESS)

    def perform(self, step: NextStep, record: DriverRecord, tools: Tools) -> Mapping[str, Any]:
        with ThreadPoolExecutor(len(self._prompts)) as pool:
            list(pool.map(tools.ask, self._prompts))
        return {"asked": len(self._prompts)}

    def apply(self, data: Mapping[str, Any], outcome: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"done": data["done"] + 1}


class Place:
    """A project whose agent does `act`; `now` keeps what a kill at this moment would leave."""

    def __init__(self, folder: Path) -> None:
        self.project, self.kept = folder / "project", folder / "kept"
        self.project.mkdir()
        (self.project / "pytest-reflex.toml").write_text(
            'agent = "agent"\n[agents.agent]\nkind = "agent"\n'
        )
        self.act: Callable[[Question], object] = lambda question: None
        self.said: list[str] = []
        register = lambda register: register("agent", lambda table: Agent(self._acted))  # noqa: E731
        self.plugin = SimpleNamespace(pytest_reflex_register_agents=register)

    def _acted(self, question: Question) -> object:
        return self.act(question)

    def now(self, question: Question | None = None) -> None:
        if not self.kept.exists():
            shutil.copytree(self.project, self.kept)

    def come_to_life(self) -> None:
        shutil.rmtree(self.project)
        self.kept.rename(self.project)

    def play(self, driver: Asking, how: Callable[..., Any] = run, **more: Any) -> list[Any]:
        given = {"plugins": [self.plugin], "project": self.project, "say": self.said.append}
        return list(how(driver, "demo", **given, **more))

    @property
    def files(self) -> RunFile:
        return RunFile(self.project, "asking", "demo")

    def spend(self) -> tuple[int, int, float]:
        spend = self.files.row().spend
        assert spend is not None
        return spend.calls, spend.unknown, spend.usd


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_call_counts_once_and_is_told_once(place: Place) -> None:
    place.act = place.now
    place.play(Asking("one"))
    place.come_to_life()
    assert place.files.load().spend.calls == 0
    assert place.spend() == (1, 1, 0)
    place.act = lambda question: None
    place.play(Asking("one"), resume)
    assert place.said.count(LOST) == 1
    assert place.spend() == (3, 1, 0.5)


def test_each_of_several_calls_at_once_counts(place: Place) -> None:
    together = Barrier(3)

    def third(question: Question) -> None:
        together.wait(30)
        if question.prompt == "one":
            place.now()
        together.wait(30)

    place.act = third
    driver = Asking("one", "two", "three")
    place.play(driver)
    place.come_to_life()
    assert place.spend() == (3, 3, 0)
    place.act = lambda question: None
    place.play(driver, resume)
    assert place.spend() == (9, 3, 1.5)


def test_a_second_kill_does_not_count_the_first_call_again(place: Place) -> None:
    place.act = place.now
    place.play(Asking("one"))
    for kills in (1, 2, 3):
        place.come_to_life()
        assert place.spend() == (kills, kills, 0)
        place.play(Asking("one"), resume)
    assert place.spend() == (5, 3, 0.5)


@pytest.mark.parametrize("limit", [1, 2])
def test_a_budget_of_calls_counts_it(place: Place, limit: int) -> None:
    place.act = place.now
    place.play(Asking("one"), budget={"calls": limit})
    place.come_to_life()
    place.act = lambda question: None
    stopped = place.play(Asking("one"), resume)[-1]
    told = (stopped.fields["reason"], stopped.fields["detail"], place.spend()[0])
    assert told == ("budget_exceeded", f"calls: {limit} of {limit} used", limit)


def test_a_price_that_is_known_stays_known_until_the_step_is_saved(place: Place) -> None:
    def in_the_second(question: Question) -> None:
        if question.prompt == "two":
            place.now()

    class OneByOne(Asking):
        def perform(self, step: NextStep, record: DriverRecord, tools: Tools) -> Mapping[str, Any]:
            for prompt in ("one", "two"):
                tools.ask(prompt)
            tools.add_cost({"calls": 1, "seconds": 0.0, "usd": 1.0, "tokens": 5})
            return {}

    place.act = in_the_second
    place.play(OneByOne())
    place.come_to_life()
    assert place.spend() == (2, 1, 0.25)


@pytest.mark.parametrize("where", ["the agent", "apply"])
def test_a_step_that_raises_has_paid_its_calls(place: Place, where: str) -> None:
    class Broken(Asking):
        def apply(self, data: Mapping[str, Any], outcome: Mapping[str, Any]) -> Mapping[str, Any]:
            raise KeyboardInterrupt

    def stop(question: Question) -> None:
        raise KeyboardInterrupt

    if where == "the agent":
        place.act = stop
    with pytest.raises(KeyboardInterrupt):
        place.play(Asking("one") if where == "the agent" else Broken("one"))
    assert place.spend() == ((1, 1, 0) if where == "the agent" else (1, 0, 0.25))
    assert "calls_under_way" not in json.loads(place.files.path.read_bytes())


WRONG = {
    "no JSON": ("x", "Expecting value"),
    "a list": ("[1]", "it holds no JSON object"),
    "empty": ("{}", "it has no 'driver'"),
    "no spend": ({"spend": None}, "spend is None, not an object"),
    "a key of a newer version": ({"later": 1}, "unknown key 'later'"),
    "of another run": ({"run": "other"}, "it is of asking other"),
    "a word for a number": ({"iteration": "one"}, "iteration is 'one'"),
    "deep": ("[" * 100_000, "it is nested too deeply"),
}


@pytest.mark.parametrize(("change", "problem"), WRONG.values(), ids=WRONG)
def test_what_is_no_state_is_told_in_words(
    place: Place, change: str | dict[str, object], problem: str
) -> None:
    place.play(Asking("one"))
    text = change
    if not isinstance(change, str):
        text = json.dumps(json.loads(place.files.path.read_bytes()) | change)
    with pytest.raises(ValueError, match=re.escape(problem)):
        load(str(text).encode(), "asking", "demo")


@pytest.mark.parametrize(
    ("prompts", "failing"), [(("one",), 1), (("one", "two"), 2)], ids=["one call", "two calls"]
)
def test_a_cost_that_could_not_be_saved_is_reported_once(
    place: Place, prompts: tuple[str, ...], failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = Barrier(len(prompts))
    writes_to_fail = 0

    def full_disk(path: Path, data: bytes) -> None:
        nonlocal writes_to_fail
        if writes_to_fail:
            writes_to_fail -= 1
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        replace_file(path, data)

    def fill(question: Question) -> None:
        nonlocal writes_to_fail
        writes_to_fail = failing
        everyone.wait(10)

    place.act = fill
    monkeypatch.setattr(snapshot, "replace_file", full_disk)
    place.play(Asking(*prompts, most=1))
    told = [line for line in place.said if "the state could not be saved" in line]
    assert len(told) == 1
    assert "No space left on device" in told[0]
    assert writes_to_fail == 0
    assert place.spend() == (len(prompts), 0, 0.25 * len(prompts))
