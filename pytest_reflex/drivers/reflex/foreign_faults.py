"""What keeps the run.json of another program from being taken up, in words: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_reflex.model.enums import Level
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.stop import RunStatus

Record = Mapping[str, Any]

_NEEDED: Mapping[str, tuple[Any, str]] = {
    "run_id": (str, "a text"),
    "status": (list(RunStatus), "a status of a loop"),
    "iteration": (int, "a number"),
    "phase": (list(Level), "A or B"),
    "task": (dict, "an object"),
    "criteria": (dict, "an object"),
}


def fault_of(run: Record, last: Record) -> str:
    """Return what keeps run.json from being used, empty where nothing is seen."""
    for key, (kinds, wanted) in _NEEDED.items():
        if key not in run:
            return f"has no {key!r}"
        value = run[key]
        is_right = value in kinds if isinstance(kinds, list) else isinstance(value, kinds)
        if not is_right or isinstance(value, bool):
            return f"has {one_line(repr(value), 60)} as {key!r}, not {wanted}"
    if not isinstance(run["task"].get("prompt"), str):
        return "has a 'task' without a 'prompt'"
    numbers = ((run, "max_iterations"), (run, "stagnation_count"), (last, "iteration"))
    wrong = (key for one, key in numbers if not isinstance(one.get(key), int | None))
    return f"has no number as {key!r}" if (key := next(wrong, "")) else ""
