"""One session of the user's pytest in a fresh process: what it came to, and what it imported.

Promises: the process sees the files as they are now (no module is stale, and byte code that lies
about in the project is not read), and is ended at the deadline with everything it started. What it
did not report is not known: a session without results has passed nothing.

All in the project is looked at between sessions (`drivers/reflex/project_watch.py`). Limits: code
of the artifacts runs in the session and could do there what it likes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_reflex.agents.stream import LineReader
from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles
from pytest_reflex.drivers.pytest_loop.observer import KNOWN, READ, SESSION, VOTES
from pytest_reflex.integrity.tool_inputs import CONFIGURATIONS, read_pytest_options
from pytest_reflex.model.plain import list_first
from pytest_reflex.model.targets import Target
from pytest_reflex.process.bytecode import write_bytecode
from pytest_reflex.process.child import FollowedFile
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.guard import private_caches, temporary_folder
from pytest_reflex.process.run import Finished, run
from pytest_reflex.session.fork import hand_on
from pytest_reflex.session.options import INSIDE
from pytest_reflex.storage.files import read_object

_OBSERVER = "pytest_reflex.drivers.pytest_loop.observer"
_KEPT = 1_000_000
_MOST_NOTED = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedPart:
    """One evaluation of a session: an artifact of a suite, or the marked tests.

    `evaluation` is on the wire; `rules` say per rule id what an evaluation does not. `narrowed`
    says why it may not know all its rules. Its checks start `programs`, each with its arguments,
    and declare that they write what `writes` means.
    """

    id: str
    evaluation: Mapping[str, Any]
    rules: Mapping[str, Mapping[str, Any]]
    artifact: str | None
    reason: str
    narrowed: str
    programs: Sequence[Sequence[str]] = ()
    writes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a child session came to.

    `status` is pytest's exit status, None where the process was ended from outside; `faults` are
    failures: with `rule` of a check, with `when` "collect" of a file, else of another test.
    `loaded` are the absolute paths of all modules, `imported` of those from elsewhere.
    """

    status: int | None
    output: str
    seconds: float
    ended: str = ""
    gate: str | None = None
    parts: tuple[EvaluatedPart, ...] = ()
    faults: tuple[Mapping[str, Any], ...] = ()
    not_run: tuple[Mapping[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    python_files: tuple[str, ...] = ()
    loaded: frozenset[str] = field(default_factory=frozenset)
    imported: frozenset[str] = field(default_factory=frozenset)

    @property
    def uncollected(self) -> list[Mapping[str, Any]]:
        """The files that could not be collected."""
        return [fault for fault in self.faults if fault["when"] == "collect"]

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """The failures of tests that are not checks of rules."""
        return [f for f in self.faults if "rule" not in f and f["when"] != "collect"]

    def text_of(self, part: str, rule: str) -> str:
        """Return what pytest wrote of the first failed check of a rule."""
        texts = (
            str(fault["text"])
            for fault in self.faults
            if (fault.get("target"), fault.get("rule")) == (part, rule)
        )
        return next(texts, "")

    @property
    def last_line(self) -> str:
        """The line with which pytest closes, without its rule."""
        lines = [line.strip("= ") for line in self.output.splitlines()]
        return next((line for line in reversed(lines) if line), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """How sessions are started: the user's arguments, where, and for how many seconds at most.

    `bytecode` is that of installed modules, by path: all else is compiled anew.
    """

    arguments: Sequence[str]
    cwd: Path
    seconds: float
    bytecode: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def run(self, target: Target | None = None) -> Session:
        """Run one session.

        A `target` has variables for it and known votes of its judge, and gets new votes meanwhile.
        """
        options = (" ".join(self.arguments), *read_pytest_options(self.cwd))
        with (
            temporary_folder("pytest-reflex-") as folder,
            private_caches(os.environ, options) as caches,
        ):
            write_bytecode(Path(caches["PYTHONPYCACHEPREFIX"]), self.bytecode)
            argv = [sys.executable, "-m", "pytest", "-p", _OBSERVER, *self.arguments]
            with _votes(folder, target) as votes:
                finished = run(
                    argv,
                    cwd=self.cwd,
                    env={
                        **_environment(folder),
                        **(target.environment if target else {}),
                        **caches,
                    },
                    timeout=self.seconds,
                    head=_KEPT,
                    tail=_KEPT,
                    notes=votes,
                )
            return _session(finished, folder, self.seconds)


def _votes(folder: Path, target: Target | None) -> AbstractContextManager[FollowedFile | None]:
    """Return the file in which a session reports votes; none where no one listens."""
    if target is None or target.heard is None:
        return nullcontext()
    known = json.dumps([cast.to_json() for cast in target.votes])
    (folder / KNOWN).write_text(known, encoding="utf-8")
    return FollowedFile(
        folder / VOTES, _MOST_NOTED, LineReader(_KEPT, lambda line: hand_on(target, line))
    )


def _environment(folder: Path) -> dict[str, str]:
    return copy_environment() | {INSIDE: str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def _session(finished: Finished, folder: Path, seconds: float) -> Session:
    output = (finished.stdout + finished.stderr).decode("utf-8", "replace")
    found = read_object(folder / SESSION)
    files = [read_object(path) for path in folder.glob(READ.format("*"))]

    def every(key: str) -> frozenset[str]:
        return frozenset(path for one in files for path in one.get(key, ()))

    return Session(
        status=None if finished.stopped else finished.returncode,
        output=output,
        seconds=finished.seconds,
        ended=_incomplete_reason(finished, seconds, found),
        gate=found.get("gate"),
        parts=tuple(EvaluatedPart(**part) for part in found.get("parts", ())),
        faults=tuple(found.get("faults", ())),
        not_run=tuple(found.get("not_run", ())),
        problems=tuple(found.get("problems", ())),
        python_files=tuple(found.get("python_files", ())),
        loaded=every("loaded"),
        imported=every("imported"),
    )


def _incomplete_reason(finished: Finished, seconds: float, found: Mapping[str, Any]) -> str:
    """Return why a session cannot be judged as a whole, or an empty string."""
    if finished.timed_out:
        return f"the session was stopped after {seconds:g} s"
    if finished.overflow:
        return "the session was stopped: it wrote too much"
    if finished.signal:
        return f"the session was ended by signal {finished.signal}"
    if not found:
        return f"the session left with status {finished.returncode} and reported nothing"
    if any(fault["when"] == "collect" for fault in found["faults"]):
        return "not every file could be collected"
    return {
        2: "the session was interrupted",
        3: "the session met an internal error of pytest or of a plugin",
        4: "pytest could not be used as it was called",
        5: "no test was collected",
    }.get(finished.returncode or 0, "")


_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """The files outside the project that the first session imported, as run_started keeps them."""

    read: tuple[str, ...]

    @classmethod
    def of(cls, session: Session, editable: EditableFiles) -> SessionStart:
        imported = (_inside(path, editable.root) for path in session.imported)
        return cls(read=tuple(sorted(path for path in imported if os.path.isabs(path))))

    def to_json(self) -> dict[str, Any]:
        return {"read": list(self.read)}

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> SessionStart:
        return cls(read=tuple(wire["read"]))


class TreeWatch:
    """Records what each session imported, and reports what of that was unknown at the start."""

    def __init__(self, start: SessionStart, root: Path) -> None:
        self._known, self._root = frozenset(start.read), root
        self._strange: tuple[str, ...] = ()

    def find_tampering(self) -> str:
        """Return what was imported and came from elsewhere; empty for nothing."""
        return _format_lines(
            f"{path} was imported, and is outside the project" for path in self._strange
        )

    def record_session(self, session: Session) -> None:
        """Take note of a session."""
        imported = sorted(_inside(path, self._root) for path in session.imported)
        self._strange = tuple(p for p in imported if os.path.isabs(p) and p not in self._known)


def configurations(editable: EditableFiles) -> list[str]:
    """Return the files that may be changed in all but what they say to pytest."""
    return [name for name in CONFIGURATIONS if editable.covers(name)]


def _inside(path: str, root: Path) -> str:
    """Return a path as it is noted: relative to the root where it lies below it, with slashes."""
    base = os.path.realpath(root) + os.sep
    real = os.path.realpath(path)
    return (real.removeprefix(base) if real != base[:-1] else ".").replace(os.sep, "/")


def _format_lines(found: Iterable[str]) -> str:
    return list_first(dict.fromkeys(found), _MOST_NAMED, "; ")
