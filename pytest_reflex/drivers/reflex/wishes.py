"""What people ask of a run while it is driven: looked at before each step and beside agents.

Promises: a request to stop that was seen counts, even if it is taken back later. Limits: an
evaluation under way is finished first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.steps import Done
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.words import Step

POLL = 1.0


class Wishes:
    """Whether a person has asked the run to stop; sets `cancel` where the agent has to end too."""

    def __init__(self, files: RunFiles, cancel: threading.Event) -> None:
        self._files, self._cancel = files, cancel
        self._reason: str | None = None

    def stop_reason(self) -> str | None:
        """Look, and return the reason of a request to stop, None for none."""
        asked = self._files.requests()
        if asked.stop is not None:
            self._reason = asked.stop
            if asked.now:
                self._cancel.set()
        return self._reason

    @contextmanager
    def polled(self, step: Step | None) -> Iterator[None]:
        """Look each second while an agent works; not beside EVALUATE, which forks."""
        if step in (None, Step.EVALUATE):
            yield
            return
        over = threading.Event()
        looker = threading.Thread(target=self._look, args=(over,), daemon=True)
        looker.start()
        try:
            yield
        finally:
            over.set()
            looker.join()

    def _look(self, over: threading.Event) -> None:
        while not over.wait(POLL) and not self._cancel.is_set():
            self.stop_reason()

    def marked(self, done: Done) -> Done:
        """Return what a step came to; one that a person ended has not failed."""
        if done.kind is not EventKind.PHASE_ERROR or self._reason is None:
            return done
        if not self._cancel.is_set():
            return done
        ended = {"cancelled": True, "message": "it was ended, as a person asked"}
        return replace(done, payload={**done.payload, **ended})
