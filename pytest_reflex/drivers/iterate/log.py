"""The log of the iteration loop: what the driver does, as lines for people or as JSON lines.

Each event goes to `say` (stderr) as far as the volume lets it, and whole to the log file.
Promises: foreign text cannot act on a terminal, begin a line of its own or carry a secret of our
environment; nothing that fails here stops a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.iterate import messages
from pytest_reflex.drivers.iterate.commits import IterationCommit
from pytest_reflex.drivers.iterate.decide import has_failed
from pytest_reflex.drivers.iterate.logfile import LogFile, LogLevel, LogRecord, Verbosity
from pytest_reflex.drivers.iterate.messages import statistics_of
from pytest_reflex.drivers.iterate.model import Bounds, FailureCause, GateResult, Iteration, State
from pytest_reflex.model.plain import escape_control, visible_json
from pytest_reflex.model.run import Spend
from pytest_reflex.model.stop import StopReason
from pytest_reflex.process.environment import redact
from pytest_reflex.reports.lines import Line, plain
from pytest_reflex.reports.run_lines import spend_text

Clock = Callable[[], datetime]
_FOREIGN = "    | "
_LONGEST_RUN = 10 * 365 * 86_400  # seconds; a start that is further away is none


def local_time() -> datetime:
    """Return the time as the user's clock shows it."""
    return datetime.now().astimezone()


class Log:
    """Reports one run of a procedure; the driver calls a method where something happens.

    `say` takes one line (or more) of text for stderr; `clock` gives aware times, shown in their
    own zone to people and in UTC to programs; `hidden` are values with the references that stand
    for them (`process.environment.secrets`). `render` makes text of lines;
    `gate_done` gets the name of each gate that was tried.
    """

    def __init__(
        self,
        procedure: str,
        say: Callable[[str], None],
        *,
        clock: Clock = local_time,
        as_json: bool = False,
        volume: Verbosity = Verbosity.NORMAL,
        hidden: Mapping[str, str] | None = None,
        file: LogFile | None = None,
        render: Callable[[Iterable[Line]], str] = plain,
        gate_done: Callable[[str], object] = lambda name: None,
    ) -> None:
        self._render, self._gate_done = render, gate_done
        self._procedure, self._say, self._clock = procedure, say, clock
        self._as_json, self._volume = as_json, volume
        self._hidden, self._file = hidden or {}, file
        self._began: datetime | None = None

    def report_start(self, bounds: Bounds) -> None:
        """Report that a fresh run begins, and what ends one without a limit."""
        self._began = self._clock()
        fields = {"max_iterations": bounds.max_iterations, "phase": "start"}
        text = messages.start_text(self._procedure, bounds)
        self._write("started", text, fields=fields)
        self._report_caps(bounds)

    def _report_caps(self, bounds: Bounds) -> None:
        if caps := messages.caps_text(bounds):
            self._write("unlimited", caps, fields={"phase": "start"})

    def report_resume(self, state: State, bounds: Bounds) -> None:
        """Report that a run goes on behind the finished iterations of `state`, under its limit."""
        fields = {
            "max_iterations": state.max_iterations,
            "iterations": state.iteration,
            "seconds": round(sum(state.elapsed), 3),
            "phase": "start",
        }
        text = messages.resume_text(state)
        self._write("resumed", text, fields=fields)
        text = messages.previous_text(state)
        self._write("previous", text, fields=fields)
        self._report_caps(bounds)

    def round_starts(self, number: int, total: int) -> None:
        """Report that iteration `number` (from 1) of `total` (0: no limit) begins."""
        text = f"{messages.place_text(number, total)} starting..."
        fields = {"iteration": number, "phase": "agent"}
        self._write("iteration_started", text, fields=fields)

    def report_gate(self, number: int, result: GateResult, *, before: bool = False) -> None:
        """Report what a gate came to; a warning where it failed and is not required.

        Another one is that it left processes running. It may have been tried `before` the first
        iteration.
        """
        if not before:
            self._gate_done(result.gate.name)
        alone = not result.passed and not result.gate.required
        is_warning = alone or result.left_children
        fields = {
            "iteration": number,
            "phase": "start" if before else "gates",
            "gate": result.gate.name,
            "required": result.gate.required,
            "outcome": result.outcome,
            "seconds": round(result.seconds, 3),
        }
        self._write(
            "gate",
            messages.gate_text(result),
            LogLevel.WARNING if is_warning else LogLevel.DEBUG,
            fields=fields,
            output=result.output,
        )

    def report_iteration(
        self, ended: Iteration, total: int, *, failures: int, threshold: int, aborting: bool = False
    ) -> None:
        """Report how an iteration ended; `failures` in a row count it too.

        The iteration that is `aborting` the run gets no completed line: the end follows.
        """
        if ended.failed:
            text = messages.failure_line(ended, failures, threshold)
            fields = {"iteration": ended.number, "phase": _phase(ended), "failures": failures}
            self._write(
                "failure",
                text,
                LogLevel.WARNING,
                fields=fields
                | {"cause": ended.cause, "detail": ended.detail, "threshold": threshold},
                output=ended.output,
                excerpt=messages.last_words(ended),
                below=messages.gate_reasons(ended, failures, threshold) if ended.failing else "",
            )
        elif ended.failing:
            fields = {"iteration": ended.number, "phase": "gates", "detail": ended.detail}
            below = messages.gate_reasons(ended, failures, threshold)
            text = messages.progress_text(ended)
            self._write("progress", text, LogLevel.WARNING, fields=fields, below=below)
        self._write(
            "iteration_completed",
            messages.completion_text(ended, total),
            fields=_round_fields(ended),
            silent=aborting,
        )

    def report_unchanged(self, count: int, limit: int) -> None:
        """Warn that `count` iterations in a row (of `limit`, 0: none) left the tree as it was."""
        self._write(
            "unchanged",
            messages.unchanged_text(count, limit),
            LogLevel.WARNING,
            fields={"rounds": count, "phase": "end"},
        )

    def report_answer(self, number: int, text: str, length: int) -> None:
        """Report what a tool said: the end of it, of a `length` in characters."""
        fields = {"iteration": number, "phase": "agent"}
        message = messages.answer_text(number, length, len(text))
        self._write("answer", message, LogLevel.DEBUG, fields=fields, output=text.strip("\n"))

    def report_spend(self, round_: Iteration, state: State) -> None:
        """Report what an iteration cost, and the run so far, where the tool says so."""
        spend = Spend().plus(round_.cost)
        if spend.usd or spend.tokens:
            text = messages.spend_text(round_.number, spend_text(spend), spend_text(state.spend))
            self._write(
                "spent", text, LogLevel.DEBUG, fields={"iteration": round_.number, "phase": "agent"}
            )

    def report_commit(self, number: int, made: IterationCommit) -> None:
        """Report which commit holds an iteration, and how it is undone; or why there is none."""
        fields: dict[str, Any] = {"iteration": number, "phase": "end"}
        if made.commit:
            text = messages.commit_text(number, made.commit, len(made.files))
            found = {"commit": made.commit, "files": list(made.files)}
            self._write("commit", text, fields=fields | found)
        for problem in made.problems:
            self._write("message", problem, LogLevel.WARNING, fields=fields)

    def partial(self, number: int, *, path: Path | None = None, problem: str = "") -> None:
        """Report where the partial output of a tool is kept, or why it is not."""
        fields: dict[str, Any] = {"iteration": number, "phase": "agent"}
        self._write(
            "partial_output",
            messages.partial_text(number, path, problem),
            LogLevel.WARNING,
            fields=fields | ({"path": str(path)} if path else {}),
        )

    def report_unsaved(self, text: str) -> None:
        """Report what matters only now: the file does not keep it."""
        record = LogRecord(event="message", message=text)
        if record.is_shown(self._volume):
            self._show(record, self._clock())

    def info(self, text: str) -> None:
        self._write("message", text)

    def warning(self, text: str) -> None:
        self._write("message", text, LogLevel.WARNING)

    def error(self, text: str) -> None:
        self._write("message", text, LogLevel.ERROR)

    def feedback(self, taken: Mapping[str, str]) -> None:
        """Report that a person's words, by their ids, are taken up for the next iteration."""
        fields = {"count": len(taken), "ids": list(taken), "phase": "start"}
        text = messages.feedback_text(len(taken))
        self._write("feedback", text, fields=fields)

    def report_end(
        self, ending: StopReason, state: State, *, saved: bool = True, detail: str = ""
    ) -> None:
        """Report the end and, if enabled, the statistics; then let go of the file."""
        figures = statistics_of(state.elapsed)
        fields: dict[str, Any] = {"iterations": state.iteration, "phase": "end"}
        if figures.count:
            text = f"Statistics: {figures}"
            details = fields | {"statistics": figures.to_json()}
            self._write("statistics", text, LogLevel.DEBUG, fields=details)
        if state.spend.usd or state.spend.tokens:
            self._write("spent", f"Spent: {spend_text(state.spend)}", fields={"phase": "end"})
        total = self._seconds_since_start(state)
        self._write(
            "ended",
            messages.end_text(ending, state, seconds=total, saved=saved, detail=detail),
            _LEVEL_OF.get(ending, LogLevel.INFO),
            fields=fields
            | {
                "outcome": ending.value,
                "status": state.status.value,
                "seconds": round(sum(state.elapsed), 3),
                "total_seconds": round(total, 3),
                "spend": state.spend.to_json(),
            },
            last=True,
            tone=_tone_of(ending, state),
        )
        if self._file is not None:
            self._file.close()

    def _seconds_since_start(self, state: State) -> float:
        """Return the time since a run began; that of its iterations where the start is unknown."""
        worked = sum(state.elapsed)
        try:
            began = self._began or datetime.fromisoformat(state.started_at)
            total = (self._clock() - began).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return worked
        return total if worked <= total + 1 and total < _LONGEST_RUN else worked

    def _write(
        self, event: str, message: str, level: LogLevel = LogLevel.INFO, **more: Any
    ) -> None:
        record, now = LogRecord(event=event, message=message, level=level, **more), self._clock()
        if record.is_shown(self._volume):
            self._show(record, now)
        if self._file is not None:
            self._file.append(self._as_line(record, now))

    def _show(self, record: LogRecord, now: datetime) -> None:
        self._say(self._as_line(record, now) if self._as_json else self._as_text(record, now))

    def _as_text(self, record: LogRecord, now: datetime) -> str:
        loud = record.level in (LogLevel.WARNING, LogLevel.ERROR)
        word = f"{record.level.value.upper()}: " if loud else ""
        message = self._safe(record.message).replace("\n", "\\n")
        lines = [f"[{now:%H:%M:%S}] {word}{message}"]
        shown = record.output if self._volume is Verbosity.VERBOSE else record.excerpt
        for text in filter(None, (record.below, shown)):
            lines += [_FOREIGN + line for line in self._safe(text).split("\n")]
        tone = record.tone or _TONES.get(record.level, "")
        return self._render([(line, tone)] for line in lines)

    def _as_line(self, record: LogRecord, now: datetime) -> str:
        document: dict[str, Any] = {
            "time": f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z",
            "level": record.level.value,
            "event": record.event,
            "procedure": self._procedure,
            **{key: self._redact(value) for key, value in record.fields.items()},
            "message": self._redact(record.message),
        }
        if record.output:
            document["output"] = self._redact(record.output)
        return visible_json(document)

    def _redact(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._redact(one) for one in value]
        return redact(str(value), self._hidden) if isinstance(value, str) else value

    def _safe(self, text: str) -> str:
        return escape_control(redact(text, self._hidden).replace("\r\n", "\n"))


_MOST_FILES = 50
_TONES = {LogLevel.WARNING: "mild", LogLevel.ERROR: "bad"}


def _tone_of(ending: StopReason, state: State) -> str:
    """Return the tone of an end that is a good one, or nearly."""
    if ending is StopReason.LIMIT and has_failed(state):
        return "mild"
    return "good" if ending in (StopReason.LIMIT, StopReason.SUCCESS) else ""


_LEVEL_OF = {
    StopReason.FAILURES: LogLevel.ERROR,
    StopReason.UNCHANGED: LogLevel.WARNING,
    StopReason.PERSON_NEEDED: LogLevel.WARNING,
    StopReason.RATE_LIMIT: LogLevel.WARNING,
    StopReason.DENIED: LogLevel.ERROR,
}


def _phase(round_: Iteration) -> str:
    return "gates" if round_.cause is FailureCause.GATE else "agent"


def _round_fields(round_: Iteration) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "iteration": round_.number,
        "phase": "gates" if round_.gates else _phase(round_),
        "outcome": round_.outcome,
        "seconds": round(round_.seconds, 3),
        "changed": round_.changed,
        **({"gates": {one.gate.name: one.outcome for one in round_.gates}} if round_.gates else {}),
        **_files_fields(round_.files),
        "usd": round_.usd,
        "tokens": round_.tokens,
    }
    return fields | ({"cause": round_.cause, "detail": round_.detail} if round_.failed else {})


def _files_fields(files: tuple[str, ...] | None) -> dict[str, Any]:
    """Return how many files an iteration changed, and which, as long as they are not too many."""
    if files is None:
        return {"files_changed": None}
    return {"files_changed": len(files), "files": list(files[:_MOST_FILES])}
