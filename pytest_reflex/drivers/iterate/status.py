"""Where the runs of procedures stand, from their state files and logs; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.control import ControlFile
from pytest_reflex.drivers.common.record import DAMAGED, RunRow
from pytest_reflex.drivers.iterate.history import MOST_BYTES, read_records
from pytest_reflex.drivers.iterate.logfile import DRIVER, by_start, log_path
from pytest_reflex.drivers.iterate.messages import RESUME, statistics_of
from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.state import beyond_limit, is_driven, read_state, state_path
from pytest_reflex.errors import StateError
from pytest_reflex.model.plain import one_line, pluralize
from pytest_reflex.reports.runs import status_text
from pytest_reflex.settings.procedure_tables import NAME
from pytest_reflex.settings.readers import budget as read_budget
from pytest_reflex.storage.files import read_file
from pytest_reflex.verdict.formatting import format_duration

_TAIL = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureStatus:
    """Where the run of a procedure stands.

    `budget` has the limits of spending, `feedback` what people said that no iteration has been
    given yet.
    `state` is None where there is none, or where its file cannot be read: `problem` says why then.
    `driven` is whether a process drives it now, `configured` whether there is a procedure of that
    name still. `last` is the last line that a log has of it; `log_problem` says what a crash left
    in the log.
    """

    procedure: str
    state: State | None = None
    driven: bool = False
    configured: bool = True
    problem: str = ""
    log: Path | None = None
    last: str = ""
    log_problem: str = ""
    budget: Mapping[str, float] = field(default_factory=dict)
    feedback: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether the process that drove it has gone without recording an end."""
        return self.state is not None and self.state.status is Status.RUNNING and not self.driven

    @property
    def status(self) -> str:
        """The status in one word: damaged and none are ours."""
        if self.problem:
            return DAMAGED
        return self.state.status.value if self.state else "none"

    @property
    def shown_status(self) -> str:
        return self.status + (" (interrupted)" if self.interrupted else "")

    @property
    def next_step(self) -> str:
        """The command with which it goes on; empty where it cannot, or a process drives it."""
        if self.driven or not self.configured or self.state is None:
            return ""
        resume = f"{RESUME} {self.procedure}"
        if self.state.status is Status.ABORTED:
            return f"{resume} --reset-failures"
        return "" if self.state.status is Status.COMPLETED else resume

    def row(self) -> RunRow:
        """Return its row in a list of runs."""
        state = self.state
        if state is None:
            status = DAMAGED if self.problem else "no run is under way"
            return RunRow(
                driver=DRIVER,
                name=self.procedure,
                status=status,
                driven=self.driven,
                problem=self.problem,
            )
        failures = pluralize(state.consecutive_failures, "failure")
        return RunRow(
            driver=DRIVER,
            name=self.procedure,
            status=self.shown_status,
            interrupted=self.interrupted,
            driven=self.driven,
            started_at=state.started_at,
            changed_at=state.last_iteration_at or state.started_at,
            iteration=state.iteration,
            max_iterations=state.max_iterations,
            spend=state.spend,
            about=f"{failures} in a row" if state.consecutive_failures else "",
        )

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: the state's keys as its file has them, and what we know besides."""
        wire: dict[str, Any] = {
            "procedure_name": self.procedure,
            "status": self.status,
            "interrupted": self.interrupted,
            "driven": self.driven,
        }
        if self.problem:
            wire["problem"] = self.problem
        if self.state:
            wire |= {
                "iteration": self.state.iteration,
                "max_iterations": self.state.max_iterations,
                "consecutive_failures": self.state.consecutive_failures,
                "failure_threshold": self.state.failure_threshold,
                "started_at": self.state.started_at,
                "last_iteration_at": self.state.last_iteration_at,
                "seconds": round(sum(self.state.elapsed), 3),
                "statistics": statistics_of(self.state.elapsed).to_json(),
                "spend": self.state.spend.to_json(),
                "budget": dict(self.budget),
                "feedback": list(self.feedback),
            }
        optional = {"log": str(self.log or ""), "log_problem": self.log_problem}
        optional |= {"last": self.last, "next": self.next_step}
        return wire | {key: value for key, value in optional.items() if value}


def procedures_with_state(root: Path) -> list[str]:
    """Return the names of the procedures that have a state file, sorted."""
    found = (path.stem for path in (root / "state").glob("*.json"))
    return sorted(name for name in found if NAME.fullmatch(name))


def status_of(
    root: Path, procedure: str, budget: Mapping[str, float] | None = None
) -> ProcedureStatus:
    """Return where a procedure stands; `root` is the folder of all that iterate keeps.

    `budget` is that of the configuration: the command line of the run counts before it.
    """
    driven = _is_driven(root, procedure)
    try:
        state = read_state(root, procedure)
    except (StateError, OSError) as error:
        problem = str(error)
        return ProcedureStatus(procedure=procedure, driven=driven, problem=problem)
    if state and not driven:
        state = replace(state, spend=state.paid)
    log = _log_of(root, procedure, state)
    data = _bytes_of(log) if log else b""
    return ProcedureStatus(
        procedure=procedure,
        state=state,
        driven=driven,
        log=log,
        last=_last_message(data),
        log_problem=_nul_bytes_in(data),
        budget={**(budget or {}), **_own_budget(state)},
        feedback=_pending_feedback(root, procedure, state),
    )


def _own_budget(state: State | None) -> Mapping[str, float]:
    """Return what the command line of a run said; what no flag takes is refused by its resume."""
    said = state.options.get("budget") if state else None
    try:
        return read_budget({} if said is None else said)
    except ValueError:
        return {}


def _pending_feedback(root: Path, procedure: str, state: State | None) -> tuple[str, ...]:
    """Return what people said that no iteration has been given yet."""
    if state is None:
        return ()
    try:
        asked = ControlFile.beside(state_path(root, procedure)).read().feedback
    except StateError:
        asked = {}
    return tuple({**state.feedback, **asked}.values())


def _is_driven(root: Path, procedure: str) -> bool:
    try:
        return is_driven(root, procedure)
    except (StateError, OSError):
        return False


def _log_of(root: Path, procedure: str, state: State | None) -> Path | None:
    """Return the log of the run that the state is of, else of the last one."""
    if state is not None:
        path = log_path(root, procedure, state.run)
        return path if path.is_file() else None
    found = (root / "log" / procedure).glob("*.jsonl")
    return max(found, key=lambda log: by_start(log.name), default=None)


def _bytes_of(log: Path) -> bytes:
    try:
        return read_file(log, MOST_BYTES)
    except (StateError, OSError):
        return b""


def _nul_bytes_in(data: bytes) -> str:
    """Return where a log has NUL bytes, as a crash of the machine leaves them."""
    first = data.find(b"\0")
    if first < 0:
        return ""
    many, line = data.count(b"\0"), data.count(b"\n", 0, first) + 1
    held = pluralize(many, "NUL byte")
    return f"line {line}: {held} of a crash; other lines are whole"


def _last_message(data: bytes) -> str:
    """Return the message of the last whole line of a log, in one line."""
    records = reversed(read_records(data[-_TAIL:])[0])
    messages = (one["message"] for one in records if isinstance(one.get("message"), str))
    return one_line(next(messages, ""), 200)


def describe_status(standing: ProcedureStatus) -> str:
    """Return where one procedure stands, for people."""
    state, time = standing.state, ""
    middle = list[tuple[str, str]]()
    if state:
        middle.append(
            ("Failures", f"{state.consecutive_failures}/{state.failure_threshold} in a row")
        )
        if state.elapsed:
            figures = str(statistics_of(state.elapsed)).partition(", ")[2]
            time = f"{format_duration(sum(state.elapsed))} ({figures})"
    missing = f"there is no procedure {standing.procedure} any more: declare it to go on"
    return status_text(
        "Procedure",
        standing.row().to_json(),
        first=[("Problem", standing.problem or (beyond_limit(state) if state else ""))],
        middle=middle,
        last=[
            ("Log", str(standing.log or "")),
            ("Log problem", standing.log_problem),
            ("Last line", standing.last),
            ("Problem", "" if standing.configured else missing),
            ("Continue with", standing.next_step),
        ],
        time=time,
        spend=state.spend if state else None,
        budget=standing.budget,
        feedback=len(standing.feedback),
    )
