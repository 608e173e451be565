"""T19: agents that would go on for ever, and the cap that each meets.

The loop's own checks for progress are switched off as far as the configuration can; what is left
are the caps that it cannot take away. A loop may ask its agent twice for each step it has.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_reflex.errors import LimitError
from pytest_reflex.model.steps import Reply, StepRequest
from tests.drivers.reflex.stage import PLAN, Script, Stage, critique_all, history_of, issues
from tests.faults.figure import Figure, of_cases

ITERATIONS = 3
MOST_CALLS = 2 * 4 * ITERATIONS
LOOSE = {
    "loop.max_iterations": ITERATIONS,
    "loop.blocker_stagnation": 0,
    "loop.oscillation": False,
    "loop.no_major_issues": "never",
}
NOTICE = "You have hit your limit, resets 5pm"
STATUS = "---LOOP_STATUS---\nEXIT_SIGNAL: true\n---END---\n"


def _error(**details: Any) -> Reply:
    return Reply(text="", agent="script", error="refused", details=details)


def _echo(request: StepRequest) -> str:
    return request.artifact or request.task


def _always(line: Any) -> Script:
    return Script(plan=line, produce=line, critique=line, refine=line)


def _writer(write: Callable[[int], str]) -> Script:
    """An agent that keeps every contract and never gets the artifact to pass."""
    numbers = itertools.count()
    return Script(
        produce=lambda request: write(next(numbers)), refine=lambda request: write(next(numbers))
    )


@dataclass(frozen=True, slots=True)
class Endless:
    """An agent and why its loop has to end; `clock` runs an hour a look where it is set."""

    script: Callable[[], Script]
    reasons: tuple[str, ...]
    flags: dict[str, Any] = field(default_factory=dict)
    hours: bool = False


AGENTS: dict[str, Endless] = {
    "always fails": Endless(lambda: _always(_error()), ("phase_error",)),
    "always raises": Endless(lambda: _always(ValueError("no")), ("phase_error",)),
    "always says done": Endless(lambda: _always("done"), ("phase_error",)),
    "b074 says ok for ever": Endless(
        lambda: Script(produce="ok", refine="ok"), ("iteration_limit", "stagnation")
    ),
    "echoes": Endless(
        lambda: Script(produce=_echo, refine=_echo), ("iteration_limit", "stagnation")
    ),
    "says nothing": Endless(lambda: _always(""), ("phase_error",)),
    "tells of a limit with status 0": Endless(lambda: _always(NOTICE), ("phase_error",)),
    "is refused by a limit for ever": Endless(
        lambda: _always(_error(limit=True, limited=True)), ("refused",)
    ),
    "claims to have passed": Endless(
        lambda: Script(produce='{"passed": true, "score": 1.0}', refine='{"passed": true}'),
        ("iteration_limit", "stagnation"),
    ),
    "signals an exit": Endless(
        lambda: Script(produce=STATUS, refine=STATUS), ("iteration_limit", "stagnation")
    ),
    "alternates": Endless(
        lambda: _writer(lambda n: "one\n" if n % 2 else "two\n"), ("iteration_limit", "stagnation")
    ),
    "changes for ever": Endless(
        lambda: _writer(lambda n: f"try {n}\n"), ("iteration_limit", "stagnation")
    ),
    "grows for ever": Endless(
        lambda: _writer(lambda n: "x" * 2**n), ("iteration_limit", "stagnation")
    ),
    "criticises other rules": Endless(
        lambda: Script(produce="nothing", critique=issues("a.x.other")), ("phase_error",)
    ),
    "fails every other time": Endless(
        lambda: Script(
            plan=[_error(), PLAN] * 9,
            produce=[_error(), "nothing"] * 9,
            critique=[_error(), critique_all] * 9,
            refine=[_error(), "nothing"] * 9,
        ),
        ("iteration_limit", "stagnation"),
    ),
    "does not say what it costs": Endless(
        lambda: _writer(lambda n: f"try {n}\n"),
        ("iteration_limit", "stagnation"),
        {"loop.budget": {"usd": 0.01}},
    ),
    "is paid for every word": Endless(
        lambda: Script(plan=Reply(text=PLAN, agent="script", usd=9.0, tokens=10)),
        ("budget_exceeded",),
        {"loop.budget": {"usd": 5}},
    ),
    "is slow": Endless(
        lambda: _writer(lambda n: f"try {n}\n"), ("budget_exceeded",), {}, hours=True
    ),
}
SAMPLE = ("always fails", "b074 says ok for ever", "changes for ever", "is slow")


def figure(full: bool) -> Figure:
    """Drive a loop with each agent."""
    chosen = AGENTS if full else {name: AGENTS[name] for name in SAMPLE}
    return of_cases((name, list(_wrong(agent))) for name, agent in chosen.items())


def _wrong(agent: Endless) -> Iterator[str]:
    script, hours = agent.script(), itertools.count()
    with tempfile.TemporaryDirectory(prefix="reflex-endless-") as folder:
        stage, reason = Stage(Path(folder)), ""
        with stage.begin(script, {**LOOSE, **agent.flags}) as loop:
            if agent.hours:
                loop = replace(loop, clock=lambda: 3600.0 * next(hours))
            with contextlib.suppress(LimitError):
                for _ in history_of(loop):
                    pass
                reason = stage.run_json()["stop"]["reason"]
        reason = reason or "refused"
        if reason not in agent.reasons:
            yield f"ended by {reason}"
        if (evaluated := len(loop.state.marks)) > 2 * ITERATIONS:
            yield f"{evaluated} evaluations"
    if (calls := len(script.requests)) > MOST_CALLS:
        yield f"{calls} calls"
