"""The list of loops: a table for a terminal, lines with tabs for a pipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pytest_reflex.model.plain import one_line
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.verdict.figures import shown_score

_TASK = 48
_LONGEST = 2_000


def table(loops: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of loops as `Found.to_json` has them; tasks are cut to their first words."""
    from tabulate import tabulate

    return tabulate(
        [_row(one, _TASK) for one in loops],
        headers=("loop", "status", "iteration", "phase", "score", "task"),
        tablefmt="simple",
        disable_numparse=True,
    )


def plain_lines(loops: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each loop, its fields separated by tabs; what is unknown is empty."""
    return "\n".join("\t".join(_row(one, _LONGEST)) for one in loops)


def _row(one: Mapping[str, Any], room: int) -> tuple[str, ...]:
    alias = one_line(one["alias"])
    if "problem" in one:
        return alias, one["status"], "", "", "", one_line(one["problem"], _LONGEST)
    more = " (interrupted)" if one["interrupted"] else ""
    if one["status"] != RunStatus.RUNNING and one["verified"] is False:
        more = ", not verified"
    score = one["score_exact"]
    return (
        alias,
        one["status"] + more,
        f"{one['iteration']}/{one['max_iterations']}",
        one["phase"],
        shown_score(Fraction(score)) if score else "",
        one_line(" ".join(one["task"].split()), room),
    )
