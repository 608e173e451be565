"""Executable checks that start before their turn, so that waiting for commands overlaps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from threading import Event

import pytest

from pytest_reflex.checks.run import run_one
from pytest_reflex.model.results import CheckResult
from pytest_reflex.process.pool import Pool
from pytest_reflex.session.items import CheckItem

_Key = tuple[str, str, int]


class EarlyStart:
    """A bounded pool that holds the checks of one session; empty where none starts a process.

    `cancel` is the event that every check of the session heeds.
    """

    def __init__(self, cancel: Event) -> None:
        self._pool: Pool[_Key, CheckResult] | None = None
        self._cancel = cancel

    def start(self, items: Iterable[pytest.Item]) -> None:
        """Start the executable checks among `items`, in their order.

        Items with marks of their own wait for their turn: they may be skipped.
        """
        chosen = [
            item
            for item in items
            if isinstance(item, CheckItem) and not item.in_process and not item.own_markers
        ]
        if len(chosen) < 2:
            return
        self._pool = Pool(cancel=self._cancel)
        for item in chosen:
            key = (item.subject.id, item.rule.id, item.index)
            call = partial(run_one, item.subject.prepared, item.rule.id, item.index)
            self._pool.submit(key, call)
            item.subject.early[item.rule.id, item.index] = _Started(self._pool, key)

    def stop(self) -> None:
        """End what still runs; after a whole session nothing does."""
        if self._pool:
            self._pool.close(cancel=True)


@dataclass(frozen=True, slots=True)
class _Started:
    pool: Pool[_Key, CheckResult]
    key: _Key

    def result(self) -> CheckResult:
        return self.pool.result(self.key)
