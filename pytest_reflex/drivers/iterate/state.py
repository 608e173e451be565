"""The state of an iteration loop, its JSON to the letter of seed 004, and its file.

Limits: durations are written in tenths of a second, as the seed has them; those that a program in
Go wrote ("1m2.5s", or whole nanoseconds) are read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common import lease
from pytest_reflex.drivers.common.snapshot import SnapshotFile, bytes_of
from pytest_reflex.drivers.iterate.logfile import is_log_name
from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.progress import known_from_json, last_from_json, starts_from_json
from pytest_reflex.errors import ReflexError, StateError, UnreadableError
from pytest_reflex.model.run import Spend, costs_from_json
from pytest_reflex.settings.readers import MOST

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
_UNITS["ns"] = 1e-9
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|h|m|s)", re.ASCII)
_LONGEST = 1e9  # seconds
_NEVER = "0001-01-01T00:00:00Z"  # what Go writes for no time at all
_OUTCOME, _OPTIONS, _MODIFIED = "outcome", "options", "modified_files"
_STARTS, _SPEND, _FEEDBACK = "gates_at_start", "spend", "feedback"
_LOG, _LAST, _FAILING, _KNOWN = "log_name", "last_iteration", "failing_gates", "known_failures"
_CALLS = "calls_under_way"
_OURS = (
    _CALLS,
    _OUTCOME,
    _OPTIONS,
    _MODIFIED,
    _STARTS,
    _SPEND,
    _FEEDBACK,
    _LOG,
    _LAST,
    _FAILING,
    _KNOWN,
)
_KEYS = (
    *("iteration", "max_iterations", "consecutive_failures", "failure_threshold", "started_at"),
    *("last_iteration_at", "status", "procedure_name", "elapsed_per_iteration"),
)


def dump(state: State) -> bytes:
    """Return the state file of a state: the seed's keys in their order, then ours and others'."""
    wire: dict[str, Any] = {
        "iteration": state.iteration,
        "max_iterations": state.max_iterations,
        "consecutive_failures": state.consecutive_failures,
        "failure_threshold": state.failure_threshold,
        "started_at": state.started_at,
        "last_iteration_at": state.last_iteration_at,
        "status": state.status.value,
        "procedure_name": state.procedure_name,
        "elapsed_per_iteration": [f"{seconds:.1f}s" for seconds in state.elapsed],
    }
    if state.outcome:
        wire[_OUTCOME] = state.outcome
    if state.options:
        wire[_OPTIONS] = dict(state.options)
    if state.modified_files:
        wire[_MODIFIED] = {
            gate: {name: list(prints) for name, prints in files.items()}
            for gate, files in state.modified_files.items()
        }
    if state.gates_at_start and state.status is Status.RUNNING:
        wire[_STARTS] = dict(state.gates_at_start)
    if state.spend != Spend():
        wire[_SPEND] = state.spend.to_json()
    if state.feedback:
        wire[_FEEDBACK] = dict(state.feedback)
    if state.log_name:
        wire[_LOG] = state.log_name
    if state.last:
        wire[_LAST] = dict(state.last)
    if state.failing:
        wire[_FAILING] = list(state.failing)
    if state.known_failures:
        wire[_KNOWN] = {name: dict(found) for name, found in state.known_failures.items()}
    if state.calls:
        wire[_CALLS] = [dict(cost) for cost in state.calls]
    return (json.dumps(wire | dict(state.others), indent=2) + "\n").encode()


def load(data: bytes, procedure: str) -> State:
    """Read the state file of a procedure; raises ValueError with what cannot be used."""
    from pytest_reflex.text.data import read_data

    try:
        wire = read_data(data.decode("utf-8-sig"), "json")[0].value
    except ReflexError as error:
        raise ValueError(error.problems[0].message) from None
    if not isinstance(wire, dict):
        raise ValueError("it holds no JSON object")
    name = _text(wire, "procedure_name")
    if name != procedure:
        raise ValueError(f"it belongs to the procedure {name!r}")
    return State(
        procedure_name=name,
        max_iterations=_whole(wire, "max_iterations", 0),
        failure_threshold=_whole(wire, "failure_threshold", 1),
        started_at=_time(wire, "started_at") or _NEVER,
        iteration=_whole(wire, "iteration", 0),
        consecutive_failures=_whole(wire, "consecutive_failures", 0),
        last_iteration_at=_time(wire, "last_iteration_at"),
        status=_status(wire),
        elapsed=_durations(wire),
        outcome=wire[_OUTCOME] if isinstance(wire.get(_OUTCOME), str) else "",
        options=dict(wire[_OPTIONS]) if isinstance(wire.get(_OPTIONS), dict) else {},
        modified_files=_modified_from_json(wire.get(_MODIFIED, {})),
        gates_at_start=_starts(wire.get(_STARTS, {})),
        spend=Spend.from_json(wire.get(_SPEND, {})),
        feedback=_feedback(wire.get(_FEEDBACK, {})),
        log_name=wire[_LOG] if is_log_name(wire.get(_LOG)) else "",
        last=last_from_json(wire.get(_LAST)),
        failing=_names(wire.get(_FAILING, [])),
        known_failures=known_from_json(wire.get(_KNOWN, {})),
        calls=costs_from_json(wire.get(_CALLS)),
        others={key: wire[key] for key in wire if key not in (*_KEYS, *_OURS)},
    )


def _modified_from_json(wire: Any) -> dict[str, dict[str, tuple[str, str]]]:
    """Return the files of gates that were left modified; one that cannot be read is never none."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for gate, files in _items(wire):
        for name, prints in _items(files):
            if not isinstance(prints, list) or [type(one) for one in prints] != [str, str]:
                raise ValueError(f"{_MODIFIED} has {prints!r}, not what a file was and is")
            found.setdefault(gate, {})[name] = prints[0], prints[1]
    return found


def _starts(wire: Any) -> dict[str, Any]:
    """Return what gates began with, which can be read; only a resume makes something of it."""
    starts_from_json(wire, _STARTS)
    return dict(wire)


def _feedback(wire: Any) -> dict[str, str]:
    """Return what people said by its id; a key of another program with other values is refused."""
    if not isinstance(wire, dict) or not all(isinstance(one, str) for one in wire.values()):
        raise ValueError(f"{_FEEDBACK} is {wire!r}, not an object with texts")
    return wire


def _names(wire: Any) -> tuple[str, ...]:
    if not isinstance(wire, list) or not all(isinstance(one, str) for one in wire):
        raise ValueError(f"{_FAILING} is {wire!r}, not a list of names")
    return tuple(wire)


def _items(wire: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(wire, dict):
        raise ValueError(f"{_MODIFIED} has {wire!r}, not an object")
    return wire.items()


def beyond_limit(state: State) -> str:
    """Return what is odd about a state with more iterations than it allows, else nothing."""
    if not state.max_iterations or state.iteration <= state.max_iterations:
        return ""
    return (
        f"iteration {state.iteration} is above max_iterations {state.max_iterations}: "
        "the state was changed, or the limit was lowered; --max-iterations sets another"
    )


def seconds_of(text: str) -> float:
    """Return the seconds of a duration: "45.2s", "1m2.5s", "350ms"; raises ValueError."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _durations(wire: Mapping[str, Any]) -> tuple[float, ...]:
    found = wire.get("elapsed_per_iteration")
    if found is None:  # so Go writes an empty list
        return ()
    if not isinstance(found, list):
        raise ValueError(f"elapsed_per_iteration is {found!r}, not a list")
    return tuple(_duration(value) for value in found)


def _duration(value: Any) -> float:
    if isinstance(value, str):
        seconds = seconds_of(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        seconds = min(value, 10**30) / 1e9
    else:
        raise ValueError(f"elapsed_per_iteration has {value!r}, which is not a duration")
    if not 0 <= seconds <= _LONGEST:
        raise ValueError(f"elapsed_per_iteration has {value!r}, which no iteration takes")
    return seconds


def _whole(wire: Mapping[str, Any], key: str, least: int) -> int:
    value = wire.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not (least <= value <= MOST):
        raise ValueError(f"{key} is {value!r}, not a whole number from {least} to {MOST}")
    return value


def _text(wire: Mapping[str, Any], key: str) -> str:
    value = wire.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r}, not a text")
    return value


def _time(wire: Mapping[str, Any], key: str) -> str | None:
    if wire.get(key) in (None, _NEVER):
        return None
    text = _text(wire, key)
    try:
        aware = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        raise ValueError(f"{key} is {text!r}, not a time with its zone")
    return text


def _status(wire: Mapping[str, Any]) -> Status:
    """Return the status; `paused` is another word for interrupted."""
    text = _text(wire, "status")
    if text not in list(Status):
        raise ValueError(f"status is {text!r}, not one of {', '.join(Status)}")
    return Status.INTERRUPTED if text == Status.PAUSED else Status(text)


def state_path(root: Path, procedure: str) -> Path:
    """Return the state file of a procedure; `root` is the folder of all that iterate keeps."""
    return root / "state" / f"{procedure}.json"


def run_folder(root: Path, procedure: str) -> Path:
    """Return the folder that marks tools of a procedure as its own."""
    return (root / "log" / procedure).absolute()


def is_driven(root: Path, procedure: str) -> bool:
    """Return whether a process drives a procedure now."""
    lock = state_path(root, procedure).with_suffix(".lock")
    return lease.is_driven(lock, lease.mark_of(run_folder(root, procedure)))


def state_file(root: Path, procedure: str, warn: Callable[[str], object]) -> SnapshotFile[State]:
    """Return the state file of a procedure, to be owned; `warn` takes what went wrong."""
    return SnapshotFile(
        state_path(root, procedure),
        root=root,
        run_folder=run_folder(root, procedure),
        dump=dump,
        load=partial(load, procedure=procedure),
        warn=warn,
    )


def read_state(root: Path, procedure: str) -> State | None:
    """Return the state of a procedure, None where there is none; nothing is written.

    Raises StateError for a file that cannot be read or holds no state.
    """
    path = state_path(root, procedure)
    hint = f"a new run keeps a copy of it: pytest-reflex iterate run {procedure}"
    try:
        data = bytes_of(path)
        return None if data is None else load(data, procedure)
    except ValueError as error:
        message = f"{path} holds no state of an iteration loop: {error}"
        raise StateError(message, hint=hint) from None
    except UnreadableError:
        raise
    except StateError as error:
        if path.is_symlink():
            raise
        raise StateError(error.problems[0].message, hint=hint) from None
