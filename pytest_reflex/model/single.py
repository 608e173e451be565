"""What CRITIQUE and REFINE came to outside of any run, and steps that are only previewed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.model.enums import Step
from pytest_reflex.model.run import Spend

Issue = Mapping[str, str]
Cost = Mapping[str, Any]


def spend_of(costs: Iterable[Cost]) -> Spend:
    """Return what some calls of agents cost together."""
    total = Spend()
    for cost in costs:
        total = total.plus(cost)
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Critique:
    """The issues of one critique, the agent that gave them ("" for none), and each try's cost."""

    issues: tuple[Issue, ...]
    agent: str = ""
    costs: tuple[Cost, ...] = ()

    @property
    def spend(self) -> Spend:
        return spend_of(self.costs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """A refined text, by whom (fixes, agent, both), the rules that fixes fixed, and what each try
    cost.

    `not_fixed` says why the fixes of a rule changed nothing; `agent` is empty where none was asked.
    """

    text: str
    by: str = "nobody"
    fixed: tuple[str, ...] = ()
    not_fixed: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""
    costs: tuple[Cost, ...] = ()

    @property
    def spend(self) -> Spend:
        return spend_of(self.costs)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPreview:
    """A command as it would run.

    `argv` has words in angle brackets for what is made when it runs; `environment` are names, never
    values; `prompt_by` is stdin, argument or file; `timeout` is seconds. `missing` is the program
    where it is not installed.
    """

    argv: tuple[str, ...]
    cwd: str
    environment: tuple[str, ...]
    prompt_by: str
    timeout: float
    missing: str = ""

    @property
    def typed(self) -> str:
        """The command as a person would type it; what is made when it runs is not quoted."""
        return " ".join(map(_quote_item, self.argv))


def _quote_item(item: str) -> str:
    is_place = item.startswith("<") and item.endswith(">")
    return item if is_place else shlex.quote(item)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokens:
    """How many tokens a prompt is counted as, and each of its parts by its title."""

    total: int
    parts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPreview:
    """A step that an agent would be asked to do.

    `unknown` says what is not known before other steps have run: where it stands in the prompt, a
    word in angle brackets does. `asked_first` are plugins whose hooks may answer before the agent.
    `command` is None for an agent that is not a command.
    """

    step: Step
    agent: str
    prompt: str
    tokens: PromptTokens
    unknown: tuple[str, ...] = ()
    asked_first: tuple[str, ...] = ()
    command: CommandPreview | None = None

    @property
    def exact(self) -> bool:
        return not self.unknown
