"""Lines about a run: progress, cost, refused answers, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pytest_reflex.model.enums import Level
from pytest_reflex.model.plain import escape_control, one_line, pluralize
from pytest_reflex.model.run import EMPTY_SHA256, EvaluationMark, RunState, Spend
from pytest_reflex.model.stop import StopReason, is_extendable
from pytest_reflex.reports.lines import Line
from pytest_reflex.verdict.formatting import format_score, plain

_START = 2_000


def refusal(message: str, answer: str) -> str:
    """Return a message with the first line of the refused answer, if there is one to show."""
    lines = (line.strip() for line in answer[:_START].splitlines())
    first = next((line for line in lines if line), "")
    if not first or first in message:
        return message
    return f"{message}; it said: {one_line(first)}"


def refusal_of(payload: Mapping[str, Any]) -> str:
    """Return the same of the payload of a phase_error."""
    return refusal(str(payload["message"]), str(payload.get("answer", "")))


def spend_text(spend: Spend) -> str:
    """Return calls, time, price and tokens of the agents, in one line."""
    if not spend.calls:
        return "no paid calls"
    calls = _calls(spend.calls)
    price = _format_known(f"${spend.usd:.4f}", spend.unknown, spend.calls) or "unknown cost"
    tokens = _format_known(f"{spend.tokens} tokens", spend.unknown_tokens, spend.calls)
    return ", ".join(filter(None, (calls, f"{spend.seconds:.1f} s", price, tokens)))


def _format_known(amount: str, unknown: int, calls: int) -> str:
    """Return an amount, and for how many calls it is unknown; empty where for all."""
    if unknown >= calls:
        return ""
    return f"{amount} (unknown for {_calls(unknown)})" if unknown else amount


def _calls(number: int) -> str:
    return pluralize(number, "call")


def budget_text(budget: Mapping[str, float], spend: Spend) -> str:
    """Return how much of each part of a budget is used: "calls 3 of 10, usd 0.12 of 2"."""
    unknown = {"usd": spend.unknown, "tokens": spend.unknown_tokens}
    parts = []
    for key, limit in budget.items():
        amount = f"{getattr(spend, key):g}"
        used = _format_known(amount, unknown.get(key, 0), spend.calls) if spend.calls else amount
        parts.append(f"{key} {used or 'unknown'} of {limit:g}")
    return ", ".join(parts)


def unknown_of(spend: Spend) -> list[str]:
    """Return the parts of a budget that some call of an agent did not report."""
    unknown = {"usd": spend.unknown, "tokens": spend.unknown_tokens}
    return [key for key, calls in unknown.items() if calls]


def not_held(budget: Mapping[str, float], unknown: Collection[str], others: Iterable[str]) -> str:
    """Return which parts of a budget cannot be held, and what can; empty where all can.

    `unknown` are the parts that tools do not report, `others` the limits beside the budget.
    """
    lost = [key for key in _WORDS if key in unknown and key in budget]
    if not lost:
        return ""
    text = " and ".join(_WORDS[key] for key in lost)
    kept = [*(key for key in budget if key not in lost), *others]
    holds = f"{', '.join(kept)} can" if kept else "no other limit is set"
    return f"{text} unknown: the budget in {' and '.join(lost)} cannot be held; {holds}"


_WORDS = {"usd": "cost", "tokens": "tokens"}


SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LEAVING: Line = [("  leaving: what runs is given time to end; once more kills it", "mild")]
_BARS = "▁▂▃▄▅▆▇█"
_MARKS = 6
_NAME = 40


@dataclass(frozen=True, slots=True)
class RunningStep:
    """A step that runs: for how many seconds, and the agent that was asked ("" for none)."""

    name: str
    agent: str
    seconds: float


def loop_rows(state: RunState, run: str) -> list[Line]:
    """Return what a live view shows of a loop; `run` is the time since the driver began.

    Lines may be cut at the end: what matters most comes first.
    """
    place = (
        f"iteration {state.iteration}/{state.limits.max_iterations} · phase {state.level.value} · "
        f"run {run}"
    )
    return [
        [("  " + place, "")],
        [("  score ", ""), *trend(state)],
        [(f"  spend {spend_text(state.spend)}", "")],
    ]


def start_line(running: RunningStep) -> str:
    """Return what is reported at the start of a step that may take long."""
    return f"{running.name} ...{agent_text(running)}"


def waiting_line(running: Iterable[RunningStep]) -> str:
    """Return what is reported while steps go on and nothing else happens."""
    steps = (f"{one.name} {clock(one.seconds)}{agent_text(one)}" for one in running)
    return "still at work: " + ", ".join(steps)


def agent_text(running: RunningStep) -> str:
    """Return the agent that is asked, as it stands behind a step."""
    return f" (agent {one_line(running.agent, _NAME)})" if running.agent else ""


def trend(state: RunState) -> Line:
    """Return a bar and the score of each of the last evaluations, and what is needed now."""
    needed = plain(state.criteria.thresholds[state.level])
    if not state.marks:
        return [(f"none yet, needs {needed}", "")]
    line: Line = [("… ", "faint")] if len(state.marks) > _MARKS else []
    level: Level | None = None
    for mark in state.marks[-_MARKS:]:
        if mark.level is not level:
            line.append((f"{mark.level.value} ", "faint"))
            level = mark.level
        line.append((f"{bar(mark.score)} {format_score(mark.score)} ", _tone(mark)))
    return [*line, (f"needs {needed}", "faint")]


def bar(share: Fraction | float) -> str:
    """Return a bar for a share from 0 to 1."""
    return _BARS[min(int(share * len(_BARS)), len(_BARS) - 1)]


def _tone(mark: EvaluationMark) -> str:
    if mark.passed:
        return "good"
    return "bad" if mark.blockers else "mild"


def clock(seconds: float) -> str:
    """Return a duration as a clock shows it: 0:42, 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


_MORE_ITERATIONS = "--max-iterations +2"


def extend_command(state: RunState, *, of_session: bool = False) -> str:
    """Return the command by which a stopped run goes on: more of what is used up, no more.

    A loop `of_session` is taken up by pytest, whose options have names of their own.
    """
    options = [f"--allow {shlex.quote(path)}" for path in state.stop.offered]
    judged = state.evaluated or state.stop.restored_from is not None
    if judged and state.iteration >= state.limits.max_iterations:
        options.append(_MORE_ITERATIONS)
    options += _more_budget(state)
    if not of_session:
        return " ".join(["pytest-reflex loop extend", state.alias, *options])
    own = (f"--reflex-{option.removeprefix('--')}" for option in options or [_MORE_ITERATIONS])
    return " ".join(["pytest --reflex-loop --reflex-resume", state.alias, *own])


def _more_budget(state: RunState) -> Iterator[str]:
    """Yield an option for each limit that is reached: as much again, until it is enough."""
    for key, limit in state.limits.budget.items():
        used = getattr(state.spend, key)
        if used >= limit:
            more = limit * max(used // limit, 1)
            more += limit if limit + more <= used else 0
            yield f"--budget {key}=+{_decimal(more)}"


def _decimal(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def allow_text(state: RunState, *, of_session: bool = False) -> str:
    """Return what to do where an agent added modules, and nothing else was modified."""
    names = ", ".join(map(escape_control, state.stop.offered))
    command = extend_command(state, of_session=of_session)
    return f"review {names}, which the agent added; to keep it and go on: `{command}`"


def next_line(state: RunState) -> str:
    """Return how to go on, for a summary; empty after a success."""
    there = state.artifact_sha256 != EMPTY_SHA256
    if state.stop.offered:
        return allow_text(state)
    if state.stop.reason is StopReason.TAMPERED:
        again = "start a new loop" + (", with artifact.md as --input" if there else "")
        return f"review what was modified; then {again}"
    if not is_extendable(state.stop.reason):
        return ""
    first = "fix artifact.md by hand first, if you like; " if there else ""
    return f"{extend_command(state)} ({first}--agent NAME takes another agent)"
