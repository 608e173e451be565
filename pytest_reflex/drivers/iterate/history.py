"""What the logs of an iteration loop say of its runs, and of the iterations of each.

Promises: nothing is written; a line that is damaged, or that another program wrote, is counted and
left out.
Limits: what a log does not say is unknown (None), as the cost of a tool that does not report one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.iterate.logfile import by_start, log_path
from pytest_reflex.errors import StateError
from pytest_reflex.model.json_fault import json_object
from pytest_reflex.model.run import Spend
from pytest_reflex.settings.procedure_tables import NAME
from pytest_reflex.storage.files import names_in, read_file

MOST_BYTES = 100_000_000
_LOG = ".jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationRecord:
    """One iteration that is done; `failed_gates` are those that did not pass, required or not.

    `gates` are all of them with what they came to. `files_changed` is a number, `files` are their
    names as far as the log has them. `commit` is that of git.
    """

    number: int
    seconds: float | None = None
    outcome: str = ""
    cause: str = ""
    detail: str = ""
    changed: bool | None = None
    usd: float | None = None
    tokens: int | None = None
    failed_gates: tuple[str, ...] = ()
    gates: Mapping[str, str] = field(default_factory=dict)
    files_changed: int | None = None
    files: tuple[str, ...] = ()
    commit: str = ""

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "iteration": self.number,
            "seconds": self.seconds,
            "outcome": self.outcome or None,
            "changed": self.changed,
            "usd": self.usd,
            "tokens": self.tokens,
            "failed_gates": list(self.failed_gates),
            "gates": dict(self.gates),
            "files_changed": self.files_changed,
            "files": list(self.files),
        }
        wire |= {"commit": self.commit} if self.commit else {}
        return wire | ({"cause": self.cause, "detail": self.detail} if self.cause else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run of a procedure; `run` names it by the time at which it began.

    `outcome` is why it ended and `status` how it was left, empty where its log has no end. `usd`
    and `tokens` are what the whole run cost, iterations that were cut short included; `spend` is
    that as the end of the log has it. `unreadable` counts lines of the log that are not events,
    `problem` says why the whole log cannot be read. `driven` says that a process drives it now.
    """

    procedure: str
    run: str
    log: Path
    started_at: str = ""
    changed_at: str = ""
    max_iterations: int = 0
    status: str = ""
    iterations: tuple[IterationRecord, ...] = ()
    outcome: str = ""
    usd: float | None = None
    tokens: int | None = None
    spend: Spend | None = None
    unreadable: int = 0
    problem: str = ""
    driven: bool = False

    @property
    def seconds(self) -> float:
        return sum(one.seconds or 0.0 for one in self.iterations)

    @property
    def shown_outcome(self) -> str:
        """The outcome in a word, also where the log does not have one."""
        if self.problem:
            return "damaged"
        return self.outcome or ("running" if self.driven else "unknown")

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "procedure": self.procedure,
            "run": self.run,
            "started_at": self.started_at or None,
            "iterations": len(self.iterations),
            "outcome": self.outcome or None,
            "driven": self.driven,
            "seconds": round(self.seconds, 3),
            "usd": self.usd,
            "tokens": self.tokens,
            "log": str(self.log),
            "unreadable_lines": self.unreadable,
        }
        return wire | ({"problem": self.problem} if self.problem else {})


def procedures_with_logs(root: Path) -> list[str]:
    """Return the names of the procedures that have a folder of logs, sorted."""
    folder = root / "log"
    return [one for one in names_in(folder) if NAME.fullmatch(one) and (folder / one).is_dir()]


def runs_of(root: Path, procedure: str) -> list[RunRecord]:
    """Return the runs of a procedure that have a log, the oldest first."""
    folder = root / "log" / procedure
    names = sorted((name for name in names_in(folder) if name.endswith(_LOG)), key=by_start)
    logs = (folder / name for name in names)
    return [run for log in logs for run in runs_in(procedure, log)]


def last_run(root: Path, procedure: str, run: str) -> RunRecord | None:
    """Return the last run in the log of a run, None where there is no log of it."""
    log = log_path(root, procedure, run)
    return runs_in(procedure, log)[-1] if log.is_file() else None


def runs_in(procedure: str, log: Path) -> list[RunRecord]:
    """Return the runs in a log: one, or several that began in the same second."""
    base = RunRecord(procedure=procedure, run=log.name.removesuffix(_LOG), log=log)
    try:
        records, unreadable = read_records(read_file(log, MOST_BYTES))
    except (StateError, OSError) as error:
        return [replace(base, problem=str(error))]
    found = []
    for number, records_of_run in enumerate(_split_runs(records), 1):
        run = base if number == 1 else replace(base, run=f"{base.run}-{number}")
        found.append(fold(run, records_of_run))
    return [replace(one, unreadable=unreadable) for one in found]


def read_records(data: bytes) -> tuple[list[dict[str, Any]], int]:
    """Return the events in the lines of a log, and how many lines are none."""
    records, unreadable = [], 0
    for line in data.replace(b"\0", b"").split(b"\n"):
        if not line.strip():
            continue
        found = json_object(line)
        if found and isinstance(found.get("event"), str):
            records.append(found)
        else:
            unreadable += 1
    return records, unreadable


def _split_runs(records: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the events of each run, at least once: a log without a beginning is one run."""
    part: list[Mapping[str, Any]] = []
    for record in records:
        if record["event"] == "started" and part:
            yield part
            part = []
        part.append(record)
    yield part


@dataclass(slots=True)
class _Fold:
    """What was read of a run so far; `gates` are those of the iteration that goes on."""

    iterations: list[IterationRecord] = field(default_factory=list)
    limit: int = 0
    outcome: str = ""
    status: str = ""
    usd: float | None = None
    tokens: int | None = None
    spend: Spend | None = None
    gates: dict[str, str] = field(default_factory=dict)


def fold(run: RunRecord, records: Iterable[Mapping[str, Any]]) -> RunRecord:
    """Return a run with what its events say of it. Pure."""
    so_far, times = _Fold(), list[str]()
    for record in records:
        times += filter(None, [_text(record, "time")])
        match record["event"]:
            case "started" | "resumed":
                so_far.outcome = so_far.status = ""
                so_far.limit = _whole(record, "max_iterations") or 0
            case "iteration_started":
                so_far.outcome, so_far.status, so_far.gates = "", "", {}
            case "gate" if record.get("phase") != "start":
                so_far.gates[_text(record, "gate")] = _text(record, "outcome")
            case "commit":
                _add_commit(so_far, record)
            case "iteration_completed":
                _add_iteration(so_far, record)
            case "ended":
                _add_end(so_far, record)
    return replace(
        run,
        started_at=run.started_at or next(iter(times), ""),
        changed_at=times[-1] if times else "",
        max_iterations=so_far.limit,
        status=so_far.status,
        iterations=tuple(so_far.iterations),
        outcome=so_far.outcome,
        usd=so_far.usd,
        tokens=so_far.tokens,
        spend=so_far.spend,
    )


def _add_iteration(so_far: _Fold, record: Mapping[str, Any]) -> None:
    number = _whole(record, "iteration")
    if number is None:
        return
    changed, failed = record.get("changed"), record.get("outcome") == "failure"
    usd, tokens = _amount(record, "usd"), _whole(record, "tokens")
    gates = {name: one for name, one in so_far.gates.items() if name}
    so_far.iterations.append(
        IterationRecord(
            number=number,
            seconds=_amount(record, "seconds"),
            outcome=_text(record, "outcome"),
            cause=_text(record, "cause") if failed else "",
            detail=_text(record, "detail") if failed else "",
            changed=changed if isinstance(changed, bool) else None,
            usd=usd,
            tokens=tokens,
            failed_gates=tuple(name for name, one in gates.items() if one in ("fail", "error")),
            gates=gates,
            files_changed=_whole(record, "files_changed"),
            files=_names(record, "files"),
        )
    )
    so_far.gates = {}
    if usd is not None:
        so_far.usd = (so_far.usd or 0.0) + usd
    if tokens is not None:
        so_far.tokens = (so_far.tokens or 0) + tokens


def _add_commit(so_far: _Fold, record: Mapping[str, Any]) -> None:
    """Take over which commit holds the iteration that was done last."""
    done = so_far.iterations
    if done and done[-1].number == _whole(record, "iteration"):
        done[-1] = replace(done[-1], commit=_text(record, "commit"))


def _add_end(so_far: _Fold, record: Mapping[str, Any]) -> None:
    """Take the end over, and what all calls cost up to it, where it says so."""
    so_far.outcome, so_far.status = _text(record, "outcome"), _text(record, "status")
    spend = record.get("spend")
    with suppress(ValueError):
        so_far.spend = None if spend is None else Spend.from_json(spend)
    if isinstance(spend, Mapping) and _whole(spend, "calls"):
        so_far.usd, so_far.tokens = _amount(spend, "usd"), _whole(spend, "tokens")


def _text(record: Mapping[str, Any], key: str) -> str:
    found = record.get(key)
    return found if isinstance(found, str) else ""


def _names(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = record.get(key)
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def _whole(record: Mapping[str, Any], key: str) -> int | None:
    found = record.get(key)
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if 0 <= found < 10**15 else None


def _amount(record: Mapping[str, Any], key: str) -> float | None:
    found = record.get(key)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    return float(found) if 0 <= found < 1e15 and math.isfinite(found) else None
