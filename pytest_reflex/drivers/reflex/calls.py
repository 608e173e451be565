"""The calls of agents: what else than the artifact changed in their time."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from pytest_reflex.drivers.reflex.project_watch import ProjectWatch
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.words import Step


class Calls:
    """Looks at the project before and after each call; two may be under way at once.

    What somebody changed between calls pauses the run `alias`; `tampering` says what changed during
    one, empty for nothing. Steps in `free`, and answers that say so, come from this program.
    """

    def __init__(self, watch: ProjectWatch, alias: str, free: frozenset[Step]) -> None:
        self.tampering = ""
        self._watch, self._alias, self._free = watch, alias, free
        self._lock, self._open = Lock(), 0

    def watched(self, ask: Callable[[StepRequest], Reply], request: StepRequest) -> Reply:
        """Return an answer; raises PausedError where the project changed before the call."""
        if request.step in self._free:
            return ask(request)
        with self._lock:
            if not self._open:
                self._watch.refuse_changes(self._alias)
            self._open += 1
        self._watch.unseen = True
        try:
            reply = ask(request)
        finally:
            with self._lock:
                self._open -= 1
        if not reply.details.get("free") and (found := self._watch.look()):
            self.tampering = self.tampering or self._watch.in_call(found, request.step.value)
        return reply
