"""What people ask of a run that another process drives: to stop, to stop now, to heed a critique.

A request stands in a file until the driver has taken it. `Control` is given it before each step,
and looks each second beside one. Promises: a request to stop that was seen counts, also where it is
taken back later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

STOP, NOW, FEEDBACK = "stop_requested", "stop_now", "feedback"
POLL = 1.0
"""Seconds between two looks beside a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """What is asked of one run.

    `stop` is a reason, None where nobody asked; `now` ends the agent too; `feedback` maps an id to
    a text.
    """

    stop: str | None = None
    now: bool = False
    feedback: Mapping[str, str] = field(default_factory=dict)

    def __or__(self, more: Requests) -> Requests:
        return Requests(
            stop=self.stop if more.stop is None else more.stop,
            now=self.now or more.now,
            feedback={**self.feedback, **more.feedback},
        )

    def without(self, ids: Iterable[str]) -> Requests:
        """Return what is left when some feedback is taken."""
        taken = frozenset(ids)
        return replace(self, feedback={k: v for k, v in self.feedback.items() if k not in taken})

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {}
        if self.stop is not None:
            wire[STOP] = self.stop
        if self.now:
            wire[NOW] = True
        if self.feedback:
            wire[FEEDBACK] = [{"id": key, "text": text} for key, text in self.feedback.items()]
        return wire

    @classmethod
    def from_json(cls, wire: object) -> Requests:
        """Read requests; what is not as this program writes it counts as not there."""
        if not isinstance(wire, dict):
            return cls()
        stop, rows = wire.get(STOP), wire.get(FEEDBACK)
        feedback = {
            row["id"]: row["text"]
            for row in (rows if isinstance(rows, list) else [])
            if isinstance(row, dict) and isinstance(row.get("id"), str)
            if isinstance(row.get("text"), str)
        }
        return cls(
            stop=None if stop is None else str(stop), now=wire.get(NOW) is True, feedback=feedback
        )


class Control:
    """Whether a person has asked a run to stop; sets `cancel` where the agent has to end too.

    `look` returns the requests as they stand now.
    """

    def __init__(self, look: Callable[[], Requests], cancel: threading.Event) -> None:
        self._look, self._cancel = look, cancel
        self._reason: str | None = None

    def heed(self, asked: Requests) -> str | None:
        """Return the reason of a request to stop, now or at an earlier look; None for none."""
        if asked.stop is not None:
            self._reason = asked.stop
            if asked.now:
                self._cancel.set()
        return self._reason

    @property
    def has_cancelled(self) -> bool:
        """Whether a person had the step that is under way ended."""
        return self._reason is not None and self._cancel.is_set()

    @contextmanager
    def watched(self, interruptible: bool) -> Iterator[None]:
        """Look each second while a step goes on that can be cut short."""
        if not interruptible:
            yield
            return
        over = threading.Event()
        looker = threading.Thread(target=self._keep_looking, args=(over,), daemon=True)
        looker.start()
        try:
            yield
        finally:
            over.set()
            looker.join()

    def _keep_looking(self, over: threading.Event) -> None:
        while not over.wait(POLL) and not self._cancel.is_set():
            self.heed(self._look())
