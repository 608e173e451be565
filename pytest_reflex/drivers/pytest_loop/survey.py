"""What the first session of a loop shows, whether a loop can help, and whether a person agrees."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import pytest

from pytest_reflex.criteria.suite import artifact_patterns
from pytest_reflex.drivers.common.judging_files import files_of_commands
from pytest_reflex.drivers.pytest_loop.child import Session, SessionStart
from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles, as_patterns
from pytest_reflex.drivers.pytest_loop.loop_options import LoopOptions
from pytest_reflex.drivers.pytest_loop.session_criteria import criteria_of, fixes_of
from pytest_reflex.drivers.reflex.setup import limits_of
from pytest_reflex.errors import UsageError
from pytest_reflex.integrity.outside import programs_of
from pytest_reflex.integrity.patterns import escape_path
from pytest_reflex.model.enums import Step
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import Limits
from pytest_reflex.reports.proposal import proposal_text
from pytest_reflex.settings import Settings

SUFFIX = ".reflex.yaml"
_NOWHERE = Path(os.devnull)
_DESELECTED = "deselected"
_UNMEASURED = ("skipped: ", "expected to fail")


class NothingToDoError(Exception):
    """The session passes as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a first session showed: rules, what may be changed and what it holds, limits.

    `writes` are globs of what the session writes into the project, `programs` those outside it that
    its checks start; an agent may change what `may_change` means beside the artifacts.
    """

    options: LoopOptions
    session: Session
    criteria: Criteria
    limits: Limits
    editable: EditableFiles
    texts: Mapping[str, str]
    start: SessionStart
    writes: tuple[str, ...]
    programs: tuple[str, ...]
    may_change: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def fixable(self) -> bool:
        """Whether a rule carries a fix that needs no agent."""
        return any(fixes_of(rule) for rule in self.criteria.rules)


def survey(
    options: LoopOptions, settings: Settings, session: Session, written: Iterable[str] = ()
) -> Survey:
    """Return what a first session showed; raises UsageError where no loop could come of it.

    `written` are the files of the project that it changed. Raises NothingToDoError where it passes.
    """
    _refuse(session)
    criteria = criteria_of(session)
    if session.status == 0 and session.gate == "passed":
        raise NothingToDoError
    editable = EditableFiles(root=options.root, patterns=_patterns(options, session))
    texts = editable.read()
    if not texts:
        raise UsageError(
            f"there is no file that may be changed: {', '.join(editable.patterns)} match none",
            hint="--reflex-artifact PATH names one",
        )
    return Survey(
        options=options,
        session=session,
        criteria=criteria,
        limits=replace(limits_of(settings), produce="first"),
        editable=editable,
        texts=texts,
        start=SessionStart.of(session, editable),
        writes=_writes(editable, session, written),
        programs=tuple(programs_of(_commands(session), options.root)),
        may_change=settings["loop.may_change"],
        warnings=tuple(_warnings(editable, session)),
    )


def _refuse(session: Session) -> None:
    """Raise UsageError for a session whose rules are not all known, or can never pass."""
    if uncollected := session.uncollected:
        names = ", ".join(str(fault["node"]) for fault in uncollected[:3])
        raise UsageError(
            f"the first session could not collect {names}: {uncollected[0]['message']}",
            hint="the rules have to be known before the loop starts; fix this by hand",
        )
    if session.problems:
        raise UsageError(session.problems[0])
    if session.ended:
        raise UsageError(f"{session.ended}: {session.last_line}", hint="fix this by hand")
    if not session.parts:
        raise UsageError(
            "the session has no rules",
            hint="mark tests with @pytest.mark.reflex_rule(id=...), or add a suite",
        )
    left_out = [row["rule"] for row in session.not_run if row["reason"] == _DESELECTED]
    narrowed = [part.narrowed for part in session.parts if part.narrowed]
    if left_out or narrowed:
        why = narrowed[0] if narrowed else f"{', '.join(sorted(set(left_out))[:3])} deselected"
        raise UsageError(
            f"the session leaves rules out, so its gate could never pass: {why}",
            hint="run the loop over whole files, without -k, -m and single tests",
        )
    _refuse_unmeasured(session)


def _refuse_unmeasured(session: Session) -> None:
    never = [row for row in session.not_run if row["reason"].startswith(_UNMEASURED)]
    if never:
        first, more = never[0], f" (and {len(never) - 1} more)" if len(never) > 1 else ""
        raise UsageError(
            f"rule {first['rule']} is not measured, so the gate could never pass: "
            f"{first['check']} is {first['reason']}{more}",
            hint="take the mark away, or the skip or xfail",
        )


def _patterns(options: LoopOptions, session: Session) -> tuple[str, ...]:
    given: list[str] = []
    for part in session.parts:
        suite = part.id.partition("::")[0]
        if suite.endswith(SUFFIX):
            folder = os.path.dirname(suite)
            given += (os.path.join(folder, one) for one in artifact_patterns(options.root / suite))
        elif part.artifact:
            given.append(part.artifact)
    given += options.artifacts
    if not given:
        raise UsageError(
            "nothing says which files may be changed: the session has marked tests only",
            hint="--reflex-artifact PATH (a file or a folder), or the ini key reflex_artifacts",
        )
    return as_patterns(given, options.root)


def _writes(editable: EditableFiles, session: Session, written: Iterable[str]) -> tuple[str, ...]:
    declared = (glob for part in session.parts for glob in part.writes)
    seen = (escape_path(path) for path in written if not editable.covers(path))
    return tuple(dict.fromkeys((*declared, *seen)))


def _commands(session: Session) -> Iterator[Sequence[str]]:
    """Yield what the checks and the formatters of a session start, and Python itself."""
    yield [sys.executable]
    for part in session.parts:
        yield from part.programs
        for rule in part.rules.values():
            yield from (command["argv"] for command in rule["commands"].values())


def _warnings(editable: EditableFiles, session: Session) -> Iterator[str]:
    suites = {part.id.partition("::")[0] for part in session.parts}
    tests = {str(fault["node"]).partition("::")[0] for fault in session.faults} | suites
    for path in editable.paths():
        name = path.rpartition("/")[2]
        matches = any(Path(name).match(pattern) for pattern in session.python_files)
        if matches or path in tests:
            yield f"{path} is a test, and it may be changed"
    for path in files_of_commands(_commands(session), project=editable.root, artifact=_NOWHERE):
        if editable.covers(path) and path not in tests:
            yield f"{path} is run by a check, and it may be changed"


NOT_CONFIRMED = "criteria and max iterations are not confirmed"
QUESTION = "Start the loop with these criteria and limits?"


def refuse_unasked(config: pytest.Config) -> None:
    """Raise UsageError where no person has agreed or could be asked."""
    if config.option.reflex_yes:
        return
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:  # else stdin is captured
        capture.suspend_global_capture(in_=True)
    if not sys.stdin.isatty():
        raise UsageError(
            f"{NOT_CONFIRMED}, and there is no terminal to ask on",
            hint="add --reflex-yes; nothing was written",
        )


def confirm(found: Survey, agents: Mapping[Step, str], say: Callable[[str], object]) -> str:
    """Show criteria, limits and files, and return how they were confirmed; raises UsageError."""
    options = found.options
    if not (options.quiet and options.yes):
        shown = proposal_text(found.criteria, found.limits, agents, of_text=False)
        say(shown.rstrip("\n"))
        may_change = (*found.editable.patterns, *found.may_change)
        say(f"May be changed: {escape_control(', '.join(may_change))}")
        if found.writes:
            say(f"Written by the session: {escape_control(', '.join(found.writes))}")
        say("".join(f"Warning: {escape_control(one)}\n" for one in found.warnings))
    if options.yes:
        return "--reflex-yes"
    return by_terminal(QUESTION)


def by_terminal(question: str) -> str:
    """Ask, and return how it was confirmed; raises UsageError where it was not."""
    if not click.confirm(question):
        raise UsageError(NOT_CONFIRMED, hint="nothing was written")
    return "terminal"
