"""What agents are asked, step by step (seed 001, phase contracts), and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Protocol, runtime_checkable

from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria, Rule


def _ignore(text: str) -> None:
    """Ignore it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of a project that REFINE may change, where the artifact is more than one text.

    `texts` by path, with slashes; `left_out` are paths whose texts were too long to be given.
    """

    patterns: tuple[str, ...]
    texts: Mapping[str, str]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """What the last REFINE was asked for, and the parts of the artifact that differ since then.

    `changed` has names by `added`, `modified` and `removed`.
    """

    issues: tuple[Mapping[str, str], ...]
    changed: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """Everything a step may know. Fields that do not concern a step stay empty.

    `history` are the last 3 events on the wire, without deltas and check bodies; `refusal` is
    the validation message of the first try where this is the second, and `refused` the start of
    the answer that it is about, `kept` the checks in it that can be used; `draft` is the text of
    `--input`; `feedback` is what a person said of the artifact (CRITIQUE, REFINE); `evaluation` is
    the last one, which `refined` has followed where that is given (PLAN, PRODUCE); `cancel` is set
    when the driver is leaving: a process started for the step has to end then. With `files`, the
    `artifact` is the difference of all that was changed in them so far. `instructions` is a
    person's text in place of our own. `tell` takes a line about what takes long, `seconds_left` is
    what is left of the budget in seconds. `keep_partial` takes what an agent had written where the
    run ends before the agent does and no Reply is used. `check_types` returns the registry of check
    types, which say what checks ask for (default: those of this package).
    """

    step: Step
    run_id: str
    iteration: int
    level: Level
    task: str
    ideal_result: str
    criteria: Criteria
    artifact_path: str
    rules: tuple[Rule, ...] = ()
    history: tuple[Mapping[str, Any], ...] = ()
    plan: tuple[str, ...] = ()
    artifact: str | None = None
    draft: str | None = None
    evaluation: Evaluation | None = None
    issues: tuple[Mapping[str, str], ...] = ()
    feedback: tuple[str, ...] = ()
    files: Files | None = None
    refined: Refined | None = None
    refusal: str = ""
    refused: str = ""
    kept: tuple[Mapping[str, Any], ...] = ()
    instructions: str = ""
    seconds_left: float | None = None
    cancel: Event = field(default_factory=Event, compare=False, repr=False)
    tell: Callable[[str], object] = field(default=_ignore, compare=False, repr=False)
    keep_partial: Callable[[str], object] = field(default=_ignore, compare=False, repr=False)
    check_types: Callable[[], Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A whole prompt for an agent, of a step or of anything else.

    `environment` is added to what the tool gets of ours; `verbatim` says that the answer becomes an
    artifact, which keeps its bytes whatever is in it; `may_edit` says that the agent may change the
    files of the project, not answer only; `contract` names the schema of an answer in JSON, where
    the tool may get the schema; the rest is that of a StepRequest.
    """

    prompt: str
    environment: Mapping[str, str] = field(default_factory=dict)
    verbatim: bool = False
    may_edit: bool = False
    contract: str = ""
    seconds_left: float | None = None
    cancel: Event = field(default_factory=Event, compare=False, repr=False)
    tell: Callable[[str], object] = field(default=_ignore, compare=False, repr=False)
    keep_partial: Callable[[str], object] = field(default=_ignore, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an agent answered: its text, and what is known of the price (None: unknown).

    `error` says why there is no usable answer (a crash, a time-out, a limit); the text is then
    kept as evidence and never used.
    """

    text: str
    agent: str
    error: str = ""
    seconds: float = 0.0
    usd: float | None = None
    tokens: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Agent(Protocol):
    """Whatever makes or fixes an artifact."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def respond(self, request: StepRequest) -> Reply:
        """Answer one step; a failure is a Reply with `error`, never an exception."""
        ...


@runtime_checkable
class Askable(Protocol):
    """An agent that answers any prompt, as an AI tool does and the offline agent does not."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def ask(self, question: Question) -> Reply:
        """Answer a prompt; a failure is a Reply with `error`, never an exception."""
        ...
