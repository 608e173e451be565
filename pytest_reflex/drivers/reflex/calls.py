"""The calls of agents: what else than the artifact changed in their time, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from threading import Lock

from pytest_reflex.drivers.reflex.project_watch import ProjectWatch
from pytest_reflex.drivers.reflex.steps import Done
from pytest_reflex.model.cost import Cost, cost_of, unknown_cost
from pytest_reflex.model.events import EventKind
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
        self._costs: dict[Step, Callable[[], Cost | None]] = {}

    def watched(self, ask: Callable[[StepRequest], Reply], request: StepRequest) -> Reply:
        """Return an answer; raises PausedError where the project changed before the call."""
        if request.step in self._free:
            return ask(request)
        with self._lock:
            if not self._open:
                self._watch.refuse_changes(self._alias)
            self._open += 1
        began = time.monotonic()
        self._costs[request.step] = lambda: unknown_cost(time.monotonic() - began)
        try:
            reply = ask(request)
            self._costs[request.step] = lambda: cost_of(reply)
        finally:
            with self._lock:
                self._open -= 1
        if not reply.details.get("free") and (found := self._watch.look()):
            self.tampering = self.tampering or self._watch.in_call(found, request.step.value)
        return reply

    def settle(self, step: Step) -> None:
        """Note that what a step came to is durable, with its price."""
        self._costs.pop(step, None)

    def interrupted(self) -> Iterator[Done]:
        """Yield an event for each call whose step is not durable: it was paid all the same."""
        for step, cost in list(self._costs.items()):
            self.settle(step)
            if paid := cost():
                why = {"step": step.value, "message": "it was interrupted", "cancelled": True}
                yield Done(kind=EventKind.PHASE_ERROR, step=step, payload={**why, "cost": paid})
