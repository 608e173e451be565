"""The state of one run of an iteration loop: durable before an iteration is reported."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace

from pytest_reflex.drivers.common.control import ControlFile, Requests
from pytest_reflex.drivers.common.drive import PollResult, Stop
from pytest_reflex.drivers.common.events import DriverEvent
from pytest_reflex.drivers.common.protection import Modified
from pytest_reflex.drivers.common.record import CallsUnderWay
from pytest_reflex.drivers.common.snapshot import SnapshotFile
from pytest_reflex.drivers.iterate import logfile
from pytest_reflex.drivers.iterate.decide import apply, end, exit_code, is_complete
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.messages import unread_feedback_text
from pytest_reflex.drivers.iterate.model import Baseline, CutIteration, Iteration, State
from pytest_reflex.errors import ExitCode, ReflexError, StateError
from pytest_reflex.model.run import Cost
from pytest_reflex.model.stop import StopReason

_REMOVED = (StopReason.SUCCESS, StopReason.LIMIT)


class IterateStore:
    """The state while this process owns it. `modified` gives the files of gates that changed.

    A run that is `fresh` gets no feedback that was given to an earlier one. `ending` reports what
    is to be reported before the last line.
    """

    def __init__(
        self,
        state: State,
        *,
        file: SnapshotFile[State],
        log: Log,
        modified: Callable[[], Mapping[str, Modified]],
        now: Callable[[], str],
        fresh: bool = False,
        ending: Callable[[], None] = lambda: None,
    ) -> None:
        self._state, self._file, self._log = state, file, log
        self._ending = ending
        self._modified, self._now = modified, now
        self._control = ControlFile.beside(file.path)
        self.calls = CallsUnderWay(self._save_calls)
        self.has_ended = self._left = False
        self._fresh = fresh
        self._heard: set[str] = set()
        self.exit_code = ExitCode.OK

    @property
    def state(self) -> State:
        return self._state

    @property
    def saved(self) -> bool:
        return self._file.saved

    def begin(self) -> None:
        """Save the state with which the sitting begins."""
        self._file.save(self._state)
        if self._fresh:
            self._forget(lambda: self._control.take(self.requests().feedback))

    def keep(self) -> None:
        """See that we still own the run; raises LockedError where another process does."""
        self._file.keep()

    def requests(self) -> Requests:
        """Return what people ask of this run; what cannot be read now is asked at the next look."""
        try:
            return self._control.read()
        except StateError:
            return Requests()

    def poll(self) -> Generator[DriverEvent, None, PollResult]:
        """Make durable what people say of the work, each text once.

        Where no iteration follows, nothing is taken.
        """
        requests = self.requests()
        if is_complete(self._state):
            return PollResult(requests=requests)
        asked = requests.feedback
        known = self._heard | self._state.feedback.keys()
        if new := {key: text for key, text in asked.items() if key not in known}:
            self._state = replace(self._state, feedback={**self._state.feedback, **new})
            self._file.save(self._state)
            self._heard.update(new)
            self._log.feedback(new)
            yield logfile.feedback_taken(self._state, len(new))
            requests = self.requests()  # the listener may have taken some time
        if self._file.saved:
            self._forget(lambda: self._control.take(asked))
        return PollResult(requests=requests)

    def _report_unread(self) -> None:
        """Warn of feedback that came too late: there is no next iteration."""
        late = {key: "" for key in self.requests().feedback if key not in self._heard}
        if number := len({**self._state.feedback, **late}):
            self._log.warning(unread_feedback_text(number))

    def _forget(self, remove: Callable[[], None]) -> None:
        self._control.forget(remove, self._log.warning)

    def commit(self, outcome: Iteration | CutIteration | Baseline) -> Iterator[DriverEvent]:
        """Count an iteration and save that; after an interruption it is counted, or not begun."""
        self.calls.take()  # the outcome has what they cost
        state = replace(apply(self._state, outcome, self._now()), calls=())
        self._state = self._add_modified(state)
        self._file.save(self._state)
        if not isinstance(outcome, Baseline):
            yield from logfile.of_outcome(self._state, outcome)

    def end(self, stop: Stop) -> Iterator[DriverEvent]:
        """Save the end, or remove the state where there is nothing left to do."""
        yield from self.poll()
        if stop.reason in _REMOVED:
            self._report_unread()
        self._state = end(self._state, stop.reason)
        code = exit_code(stop.reason, self._state)
        if stop.reason in _REMOVED:
            self._file.remove()
            self._forget(self._control.clear)
        else:
            self._file.save(self._state)
            self._forget(self._control.drop_stop)
        self._ending()
        self._log.report_end(stop.reason, self._state, saved=self._file.saved, detail=stop.detail)
        self.exit_code = code if self._file.saved or code else ExitCode.NOT_PERSISTED
        self.has_ended = self._left = True  # nothing is under way any more
        yield logfile.stop_event(self._state, stop, self.exit_code)

    def _save_calls(self, calls: tuple[Cost, ...]) -> None:
        self._state = replace(self._state, calls=calls)
        self._file.save(self._state, quietly=True)

    def count_pending_calls(self) -> None:
        """Have calls in the spend that were paid and came to nothing; `leave` saves it."""
        if not self._left:
            spend = self._state.spend.plus(self.calls.take())
            self._state = replace(self._state, spend=spend, calls=())

    def leave(self) -> None:
        """Save the state as interrupted."""
        if not self._left:
            self._left = True
            self._state = end(self._add_modified(self._state), StopReason.INTERRUPTED)
            self._file.save(self._state)

    def _add_modified(self, state: State) -> State:
        """Return a state that has the files of gates that are modified: a resume goes on so."""
        try:
            return replace(state, modified_files=self._modified())
        except ReflexError:  # not readable at this moment: the gates report that themselves
            return state
