"""What may change while a loop runs, and in whose time it changed: looks at the project.

During the call of an agent nothing but the artifact may change; during EVALUATE what the checks
declare that they write may, and nothing else; between them a person may work, and then the run
waits until that person accepts it. The state at the start is in run_started, what was accepted
since in the events that say so: a resume compares with what was last known.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from pytest_reflex.drivers.reflex.new_modules import ALLOWED, OFFERED, allow_flags, find_new_modules
from pytest_reflex.drivers.reflex.steps import StepOutcome, interrupt_outcome
from pytest_reflex.errors import PausedError, StateError
from pytest_reflex.integrity.manifest import Change
from pytest_reflex.integrity.outside import LinkedPaths, OutsideFiles
from pytest_reflex.integrity.patterns import escape_path, is_meant
from pytest_reflex.integrity.project import STATE, ProjectTree, pack, printable, unpack
from pytest_reflex.integrity.tool_inputs import files_above
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event
from pytest_reflex.model.plain import escape_control, list_first
from pytest_reflex.model.run import Cost, cost_of, unknown_cost
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.storage.user_state import remove_planted_votes

PROJECT = "project"
ACCEPTED = "project_changes"
_MOST_NAMED = 3
_SOON = 1.0  # seconds in which no package is installed

Covers = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchScope:
    """What of a project is looked at, and what may change in it.

    `apart` are paths of our own, relative to the project. The agent may change what `may_change`
    means and what `editable` covers; checks may write what `writes` means. The options of a loop
    `of_session` (of pytest) have other names.
    """

    project: Path
    apart: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    editable: Covers = field(default=lambda path: False)
    of_session: bool = False

    @property
    def flag(self) -> str:
        """The option by which a person allows more."""
        return "--reflex-may-change" if self.of_session else "--may-change"

    def accept_command(self, alias: str) -> str:
        """Return the command by which a person accepts what was changed."""
        if self.of_session:
            return f"pytest --reflex-loop --reflex-resume {alias} --reflex-accept-changes"
        return f"pytest-reflex loop resume {alias} --accept-changes"

    def is_free(self, path: str) -> bool:
        """Return whether the agent may change a path."""
        name = printable(path)
        return is_meant(name, self.may_change) or self.editable(name)

    def declares(self, path: str) -> bool:
        """Return whether a check declares that it writes a path."""
        return is_meant(printable(path), self.writes)

    def follows(self, link: str) -> bool:
        """Return whether nothing may change behind a link."""
        named = (*self.may_change, *self.writes)
        is_named = any(one.startswith(f"{escape_path(link)}/") for one in named)
        return not (is_named or self.is_free(link) or self.declares(link))

    def to_json(self) -> dict[str, Any]:
        lists = {"apart": self.apart, "may_change": self.may_change, "writes": self.writes}
        return {key: list(paths) for key, paths in lists.items()}


@dataclass(frozen=True, slots=True)
class ProjectChanges:
    """What is different: `files` of the project by path, and everything in words."""

    files: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes)


class ProjectWatch:
    """Compares the project with what is known of it.

    `unseen` says that something else than this program may have been at work since the last look.
    """

    def __init__(self, scope: WatchScope, outside: OutsideFiles) -> None:
        self._scope, self._outside = scope, outside
        self._tree = ProjectTree(scope.project, (*STATE, *scope.apart))
        self._lock, self._looked = Lock(), -_SOON
        self._left, self._written = ProjectChanges(), dict[str, str]()
        self.unseen = True

    @classmethod
    def begin(
        cls,
        scope: WatchScope,
        programs: Iterable[str] = (),
        patterns: Iterable[str] = (),
        *,
        state: Path | None = None,
    ) -> ProjectWatch:
        """Know everything as it is now; see `OutsideFiles.take` for what lies outside the project.

        `state` is the folder of runs, which a link may lead to.
        """
        programs = list(programs)
        watch = cls(scope, OutsideFiles.nothing())
        watch._tree.take()
        links = watch._tree.links() if programs else ()
        behind = LinkedPaths.of(filter(scope.follows, links), scope.project, state)
        above = files_above(scope.project) if programs else ()
        held = (*patterns, *above, *behind.files)
        watch._outside = OutsideFiles.take(scope.project, programs, held, behind.folders)
        watch._looked, watch.unseen = time.monotonic(), False
        return watch

    @classmethod
    def resume(cls, scope: WatchScope, events: Iterable[Event]) -> ProjectWatch:
        """Know what the events of a run say; of a run that recorded nothing, what is there now.

        What may change is what was recorded at the start, too.
        """
        record: Mapping[str, Any] = {}
        accepted: list[Mapping[str, Any]] = []
        allowed: list[str] = []
        for event in events:
            allowed += map(escape_path, event.payload.get(ALLOWED, ()))
            record = event.payload.get(PROJECT, record)
            accepted += [event.payload[ACCEPTED]] if ACCEPTED in event.payload else []
        if not record:
            return cls.begin(scope)
        outside = [one["outside"] for one in accepted if "outside" in one]
        newest = (outside or [record["outside"]])[-1]
        again = replace(
            scope,
            apart=tuple(dict.fromkeys((*record["apart"], *scope.apart))),
            may_change=(*record["may_change"], *allowed),
            writes=tuple(record["writes"]),
        )
        watch = cls(again, OutsideFiles.from_json(newest, scope.project))
        watch._tree.decode(record["files"])
        for one in accepted:
            watch._tree.accept(unpack(one["files"]))
        return watch

    @property
    def project(self) -> Path:
        return self._scope.project

    def record(self) -> dict[str, Any]:
        """Return what run_started keeps."""
        found = {"files": self._tree.encode(), "outside": self._outside.to_json()}
        return {**self._scope.to_json(), **found}

    @property
    def unread(self) -> list[str]:
        """The files that are known by size and time alone: they are too large to be read."""
        return self._tree.unread

    def look(self, *, packages: bool = True) -> ProjectChanges:
        """Return what is not as it is known; raises StateError where this is unknown, twice.

        Without `packages` those that are installed are left out, if a look at them was just taken.
        """
        with self._lock:
            packages = packages or time.monotonic() - self._looked > _SOON
            try:
                files = self._tree.changes(self._scope.is_free)
            except StateError:  # the machine was short of something at that moment
                files = self._tree.changes(self._scope.is_free)
            outside = self._outside.changes(packages=packages)
            if packages:
                self._looked = time.monotonic()
            self.unseen = False
            return ProjectChanges(files, (*self._tree.describe(files), *outside))

    def accept(self, found: ProjectChanges) -> dict[str, Any]:
        """Know everything as it was found, and return what an event says of that."""
        is_of_project = len(found.changes) == len(found.files)
        self._tree.accept(found.files)
        accepted: dict[str, Any] = {"files": pack(found.files)}
        if not is_of_project:
            self._outside.accept()
            accepted["outside"] = self._outside.to_json()
        return {ACCEPTED: accepted}

    def refuse_changes(self, alias: str) -> None:
        """Raise PausedError where the project is not as it was when the run last looked."""
        self._refuse(self.look(packages=False), alias)

    def find_undeclared(self) -> tuple[Change, ...]:
        """Return what is different and no check declares to write."""
        return self._apart(self.look())[1].changes

    def before_evaluation(self, alias: str) -> str:
        """Look before EVALUATE; what its checks declare to write may be different.

        Return why nothing can be judged, because the last EVALUATE has left what it may not write;
        else an empty string. Raises PausedError where the project was changed from outside.
        """
        declared, rest = self._apart(self.look(packages=False))
        if rest and rest == self._left:
            return self._in_evaluation(rest)
        self._refuse(rest, alias)
        self._written = dict(declared.files)
        self._tree.accept(declared.files)
        return ""

    def after_evaluation(self) -> tuple[str, dict[str, Any]]:
        """Return why an evaluation does not count, or else what its event says was written."""
        declared, rest = self._apart(self.look(packages=self._outside.has_programs))
        self._left = rest
        if rest:
            return self._in_evaluation(rest), {}
        self._tree.accept(declared.files)
        self._written |= declared.files
        return "", {ACCEPTED: {"files": pack(self._written)}} if self._written else {}

    def _apart(self, found: ProjectChanges) -> tuple[ProjectChanges, ProjectChanges]:
        """Return the part of what was found that checks declare to write, and the rest."""
        is_declared = {path: self._scope.declares(path) for path in found.files}
        files = {p: digest for p, digest in found.files.items() if is_declared[p]}
        written = self._tree.describe(files)
        rest = {p: digest for p, digest in found.files.items() if not is_declared[p]}
        others = tuple(change for change in found.changes if change not in written)
        return ProjectChanges(files, written), ProjectChanges(rest, others)

    def _refuse(self, found: ProjectChanges, alias: str) -> None:
        if found:
            raise PausedError(
                "the project changed since the run last looked at it: "
                f"{format_changes(found.changes)}",
                hint=f"review the changes, then: {self._scope.accept_command(alias)}",
            )

    def in_call(self, found: ProjectChanges, step: str) -> str:
        """Return what to say of a change in the time of an agent's call."""
        allow = self._allow(found.changes)
        return f"modified during the agent's call ({step}): {format_changes(found.changes)}{allow}"

    def _in_evaluation(self, found: ProjectChanges) -> str:
        """Return what to say of a change that a check made and does not declare."""
        paths = [printable(path) for path in found.files][:_MOST_NAMED]
        hint = self._allow(found.changes)
        if paths and not self._scope.of_session:
            declared = escape_control(json.dumps(paths, ensure_ascii=False))
            hint = f" (where a check writes that, declare it there: writes: {declared})"
        return f"modified during EVALUATE: {format_changes(found.changes)}{hint}"

    def _allow(self, changes: Sequence[Change]) -> str:
        return allow_flags(changes, self._scope.flag, _MOST_NAMED)


def format_changes(changes: Iterable[Change]) -> str:
    """Return some changes in one line: path and what became of it."""
    return list_first((escape_control(str(change)) for change in changes), _MOST_NAMED, "; ")


def unread_text(paths: Sequence[str]) -> str:
    """Return that files are too large to be read, so that only their time and size are known."""
    shown = list_first((escape_control(printable(path)) for path in paths), _MOST_NAMED)
    return f"Too large to compare by content, compared by time and size: {shown}"


class Calls:
    """Looks at the project before and after each call; two may be under way at once.

    A change between calls pauses the run `alias`; `tampering` says what changed during one, empty
    for nothing, and `offered` has the new modules where it was nothing else. Steps in
    `free`, and answers that say so, come from this program. `begin` makes durable that the call of
    a step is under way.
    """

    def __init__(
        self,
        watch: ProjectWatch,
        alias: str,
        free: frozenset[Step],
        begin: Callable[[Step], object] = lambda step: None,
    ) -> None:
        self.tampering, self.offered = "", tuple[str, ...]()
        self._watch, self._alias, self._free, self._begin = watch, alias, free, begin
        self._lock, self._open = Lock(), 0
        self._costs: dict[Step, Callable[[], Cost | None]] = {}

    def watch_call(self, ask: Callable[[StepRequest], Reply], request: StepRequest) -> Reply:
        """Return an answer; raises PausedError where the project changed before the call."""
        if request.step in self._free:
            return ask(request)
        with self._lock:
            if not self._open:
                self._watch.refuse_changes(self._alias)
            self._open += 1
        self._watch.unseen = True
        began = time.monotonic()
        try:
            self._begin(request.step)
            self._costs[request.step] = lambda: unknown_cost(time.monotonic() - began)
            with remove_planted_votes(self._watch.project):
                reply = ask(request)
            self._costs[request.step] = lambda: cost_of(reply)
        finally:
            with self._lock:
                self._open -= 1
        if not reply.details.get("free") and (found := self._watch.look()):
            self.offered = (
                () if self.tampering else find_new_modules(found.changes, self._watch.project)
            )
            self.tampering = self.tampering or self._watch.in_call(found, request.step.value)
        return reply

    def offer(self) -> dict[str, Any]:
        """Return what the last event says of the new modules that a person may allow."""
        return {OFFERED: list(self.offered)} if self.offered else {}

    def settle(self, step: Step) -> None:
        """Note that what a step came to is durable, with its price."""
        self._costs.pop(step, None)

    def interrupted_calls(self) -> Iterator[StepOutcome]:
        """Yield an event for each call whose step is not durable: it was paid all the same."""
        for step, cost in list(self._costs.items()):
            self.settle(step)
            if paid := cost():
                yield interrupt_outcome(step, paid)
