"""What a judge was asked and answered, kept in a file until the recorder has written it down.

EVALUATE may run in a process of its own, which cannot write to the recording: both know the file.
Promises: a call is in the file before its answer is used; only its owner may read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from pytest_reflex.model.judged import Case
from pytest_reflex.model.steps import Question, Reply
from pytest_reflex.process.temporary import make_folder, remove_folder

_FILE = "calls.jsonl"


@dataclass(slots=True, eq=False)
class Overheard:
    """Hears an `AgentJudge`; close it in the end."""

    _folder: Path | None = None
    _lock: Lock = field(default_factory=Lock)

    def begin(self) -> None:
        """Make the file's folder; called before the process that asks is started."""
        if self._folder is None:
            self._folder = make_folder("reflex-heard-")

    def __call__(self, case: Case, question: Question, reply: Reply) -> None:
        """Write one call; votes on different rules come from several threads."""
        if self._folder is None:
            return
        wire = {
            "prompt": question.prompt,
            "text": reply.text,
            "agent": reply.agent,
            "error": reply.error,
            "seconds": reply.seconds,
            "usd": reply.usd,
            "tokens": reply.tokens,
            "details": dict(reply.details),
        }
        line = json.dumps(wire, default=str).encode() + b"\n"
        with self._lock:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            descriptor = os.open(self._folder / _FILE, flags, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)

    def drain(self) -> Iterator[tuple[str, Reply]]:
        """Yield the prompts and answers so far, each once; half a line was not used."""
        path = self._folder and self._folder / _FILE
        if path is None or not path.exists():
            return
        lines = path.read_bytes().split(b"\n")[:-1]
        path.unlink()
        for line in lines:
            wire: dict[str, Any] = json.loads(line)
            prompt = wire.pop("prompt")
            yield prompt, Reply(**wire)

    def close(self) -> None:
        """Remove the file; closing twice is fine."""
        if self._folder is not None:
            remove_folder(self._folder)
            self._folder = None
