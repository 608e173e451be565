"""Hold data against a JSON Schema in a process that can be killed.

A schema is a program: patterns may run away, references may multiply, data may be deep. One warm
child validates for this process, one question at a time; it ends with us, when it was idle for some
seconds, or at `close`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from pytest_reflex.checks.structure.data import schema_child
from pytest_reflex.errors import ArtifactError
from pytest_reflex.process.worker import (
    STARTING,
    DiedError,
    KeptWorker,
    LateError,
    Worker,
    worker_command,
)

SECONDS = 10.0
MOST_FAULTS = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the value at a path of keys and indices, and by which pattern, if any."""

    path: tuple[Any, ...]
    message: str
    pattern: str = ""


class SchemaProcess(KeptWorker):
    """A killable child that validates; started on the first question and after each loss."""

    def faults(self, schema: str, value: str, seconds: float = SECONDS) -> list[Fault]:
        """Return what is wrong with a value, both as JSON text; at most `MOST_FAULTS`.

        Raises ArtifactError where that takes longer than `seconds`, or is unknown.
        """
        with self._lock:
            try:
                raw = self._ask(schema, value, seconds)
            except LateError:
                raise ArtifactError(
                    f"validation against the schema took longer than {seconds:g} s"
                ) from None
            except DiedError:
                raise ArtifactError("the process that validates died") from None
        answer = json.loads(raw)
        if "error" in answer:
            raise ArtifactError(answer["error"])
        return [
            Fault(tuple(fault["path"]), fault["message"], fault.get("pattern", ""))
            for fault in answer["faults"]
        ]

    def _ask(self, schema: str, value: str, seconds: float) -> bytes:
        worker = self._ready()
        head = f'{{"schema": {schema}, "limit": {MOST_FAULTS}}}\n'
        return worker.ask((head + value).encode("utf-8", "backslashreplace"), seconds)

    def _ready(self) -> Worker:
        if self._worker is not None and self._worker.usable:
            try:
                self._worker.ask(b"", STARTING)
                return self._worker
            except DiedError:  # it went idle at this very moment
                self._worker = None
        self._drop()
        return self._start(worker_command(schema_child.__file__, json.dumps(sys.path)))


SCHEMAS = SchemaProcess()
SCHEMAS.close_at_exit()
