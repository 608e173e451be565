"""The list of all runs: a table for a terminal, lines with tabs for a pipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pytest_reflex.model.plain import one_line
from pytest_reflex.verdict.figures import shown_score

HEADERS = ("driver", "name", "status", "started", "duration", "iteration", "cost", "score")
_LONGEST = 2_000


def table(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of runs as `RunRow.to_json` has them; problems stand in a column of theirs."""
    from tabulate import tabulate

    rows = [_row(one) for one in runs]
    has_problems = any(row[-1] for row in rows)
    return tabulate(
        rows if has_problems else [row[:-1] for row in rows],
        headers=(*HEADERS, "problem") if has_problems else HEADERS,
        tablefmt="simple",
        disable_numparse=True,
    )


def plain_lines(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each run, its nine fields separated by tabs; what is unknown is empty."""
    return "\n".join("\t".join(_row(one)) for one in runs)


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    score = one["score_exact"]
    return (
        one["driver"],
        one_line(one["name"]),
        one["status"],
        one_line(one["started_at"] or ""),
        "" if one["seconds"] is None else _duration(one["seconds"]),
        _iteration(one),
        _cost(one["spend"]),
        shown_score(Fraction(score)) if score else "",
        one_line(one.get("problem", ""), _LONGEST),
    )


def _iteration(one: Mapping[str, Any]) -> str:
    if one["iteration"] is None:
        return ""
    limit = one["max_iterations"]
    return f"{one['iteration']}/{limit}" if limit else str(one["iteration"])


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _cost(spend: Mapping[str, Any] | None) -> str:
    """Return what the agents cost; nothing where no call was paid for."""
    if spend is None or not spend["calls"]:
        return ""
    if spend["usd"] is None:
        return "unknown"
    at_least = "at least " if spend["unknown_cost_calls"] else ""
    return f"{at_least}${spend['usd']:.4f}"
