"""What a session is to judge: known from collection, before anything runs and whatever dies later.

Under xdist the workers collect and the controller decides. A worker writes its plan to a folder
that the controller made; workers collect the same things, so one plan that arrived is enough. The
state is what one session knows of its rules: kinds of checks, compiled targets, the plan.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pytest

from pytest_reflex.checks.reading import MEGABYTE, SIZE_LIMIT
from pytest_reflex.checks.registry import Registry
from pytest_reflex.checks.run import PreparedTarget, prepare
from pytest_reflex.errors import Place, Problem, TooLargeError
from pytest_reflex.model.enums import Level
from pytest_reflex.model.judged import CastVote, Judge, JudgeWhen
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.model.targets import Target
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.session import options
from pytest_reflex.session.items import Subject
from pytest_reflex.session.results import Results

if TYPE_CHECKING:
    from pytest_reflex.checks.groups import Groups

FILE = "plan.json"
FOLDER = "reflex_folder"
"""Where a worker gets the folder that its controller made."""


@dataclass(frozen=True, slots=True)
class PlannedTarget:
    """One target, the digest of its artifact as collection read it, and what was not read.

    `limit` is in bytes: a larger artifact is refused, and a larger file of a folder not read.
    """

    target: Target
    sha256: str
    unread: tuple[str, ...] = ()
    limit: int = SIZE_LIMIT

    def check_ids(self, target_id: str) -> Iterator[tuple[str, tuple[str, int]]]:
        """Yield the node id of every expected check with its rule id and number."""
        for rule in self.target.rules:
            for index in range(len(rule.checks)):
                yield f"{target_id}::{rule.id}::{index}", (rule.id, index)


@dataclass(slots=True)
class SessionPlan:
    """Targets by node id, marked tests by node id, and what collection left out.

    `left_out` are node ids that were expected and not selected (-k, -m, --deselect, --lf, an
    argument that names single items). `narrowed` says why further marked tests may be unknown.
    `unread` are files that have rules and were not collected, each with the reason.
    """

    targets: dict[str, PlannedTarget] = field(default_factory=dict)
    marked: dict[str, Rule] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    narrowed: str = ""
    unread: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def expected_ids(self) -> Iterator[str]:
        """Yield the node ids of all expected items."""
        yield from self.check_ids()
        yield from self.marked

    def check_ids(self) -> Iterator[str]:
        """Yield the node ids of the checks of all targets."""
        for target_id, planned in self.targets.items():
            for node_id, _ in planned.check_ids(target_id):
                yield node_id

    def to_json(self) -> dict[str, Any]:
        """Return plain data; criteria that many artifacts share stand in it once."""
        sets = {id(one.target.criteria): one.target.criteria for one in self.targets.values()}
        number = {key: index for index, key in enumerate(sets)}
        return {
            "criteria": [criteria.to_json() for criteria in sets.values()],
            "targets": {
                key: _target_to_json(one, number[id(one.target.criteria)])
                for key, one in self.targets.items()
            },
            "marked": {key: _rule_to_json(rule) for key, rule in self.marked.items()},
            "left_out": sorted(self.left_out),
            "narrowed": self.narrowed,
            "unread": self.unread,
            "problems": [problem_to_json(problem) for problem in self.problems],
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> SessionPlan:
        sets = [Criteria.from_json(one) for one in wire["criteria"]]
        return cls(
            targets={key: _target_from_json(one, sets) for key, one in wire["targets"].items()},
            marked={key: _rule_from_json(one) for key, one in wire["marked"].items()},
            left_out=set(wire["left_out"]),
            narrowed=wire["narrowed"],
            unread=wire["unread"],
            problems=[problem_from_json(one) for one in wire["problems"]],
        )


class VoteListener(Protocol):
    """Gets each vote that is not `known`, and of its question before an agent is asked."""

    known: tuple[CastVote, ...]

    def __call__(self, cast: CastVote) -> object: ...

    def begin_vote(self, question: str) -> object: ...


def write_plan(plan: SessionPlan, folder: Path) -> None:
    """Write a worker's plan where the controller looks for it: what any worker writes is the same.

    A folder that cannot be written (a worker on another machine) is not a problem: the controller
    then reads the suite files itself.
    """
    draft = folder / f"{FILE}.{os.getpid()}"
    try:
        draft.write_text(json.dumps(plan.to_json(), default=str), encoding="utf-8")
        os.replace(draft, folder / FILE)
    except OSError:
        return


def take_over(folder: Path) -> SessionPlan | None:
    """Return the plan that a worker handed over; None where none arrived."""
    try:
        return SessionPlan.from_json(json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def problem_to_json(problem: Problem) -> dict[str, Any]:
    wire: dict[str, Any] = {"message": problem.message}
    if problem.place:
        wire["location"] = problem.place.to_json()
    if problem.hint:
        wire["hint"] = problem.hint
    if problem.rule_id:
        wire["rule"] = problem.rule_id
    if problem.refused:
        wire["refused"] = True
    return wire


def problem_from_json(wire: Mapping[str, Any]) -> Problem:
    return Problem(
        message=wire["message"],
        place=Place.from_json(wire.get("location")),
        hint=wire.get("hint", ""),
        rule_id=wire.get("rule", ""),
        refused=wire.get("refused", False),
    )


def _target_to_json(planned: PlannedTarget, criteria: int) -> dict[str, Any]:
    target = planned.target
    return {
        "criteria": criteria,
        "level": target.level.value,
        "artifact": str(target.artifact),
        "root": str(target.root),
        "label": target.label,
        "threshold": str(target.bar),
        "outside": target.outside,
        "sha256": planned.sha256,
        "unread": list(planned.unread),
        "limit": planned.limit,
    }


def _target_from_json(wire: Mapping[str, Any], sets: Sequence[Criteria]) -> PlannedTarget:
    target = Target(
        criteria=sets[wire["criteria"]],
        level=Level(wire["level"]),
        artifact=Path(wire["artifact"]),
        root=Path(wire["root"]),
        label=wire["label"],
        threshold=Fraction(wire["threshold"]),
        outside=wire["outside"],
    )
    return PlannedTarget(target, wire["sha256"], tuple(wire["unread"]), wire["limit"])


def _rule_to_json(rule: Rule) -> dict[str, Any]:
    return {**rule.to_json(), "location": rule.place and rule.place.to_json()}


def _rule_from_json(wire: Mapping[str, Any]) -> Rule:
    return replace(Rule.from_json(wire), place=Place.from_json(wire["location"]))


class SessionState:
    """The state in `config.stash`: filled by the collection, read by the gate.

    `named` are the ids of the targets that the options name, by the path of their artifact;
    `results` are those of the session's reports; `cancel` ends the commands that run; `judge` is
    who judges what no program can, where one is configured, and `judge_when` says when: a worker
    does not know what failed in others, so it always asks. `ended` is True where `pytest.exit`
    ended the session before all was collected.
    """

    key: ClassVar[pytest.StashKey[SessionState]] = pytest.StashKey()
    votes: ClassVar[pytest.StashKey[VoteListener]] = pytest.StashKey()
    """Has the known votes and gets the new ones, where an evaluator wants them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.plan = SessionPlan()
        self.results = Results()
        self.subjects: dict[str, Subject] = {}
        self.named: dict[Path, str] = {}
        self.cancel = Cancel()
        self.judge: Judge | None = None
        self.judge_when = JudgeWhen.ALWAYS
        self.ended = False
        self._groups: Groups | None = None
        self._registries: dict[tuple[int, ...], Registry] = {}
        config.stash[self.key] = self

    @property
    def is_worker(self) -> bool:
        return hasattr(self.config, "workerinput")

    def read_votes(self, which: str) -> dict[str, Any]:
        """Return the files of votes that are `known`, or `written` by this session's judge."""
        folder = getattr(self.judge, "folder", None)
        return dict(getattr(folder, which)) if folder else {}

    @property
    def variables(self) -> dict[str, Any]:
        return options.variables(self.config)

    def registry_for(self, path: Path, session: pytest.Session | None = None) -> Registry:
        """Return the kinds of checks that the plugins in force at `path` register.

        A conftest.py deeper in the tree may add some for its folder: one registry per set of
        plugins.
        """
        relay = session.gethookproxy(path) if session else self.config.hook
        hook = relay.pytest_reflex_register_checks
        key = tuple(id(implementation.plugin) for implementation in hook.get_hookimpls())
        if key not in self._registries:
            registry = Registry()
            registry.judge = self.judge
            registry.judge_when = JudgeWhen.ALWAYS if self.is_worker else self.judge_when
            hook(register=registry.register)
            self._registries[key] = registry
        return self._registries[key]

    def expect(self, target_id: str, target: Target, registry: Registry) -> Subject:
        """Compile a target and expect its checks from now on.

        Reports call the artifact by its path from the root folder.
        Raises CriteriaError (a pattern that does not compile) or ArtifactError.
        """
        target = replace(target, label=self.id_of_file(target.artifact))
        if votes := self.config.stash.get(self.votes, None):
            target = replace(target, heard=votes, asked=votes.begin_vote, votes=votes.known)
        limit = registry.size_limit
        try:
            prepared = self._prepare(target, registry, limit)
        except TooLargeError:
            # The configuration may allow more, and is read where that matters.
            limit = self._artifact_limit()
            if limit <= registry.size_limit:
                raise
            prepared = self._prepare(target, registry, limit)
        return self.adopt(Subject(target_id, prepared.target, prepared), limit)

    def _prepare(self, target: Target, registry: Registry, limit: int) -> PreparedTarget:
        return prepare(
            target, registry, cancel=self.cancel, limit=limit, groups=self._session_groups
        )

    def _session_groups(self) -> Groups:
        """Return the locks of this session; workers have them in the folder of their controller."""
        from pytest_reflex.checks.groups import Groups

        if self._groups is None:
            folder = getattr(self.config, "workerinput", {}).get(FOLDER)
            self._groups = Groups(Path(folder) if folder else None)
        return self._groups

    def _artifact_limit(self) -> int:
        from pytest_reflex.settings import load

        limit: int = load(self.config.rootpath, {})["artifact_limit"]
        return limit * MEGABYTE

    def adopt(self, subject: Subject, limit: int) -> Subject:
        """Expect the checks of a compiled target from now on; `limit` is that of its artifact."""
        self.subjects[subject.id] = subject
        self.plan.targets[subject.id] = PlannedTarget(
            subject.target, subject.sha256, subject.prepared.artifact.unread, limit
        )
        return subject

    def id_of_file(self, path: Path) -> str:
        """Return the node id of a file: relative to the root folder, with slashes."""
        return Path(os.path.relpath(path, self.config.rootpath)).as_posix()
