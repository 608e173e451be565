"""The state of a run that the frame keeps for a driver, while this process owns it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pytest_reflex.drivers.common.calls import CallsUnderWay
from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.drivers.common.drive import Polled, Stop
from pytest_reflex.drivers.common.events import DriverEvent, Kind
from pytest_reflex.drivers.common.record import Record
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.drivers.common.snapshot import SnapshotFile
from pytest_reflex.errors import ExitCode, StateError
from pytest_reflex.model.run import Cost
from pytest_reflex.model.stop import ENDS

Say = Callable[[str], object]
Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NextStep:
    """What a driver has decided to do; an iteration has ended with it where it says so.

    Who `hears` has what people said in its questions: where it asked one, it is not said again. One
    that is not `limited` is done although a limit is met: it makes use of what was paid for.
    """

    name: str
    ends_iteration: bool = True
    interruptible: bool = True
    hears: bool = True
    limited: bool = True


@dataclass(frozen=True, slots=True)
class Done:
    """A step with its price: what it came to (None where it was cut short), and the data then."""

    step: NextStep
    cost: Cost | None
    fields: Fields | None = None
    data: Fields = field(default_factory=dict)


class RecordStore:
    """The state of one run while this process owns it."""

    def __init__(self, record: Record, file: SnapshotFile[Record], runs: RunFile, say: Say) -> None:
        self._record, self._file, self._runs, self._say = record, file, runs, say
        self._heard: set[str] = set()
        self._left = False
        self.calls = CallsUnderWay(self._save_calls)

    @property
    def state(self) -> Record:
        return self._record

    def requests(self) -> Requests:
        """Return what people ask; what cannot be read now is asked at the next look."""
        try:
            return self._runs.control.read()
        except StateError:
            return Requests()

    def begin(self, *, resumed: bool) -> Iterator[DriverEvent]:
        """Save the state with which the sitting begins; a new run hears nothing of an old one."""
        self._save(self._record)
        if not resumed:
            self._forget(self._runs.control.clear)
        limits = {"max_iterations": self._record.max_iterations, "budget": self._record.budget}
        yield self._event(Kind.STARTED, resumed=resumed, **limits)

    def poll(self) -> Generator[DriverEvent, None, Polled]:
        """Make durable what people say, once; they are not asked to say it again."""
        requests = self.requests()
        asked = requests.feedback
        known = self._heard | self._record.feedback.keys()
        if new := {key: text for key, text in asked.items() if key not in known}:
            self._save(replace(self._record, feedback={**self._record.feedback, **new}))
            self._heard.update(new)
            yield self._event(Kind.DECIDED, decision="feedback", count=len(new))
        if self._file.saved:
            self._forget(lambda: self._runs.control.take(asked))
        return Polled(requests=requests)

    def commit(self, done: Done) -> Iterator[DriverEvent]:
        """Save what a step came to; one that was cut short is paid for, and has not been."""
        record = replace(
            self._record,
            spend=self._record.spend.plus(done.cost),
            calls_under_way=(),
            changed_at=utc_now(),
        )
        if done.fields is not None:
            ends = int(done.step.ends_iteration)
            record = replace(record, iteration=record.iteration + ends)
            heard = {} if done.cost and done.step.hears else record.feedback
            record = replace(record, data=done.data, feedback=heard)
        self._save(record)
        if done.cost:
            cost = {key: value for key, value in done.cost.items() if key != "unknown"}
            yield self._event(Kind.ACTED, step=done.step.name, **cost)
        if done.fields is not None:
            kind = Kind.ITERATION if done.step.ends_iteration else Kind.STEP
            yield self._event(kind, **{**done.fields, "step": done.step.name})

    def end(self, stop: Stop) -> Iterator[DriverEvent]:
        """Save the end of the run."""
        yield from self.poll()
        self._save(self._record.ended(stop, utc_now()))
        self._left = True
        self._forget(self._runs.control.drop_stop)
        code = ENDS[stop.reason].exit_code
        code = code if self._file.saved or code else ExitCode.NOT_PERSISTED
        told = {"reason": stop.reason.value, "detail": stop.detail, "exit_code": int(code)}
        yield self._event(Kind.STOPPED, **told)

    def _save_calls(self, calls: tuple[Cost, ...]) -> None:
        self._record = replace(self._record, calls_under_way=calls)
        self._file.save(self._record, quietly=True)

    def interrupted(self) -> None:
        """Have calls in the spend that were paid and came to nothing; `leave` saves it."""
        spend = self._record.spend.plus(self.calls.take())
        self._record = replace(self._record, spend=spend, calls_under_way=())

    def leave(self) -> None:
        """Save the state as interrupted."""
        if not self._left:
            self._left = True
            self._save(self._record.left())

    def _save(self, record: Record) -> None:
        self._record = record
        self._file.save(record)

    def _forget(self, remove: Callable[[], None]) -> None:
        try:
            remove()
        except (StateError, OSError) as error:
            self._say(f"{self._runs.control.path} could not be changed ({error}): going on")

    def _event(self, kind: Kind, **fields: Any) -> DriverEvent:
        record = self._record
        return DriverEvent(
            driver=record.driver,
            run=record.run,
            kind=kind,
            iteration=record.iteration,
            fields=fields,
        )


def utc_now() -> str:
    """Return the time as state files have it."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
