"""The targets of a session, and files with rules that were not collected.

The results of their rules are unknown, so a gate that left them out would pass unmeasured.
A file has rules if it is a suite, or a test module whose source mentions the mark.

The tree is suite file -> artifact where there are several -> rule -> check.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.enums import Level
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.rules import Rule
from pytest_reflex.session import options
from pytest_reflex.session.items import (
    CheckItem,
    Subject,
    file_id,
    node_name,
    path_of_id,
    skip_reason,
)
from pytest_reflex.session.options import MARK
from pytest_reflex.session.plan import SessionPlan, SessionState

_SUITE = ".reflex.yaml"
_CUT_SHORT = "not collected: pytest.exit() ended the session first"


def find_skipped(report: pytest.CollectReport, config: pytest.Config) -> dict[str, str]:
    """Return the files with rules that a skipped collector stands for, each with the reason."""
    path = config.rootpath / report.nodeid.partition("::")[0]
    found = [_id(one, config) for one in _files_with_rules(path, config)]
    if not found:
        return {}

    return dict.fromkeys(found, skip_reason(report))


def find_unreached(config: pytest.Config) -> dict[str, str]:
    """Return the files with rules below the arguments of a session that never ran an item."""
    start = config.invocation_params.dir
    paths = [start / argument.partition("::")[0] for argument in config.args]
    roots = [path for path in paths if path.exists()] or [config.rootpath]
    ids = (_id(one, config) for root in roots for one in _files_with_rules(root, config))
    return dict.fromkeys(ids, _CUT_SHORT)


def _files_with_rules(path: Path, config: pytest.Config) -> Iterator[Path]:
    modules, closed = config.getini("python_files"), config.getini("norecursedirs")
    start = config.invocation_params.dir
    ignored = {os.path.abspath(start / one) for one in config.getoption("ignore", None) or ()}
    if str(path) in ignored:
        return
    if not path.is_dir():
        if _has_rules(path):
            yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(
            one
            for one in folders
            if one != "__pycache__"
            and not any(fnmatch(one, pattern) for pattern in closed)
            and os.path.join(folder, one) not in ignored
        )
        for one in sorted(Path(folder, name) for name in names):
            is_module = one.suffix == ".py" and any(_matches(one, each) for each in modules)
            collected = is_module or one.name.endswith(_SUITE)
            if collected and str(one) not in ignored and _has_rules(one):
                yield one


def _matches(path: Path, pattern: str) -> bool:
    return path.match(pattern) if "/" in pattern else fnmatch(path.name, pattern)


def _has_rules(path: Path) -> bool:
    if path.name.endswith(_SUITE):
        return True
    try:
        return path.suffix == ".py" and MARK.encode() in path.read_bytes()
    except OSError:
        return False


def _id(path: Path, config: pytest.Config) -> str:
    return Path(os.path.relpath(path, config.rootpath)).as_posix()


SUFFIX = ".reflex.yaml"


def expect_suite(
    path: Path, node_id: str, state: SessionState, session: pytest.Session | None = None
) -> dict[str, Subject]:
    """Read a suite and note its targets in the state; the keys are their node ids.

    The one artifact of a suite adds nothing to the id. Raises CriteriaError, ArtifactError.
    """
    from pytest_reflex.criteria.suite import load_suite

    registry = state.registry_for(path, session)
    root = state.config.rootpath
    outside = options.switch(state.config, "reflex_outside")
    targets = load_suite(
        path, registry=registry, variables=state.variables, root=root, outside=outside
    )
    found = {}
    for target in targets:
        target_id = node_id if target.alone else f"{node_id}::{node_name(target.label)}"
        found[target_id] = state.expect(target_id, target, registry)
    return found


def plan_of_ids(ids: Iterable[str], state: SessionState) -> SessionPlan:
    """Return the plan that node ids of workers imply, where no worker could hand over its own.

    Workers on other machines: the suite files are read here. Their marked tests stay unknown.
    """
    chosen = set(ids)
    files = sorted({one.partition("::")[0] for one in chosen if SUFFIX + "::" in one})
    for name in files:
        try:
            expect_suite(state.config.rootpath / path_of_id(name), name, state)
        except ReflexError as error:
            state.plan.problems += error.problems
    state.plan.left_out = set(state.plan.expected_ids()) - chosen
    return state.plan


def compile_named(state: SessionState) -> None:
    """Compile what the options name; raises ReflexError where they do not fit together."""
    config = state.config
    criteria = options.text(config, "reflex_criteria")
    artifacts = options.texts(config, "reflex_artifact")
    if not criteria:
        _refuse_alone(config)
        return
    if not artifacts:
        raise UsageError(
            f"--reflex-criteria {criteria} has nothing to check",
            hint="add --reflex-artifact PATH",
        )
    from pytest_reflex.criteria.header import parse_threshold
    from pytest_reflex.criteria.load import load_criteria
    from pytest_reflex.criteria.suite import make_target

    registry = state.registry_for(config.rootpath)
    start = config.invocation_params.dir
    loaded = load_criteria(
        criteria, registry=registry, variables=state.variables, relative_to=start
    )
    phase = options.text(config, "reflex_phase")
    threshold = options.text(config, "reflex_threshold")
    for artifact in artifacts:
        path = Path(os.path.abspath(start / artifact))
        target = make_target(
            loaded,
            path,
            level=Level(phase) if phase else None,
            threshold=parse_threshold(threshold) if threshold else None,
            root=config.rootpath,
            outside=options.switch(config, "reflex_outside"),
        )
        target_id = f"{state.id_of_file(path)}::{node_name(loaded.name)}"
        state.expect(target_id, target, registry)
        state.named[path] = target_id


def _refuse_alone(config: pytest.Config) -> None:
    """Options that only say something about --reflex-criteria mean nothing without it."""
    for key in ("reflex_artifact", "reflex_phase", "reflex_threshold"):
        if getattr(config.option, key):
            flag = "--" + key.replace("_", "-")
            raise UsageError(
                f"{flag} needs --reflex-criteria NAME|FILE",
                hint="a *.reflex.yaml file states its own artifacts, phase and thresholds",
            )


class ReflexNode(pytest.Collector):
    """What our collectors share: the session's state, and errors of the user's as plain lines."""

    @property
    def session_state(self) -> SessionState:
        return self.config.stash[SessionState.key]

    def repr_failure(  # type: ignore[override]  # as pytest.Collector has it
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> Any:
        if isinstance(excinfo.value, ReflexError):
            return fault_text(excinfo.value)
        return super().repr_failure(excinfo)


class SuiteFile(ReflexNode, pytest.File):
    """A ``*.reflex.yaml`` file."""

    subjects: dict[str, Subject] | None = None

    @classmethod
    def at(cls, path: Path, parent: pytest.Collector) -> SuiteFile:
        """Return the file's node; its id has nothing that a terminal might act on."""
        node: SuiteFile = cls.from_parent(parent, path=path)
        shown = file_id(node.nodeid)
        return node if shown == node.nodeid else cls.from_parent(parent, path=path, nodeid=shown)

    def load(self) -> dict[str, Subject]:
        """Read the suite once; from then on the session expects its checks."""
        if self.subjects is None:
            self.subjects = expect_suite(self.path, self.nodeid, self.session_state, self.session)
        return self.subjects

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        for target_id, subject in self.load().items():
            name = target_id.removeprefix(f"{self.nodeid}::")
            if name == self.nodeid:
                yield from rules_of(self, subject)
            else:
                yield TargetNode.from_parent(self, name=name, subject=subject)


class TargetNode(ReflexNode):
    """One artifact of a suite, or one criteria of an artifact that the options name."""

    def __init__(self, *, subject: Subject, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.subject = subject

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        return rules_of(self, self.subject)


class ArtifactFile(ReflexNode, pytest.File):
    """An artifact that the options name; its only child is their criteria."""

    def collect(self) -> Iterator[pytest.Collector]:
        subject = self.session_state.subjects[self.session_state.named[self.path]]
        name = subject.id.removeprefix(f"{self.nodeid}::")
        yield TargetNode.from_parent(self, name=name, subject=subject)


class RuleNode(pytest.Collector):
    """One rule of one target; carries the marks by which -m selects."""

    def __init__(self, *, subject: Subject, rule: Rule, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.subject = subject
        self.rule = rule
        self.own_markers.extend(_marks(rule.severity.value, rule.level.value))
        self.keywords.update((mark.name, mark) for mark in self.own_markers)

    def collect(self) -> Iterable[CheckItem]:
        return [
            CheckItem.from_parent(
                self, name=str(index), subject=self.subject, rule=self.rule, index=index
            )
            for index in range(len(self.rule.checks))
        ]


def rules_of(
    parent: pytest.Collector, subject: Subject
) -> Iterator[pytest.Item | pytest.Collector]:
    """Yield what is below a target: rules where an argument may select one, else their checks.

    The ids and the tree are the same either way. To collect each rule as a collector of its own
    costs as much as to run its check.
    """
    selects = any("::" in argument for argument in parent.config.args)
    for rule in subject.target.rules:
        if rule.checks:
            node = RuleNode.from_parent(parent, name=rule.id, subject=subject, rule=rule)
            if selects:
                yield node
            else:
                yield from node.collect()


def fault_text(error: ReflexError) -> str:
    """Return one line per problem."""
    return "\n".join(escape_control(str(problem)) for problem in error.problems)


@cache
def _marks(severity: str, level: str) -> tuple[pytest.Mark, ...]:
    names = ("reflex", f"reflex_{severity}", f"reflex_{level.lower()}")
    return tuple(getattr(pytest.mark, name).mark for name in names)
