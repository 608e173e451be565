"""Runs of all drivers for people: a table of many for a terminal, lines for a pipe, one in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.model.run import Spend
from pytest_reflex.reports.spending import budget_text, spend_text
from pytest_reflex.reports.tables import tab_lines, text_table
from pytest_reflex.verdict.formatting import lasted, shown_score

HEADERS = ("driver", "name", "status", "started", "duration", "iteration", "cost", "score", "about")
_LONGEST = 2_000
_LEAST = 24

Row = tuple[str, str]


def table(runs: Sequence[Mapping[str, Any]], width: int) -> str:
    """Return a table of runs as `RunRow.to_json` has them.

    What they are about is cut to what is left of `width`; what is wrong with one is not.
    """
    rows = [_row(one) for one in runs]
    taken = sum(max(map(len, column)) + 2 for column in zip(HEADERS[:-1], *rows, strict=True))
    abouts = [_about(one, max(width - taken, _LEAST)) for one in runs]
    if any(abouts):
        rows = [(*row, about) for row, about in zip(rows, abouts, strict=True)]
    headers = HEADERS if any(abouts) else HEADERS[:-1]
    return text_table(headers, rows)


def plain_lines(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each run, its nine fields separated by tabs; what is unknown is empty."""
    return tab_lines((*_row(one), _about(one, _LONGEST)) for one in runs)


def status_text(
    noun: str,
    run: Mapping[str, Any],
    *,
    first: Iterable[Row] = (),
    middle: Iterable[Row] = (),
    last: Iterable[Row] = (),
    time: str = "",
    spend: Spend | None = None,
    budget: Mapping[str, float] | None = None,
    feedback: int = 0,
) -> str:
    """Return where one run stands, as `RunRow.to_json` has it; rows without a text are left out.

    `noun` is what the driver calls a run, the other rows are its own; `feedback` counts what people
    said that no iteration has been given yet, `time` is said instead of the duration.
    """
    spent = spend or Spend()
    waiting = f"{feedback} message{'' if feedback == 1 else 's'} for the next iteration"
    rows: list[Row] = [
        (noun, f"{run['name']} ({run['status']})"),
        *first,
        ("Iteration", _iteration(run)),
        *middle,
        ("Started", _moment(run["started_at"])),
        ("Time", time or _duration(run)),
        ("Spent", spend_text(spent) if spent.calls else ""),
        ("Budget", budget_text(budget or {}, spent)),
        ("Feedback", waiting if feedback else ""),
        *last,
    ]
    return "\n".join(f"{label}: {visible(text)}" for label, text in rows if text)


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    score = one["score_exact"]
    return (
        one["driver"],
        one_line(one["name"]),
        one["status"],
        _moment(one["started_at"]),
        _duration(one),
        _iteration(one),
        _cost(one["spend"]),
        shown_score(Fraction(score)) if score else "",
    )


def _about(one: Mapping[str, Any], room: int) -> str:
    if "problem" in one:
        return one_line(one["problem"], _LONGEST)
    return one_line(" ".join(one["about"].split()), room)


def _duration(one: Mapping[str, Any]) -> str:
    return "" if one["seconds"] is None else lasted(one["seconds"])


def _iteration(one: Mapping[str, Any]) -> str:
    if one["iteration"] is None:
        return ""
    limit = one["max_iterations"]
    return f"{one['iteration']}/{limit}" if limit else str(one["iteration"])


def _moment(text: str | None) -> str:
    """Return a time to the second, in UTC; one that cannot be read as it is."""
    try:
        found = datetime.fromisoformat(text or "")
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        return f"{found.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, TypeError):
        return one_line(str(text or ""))


def _cost(spend: Mapping[str, Any] | None) -> str:
    """Return what the agents cost; nothing where no call was paid for."""
    if spend is None or not spend["calls"]:
        return ""
    if spend["usd"] is None:
        return "unknown"
    at_least = "at least " if spend["unknown_cost_calls"] else ""
    return f"{at_least}${spend['usd']:.4f}"
