"""What is to be judged: one artifact under one criteria at one level; and how a check runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Level
from pytest_reflex.model.judged import CastVote, Judge
from pytest_reflex.model.plain import as_text, one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule, variable_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One artifact, one criteria, one level.

    `label` distinguishes the artifacts of one suite in ids and reports; `root` is the working
    directory of executable checks; `threshold` overrides the criteria's own for this level;
    `link_base` is where the artifact's relative links resolve (default: its folder); `alone` is
    True where its suite names this artifact only, and no pattern that may match more one day;
    `outside` is True where links may be followed that lead out of a folder;
    `budget` is what a judge may cost at most (calls, usd, tokens, seconds), empty for no bound;
    `heard` gets each vote when it is given, where the evaluator can do that, from any thread,
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
    votes: tuple[CastVote, ...] = ()
    asks: bool = True
    heard: Callable[[CastVote], object] | None = field(default=None, compare=False, repr=False)
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
    that holds the artifact's fenced blocks as files. `judge` is the LLM judge, `rule` the rule of
    the check, and where it is `blocked` the judge is not asked, because a rule has failed; these
    are for checks that do not run in this process.
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


class Decides(Enum):
    """What of a command that the author of a rule gave is the verdict."""

    SUCCESS = "that it ends with exit status 0"
    OUTCOME = "another exit status, or its output as well"
    REPORT = "what it reports"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCommand:
    """A command that a check starts when it runs.

    `argv` is what goes to the system, with words in angle brackets for what is made then; `written`
    is the text or the list that the author of the rule gave, empty for a tool that the kind of
    check brings, and `shell` the shell that the author names for the text. It runs in `cwd` (empty:
    the root of the target) for at most `timeout` seconds, up to `tries` times, with the variables
    named in `environment` on top of ours. `runs_artifact` is True where a tool that the kind of
    check brings executes code of the artifact. The lint looks at what was written where it is known
    what of it `decides`.
    """

    argv: tuple[str, ...]
    written: str | tuple[str, ...] = ()
    shell: str = ""
    cwd: str = ""
    timeout: float
    tries: int = 1
    environment: tuple[str, ...] = ()
    runs_artifact: bool = False
    decides: Decides | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether it runs what others wrote: the author of the rule, or of the artifact."""
        return bool(self.written) or self.runs_artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSearch:
    """A search in the text of the artifact: `least` to `most` matches pass (None: any number).

    `source` is what the rule gives: a pattern, or where it is `literal` the text itself. In a `raw`
    one line ends are as they are. `spans(text, limit=N, seconds=S)` returns where a text has it.
    """

    source: str
    literal: bool
    ignore_case: bool
    raw: bool
    least: int
    most: int | None
    spans: Callable[..., list[tuple[int, int]]] = field(compare=False, repr=False)

    @property
    def is_counted(self) -> bool:
        """Whether the number of matches matters, beyond there being one or none."""
        return self.least > 1 or self.most not in (None, 0)


Preview = Callable[[Rule, Judge | None], Mapping[str, Any]]
LONGEST_DESCRIPTION = 400


@dataclass(frozen=True, slots=True)
class CompiledCheck:
    """A check of a rule that can be run, and all that others have to know of it.

    `run` judges; only it and `spec` have to be given. `commands` are what it starts; `starts_more`
    where it is slow, or starts what it does not name. `writes` are globs of the files in the
    project that it may change meanwhile. `describe` returns one line for people that says what is
    asked for (default: the parameters); `is_pattern` where that is a pattern, which does not
    explain what is wanted. `preview` returns what is to be known beside the commands before it
    runs, as plain data, given the rule and the judge. `votes` is how often a judge is asked at
    most, `search` what it looks for in the text; `forbids` where it says what must not be there.
    `alternatives` are the checks of which one has to pass, where it is made of such.
    """

    spec: CheckSpec
    run: RunCheck
    _: KW_ONLY
    commands: tuple[CheckCommand, ...] = ()
    starts_more: bool = False
    writes: tuple[str, ...] = ()
    describe: Callable[[], str] | None = field(default=None, compare=False, repr=False)
    is_pattern: bool = False
    preview: Preview | None = field(default=None, compare=False, repr=False)
    votes: int = 0
    search: TextSearch | None = None
    forbids: bool = False
    alternatives: tuple[CompiledCheck, ...] = ()

    def __call__(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        return self.run(artifact, context)

    @property
    def in_process(self) -> bool:
        """Whether it is quick and starts nothing: not worth a worker, or a thread."""
        return not (self.commands or self.starts_more)

    @property
    def parts(self) -> tuple[CompiledCheck, ...]:
        """The checks that judge: its alternatives, or itself."""
        return self.alternatives or (self,)

    @property
    def description(self) -> str:
        """What the check asks for, in one line; empty where nothing can be said."""
        text = describe_params(self.spec) if self.describe is None else self.describe()
        return one_line(text, LONGEST_DESCRIPTION)

    @property
    def runs_foreign_code(self) -> bool:
        """Whether it runs what a rule or an artifact brings, or starts what it does not name."""
        return self.starts_more or any(command.is_foreign for command in self.commands)

    @property
    def is_judged(self) -> bool:
        """Whether nothing but a judge can decide."""
        return all(part.votes for part in self.parts)


def describe_params(spec: CheckSpec) -> str:
    """Return type and parameters of a check, for one that does not say what it asks for."""
    return f"{spec.type}: " + ", ".join(f"{k} {plainly(v)}" for k, v in spec.params.items())


def plainly(value: Any) -> str:
    """Return the value of a parameter for people; that of a variable is reported by its name."""
    if name := variable_name(value):
        return f"${name}"
    return as_text(value)


class CheckType(Protocol):
    """A kind of check, registered under `name` through `pytest_reflex_register_checks`.

    What there is to know of one check is in what `compile` returns: no code asks for its type. Of
    the type itself are `parameters`, kinds of values by their keys, which bring them into the
    schema for editors; or `forms`, where a check has one of several sets of them, or `schema`, its
    own JSON Schema but for the keys of all checks. A type that is `internal` cannot be written in
    a rule. `inline_files(spec)` returns a check with what it names in files put into it. A type has
    these only where it needs them.
    """

    name: str

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        """Yield what is wrong with the parameters; cheap, runs once per check while reading."""
        ...

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        """Return the check that judges; raises CriteriaError (an invalid pattern, ...)."""
        ...
