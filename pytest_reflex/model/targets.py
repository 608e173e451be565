"""What is to be judged: one artifact under one criteria at one level; and how a check runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.judged import Cast, Judge
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.words import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One artifact, one criteria, one level.

    `label` distinguishes the artifacts of one suite in ids and reports; `root` is the working
    directory of executable checks; `threshold` overrides the criteria's own for this level;
    `link_base` is where the artifact's relative links resolve (default: its folder); `alone` is
    True where its suite names this artifact only, and no pattern that may match more one day;
    `outside` is True where links may be followed that lead out of a folder;
    `budget` is what a judge may cost at most (calls, usd, tokens, seconds), empty for no bound;
    `heard` is told of each vote when it is given, where the evaluator can do that, from any thread,
    and `asked` of its question before each call of an agent for it;
    `votes` are known already, and are not asked for again; without `asks` no judge is asked.
    """

    criteria: Criteria
    level: Level
    artifact: Path
    root: Path
    label: str = ""
    threshold: Fraction | None = None
    link_base: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False
    outside: bool = False
    budget: Mapping[str, float] = field(default_factory=dict)
    votes: tuple[Cast, ...] = ()
    asks: bool = True
    heard: Callable[[Cast], object] | None = field(default=None, compare=False, repr=False)
    asked: Callable[[str], object] | None = field(default=None, compare=False, repr=False)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.criteria.active(self.level)

    @property
    def bar(self) -> Fraction:
        """The threshold that decides."""
        return self.criteria.thresholds[self.level] if self.threshold is None else self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """What a running check may know besides the artifact.

    `root` is the working directory of commands. `environment` holds the PYTEST_REFLEX_* variables
    that children get on top of the environment; `pattern_seconds` bounds one search. `cancel` is
    set when the session ends early: what still runs then has to stop. `blocks` gives the folder
    that holds the artifact's fenced blocks as files. `judge` is who judges what no program can,
    `rule` whose check it is, and where it is `blocked` the judge is not asked, because a rule has
    failed; these are for checks that do not run in this process.
    """

    root: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    pattern_seconds: float = 2.0
    cancel: Event | None = field(default=None, compare=False, repr=False)
    blocks: Callable[[], Path] | None = field(default=None, compare=False, repr=False)
    judge: Judge | None = field(default=None, compare=False, repr=False)
    rule: Rule | None = field(default=None, compare=False, repr=False)
    blocked: bool = False

    @property
    def cancelled(self) -> bool:
        return self.cancel is not None and self.cancel.is_set()


RunCheck = Callable[[Artifact, CheckContext], CheckResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCommand:
    """A command that a check starts when it runs.

    `argv` is what goes to the system, with words in angle brackets for what is made then; `written`
    is the text or the list that the author of the rule gave, empty for a tool that the kind of
    check brings. It runs in `cwd` (empty: the root of the target) for at most `timeout` seconds, up
    to `tries` times, with the variables named in `environment` on top of ours. `runs_artifact` is
    True where a tool that the kind of check brings executes code of the artifact.
    """

    argv: tuple[str, ...]
    written: str | tuple[str, ...] = ()
    cwd: str = ""
    timeout: float
    tries: int = 1
    environment: tuple[str, ...] = ()
    runs_artifact: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether it runs what others wrote: the author of the rule, or of the artifact."""
        return bool(self.written) or self.runs_artifact


class CheckType(Protocol):
    """A kind of check, registered under `name` through `pytest_reflex_register_checks`.

    `in_process` is True where a check is quick and starts no process of the user's: such checks
    are never worth a worker and use the short item protocol. A kind that starts processes says
    which, as a `CommandCheckType`. One that has `parameters`, kinds of values by their keys, brings
    them into the schema for editors.
    """

    name: str
    in_process: bool

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        """Yield what is wrong with the parameters; cheap, runs once per check while reading."""
        ...

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> RunCheck:
        """Return the function that judges; raises CriteriaError (an invalid pattern, ...)."""
        ...


class CommandCheckType(CheckType, Protocol):
    """A kind of check that says which commands its checks start.

    What `criteria compile` and a dry run show, which files a loop seals, and whether a check starts
    a process at all is asked here. Of a kind without this method and with `in_process` false, the
    parameter `command` is taken for the command.
    """

    def commands(self, spec: CheckSpec, variables: Mapping[str, Any]) -> Iterable[CheckCommand]:
        """Return the commands of a valid check; none where it starts no process."""
        ...
