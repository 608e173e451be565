"""Run commands early, a few at a time, and hand their results out by key."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from threading import Event
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.run import kill_running

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")

# A signal that arrives just before a wait does not end it: Python handles it afterwards.
_LISTEN = 0.2


def await_all(futures: Iterable[Future[Any]]) -> None:
    """Wait until all futures are done, in waits so short that no signal stays unheard."""
    while pending := [future for future in futures if not future.done()]:
        wait(pending, _LISTEN)


def iterate_done(futures: Iterable[Future[Result]]) -> Iterator[Future[Result]]:
    """Yield futures as they are done, in waits so short that no signal stays unheard."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, _LISTEN, FIRST_COMPLETED)
        yield from done


def default_workers() -> int:
    """Return how many commands run at once: one for each processor we may use, at least 2."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:
        usable = os.cpu_count() or 1
    return max(2, min(usable, 32))


class Pool(Generic[Key, Result]):
    """Calls that wait for processes, started in the order of `submit`.

    `cancel` is an event that every call must react to (`process.run.run` does): it is set when the
    pool is left by an exception, KeyboardInterrupt included, so that no child outlives it. Use the
    pool as a context manager, or call `close` in any case.
    """

    def __init__(self, workers: int | None = None, cancel: Event | None = None) -> None:
        self._cancel = cancel or Cancel()
        self._executor = ThreadPoolExecutor(
            max_workers=workers or default_workers(), thread_name_prefix="reflex"
        )
        self._futures: dict[Key, Future[Result]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(cancel=error is not None)

    @property
    def cancelled(self) -> bool:
        return self._cancel.is_set()

    def __contains__(self, key: Key) -> bool:
        return key in self._futures

    def submit(self, key: Key, call: Callable[[], Result]) -> Future[Result]:
        """Run `call` as soon as a worker is free; each key can be submitted once."""
        if key in self._futures:
            raise KeyError(f"submitted twice: {key!r}")
        self._futures[key] = self._executor.submit(call)
        return self._futures[key]

    def result(self, key: Key) -> Result:
        """Wait for the result of `key`; what the call raised is raised here.

        Raises CancelledError where the pool was cancelled before the call began.
        """
        await_all([self._futures[key]])
        return self._futures[key].result()

    def close(self, *, cancel: bool = False) -> None:
        """Wait for what runs; with `cancel`, end it and drop what has not begun.

        An interruption while it waits (the second, where the first one cancelled) kills what runs.
        """
        if cancel:
            self._cancel.set()
        self._executor.shutdown(wait=False, cancel_futures=cancel)
        running = list(self._futures.values())
        try:
            await_all(running)
        except BaseException:
            kill_running()
            await_all(running)
            raise
        # Its threads end now; one that still does would make a fork look unsafe.
        self._executor.shutdown(wait=True)


__all__ = ["CancelledError", "Pool", "await_all", "default_workers", "iterate_done"]
