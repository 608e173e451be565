"""What CRITIQUE and REFINE came to outside of any run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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
    """The issues of one critique, who gave them ("" for nobody), and what each try cost."""

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
