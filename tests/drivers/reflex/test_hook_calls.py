"""A plugin that does something wrong is named, and nobody is told that it was our fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from pytest_reflex.errors import UsageError
from pytest_reflex.host import open_host, register_agents
from pytest_reflex.model.events import Event
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.steps import Reply
from pytest_reflex.model.targets import Target
from pytest_reflex.settings import load
from tests.drivers.reflex.stage import PLAN, Script, Stage

GOOD = "alpha beta gamma\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def odd(**fields: Any) -> Reply:
    return Reply(**{"text": PLAN, "agent": "odd", **fields})


REPLIES: dict[str, tuple[Reply, str]] = {
    "no text": (odd(text=None), "text is not text: None"),
    "bytes": (odd(text=b"x"), "text is not text: b'x'"),
    "an agent that is not a name": (odd(agent=5), "agent is not text: 5"),
    "b014 a price that is not a number": (odd(usd=float("nan")), "usd is not an amount: nan"),
    "b064 a price that is true": (odd(usd=True), "usd is not an amount: True"),
    "a price below nothing": (odd(usd=-5), "usd is not an amount: -5"),
    "half a token": (odd(tokens=1.5), "tokens is not an amount: 1.5"),
    "no time": (odd(seconds=None), "seconds is not an amount: None"),
    "details that are none": (odd(details=None), "details are not a mapping"),
    "refused tries that are none": (
        odd(details={"refused": [{"seconds": 1}]}),
        "details have no refused tries: [{'seconds': 1}]",
    ),
    "a refused try with a price that is none": (
        odd(details={"refused": [{"seconds": 1, "usd": "x", "tokens": None}]}),
        "details have no refused tries: [{'seconds': 1, 'usd': 'x', 'tokens': None}]",
    ),
}


@pytest.mark.parametrize(("reply", "message"), REPLIES.values(), ids=REPLIES.keys())
def test_a_reply_that_is_none_is_told_with_its_hook(
    reply: Reply, message: str, stage: Stage
) -> None:
    events = stage.play(Script(plan=reply))
    wanted = f"hook pytest_reflex_plan returned a Reply whose {message}"
    assert events[1].payload["message"] == wanted
    assert stage.run_json()["stop"]["reason"] == "phase_error"


@pytest.mark.parametrize("step", ["plan", "produce"])
def test_a_hook_that_wants_to_exit_is_named(step: str, stage: Stage) -> None:
    def leave(request: object) -> str:
        raise SystemExit(5)

    events = stage.play(Script(**{"produce": GOOD, step: cast(Any, leave)}))
    messages = {e.payload["message"] for e in events if e.kind == "phase_error"}
    assert messages == {f"hook pytest_reflex_{step} raised SystemExit: 5"}


class Judge(Script):
    def pytest_reflex_evaluate(self, target: Target) -> Evaluation:
        raise ValueError("no idea")


def test_an_evaluation_that_raises_is_named(stage: Stage) -> None:
    stage.play(Judge(produce=GOOD))
    detail = stage.run_json()["stop"]["detail"]
    assert "hook pytest_reflex_evaluate raised ValueError: no idea" in detail


class Listener(Script):
    def pytest_reflex_record(self, event: Event) -> None:
        if event.kind == "critique_done":
            raise ValueError("deaf")


def test_a_listener_that_raises_ends_the_driver_and_not_the_run(stage: Stage) -> None:
    with pytest.raises(UsageError, match="hook pytest_reflex_record raised ValueError: deaf"):
        stage.play(Listener(produce="x\n"))
    assert (stage.run_json()["status"], stage.run_json()["current_step"]) == ("running", "REFINE")


PLUGINS = {
    "a hook that there is not": ("def pytest_reflex_plam(request): ...", "pytest_reflex_plam"),
    "other parameters": ("def pytest_reflex_plan(asked): ...", "Argument(s) {'asked'}"),
    "an exit at import": ("raise SystemExit(3)", "could not be imported: SystemExit: 3"),
    "a registration that raises": (
        "def pytest_reflex_register_checks(register): raise ValueError('no')",
        "pytest_reflex_register_checks raised ValueError: no",
    ),
    "agents that cannot be registered": (
        "def pytest_reflex_register_agents(register): 1 / 0",
        "pytest_reflex_register_agents raised ZeroDivisionError",
    ),
    "an agent that cannot be made": (
        "def pytest_reflex_register_agents(register): register('odd', 5)",
        "the factory of agent 'odd' raised TypeError",
    ),
    "an agent whose name is taken": (
        "def pytest_reflex_register_agents(register): register('offline', 5)",
        "two plugins with agent 'offline'",
    ),
    "a reporter whose name is taken": (
        "def pytest_reflex_register_reporters(register): register('json', 5)",
        "two plugins with reporter 'json'",
    ),
}


@pytest.mark.parametrize(("source", "message"), PLUGINS.values(), ids=PLUGINS.keys())
def test_a_plugin_that_cannot_be_used_is_named(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"odd_plugin_{abs(hash(source))}"
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"{name}.py").write_text(source + "\n")
    with pytest.raises(UsageError) as raised:
        register_agents(
            open_host([name]), load(tmp_path), ["plan=odd"] if "'odd'" in source else []
        )
    assert message in str(raised.value)
