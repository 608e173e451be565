"""What a judge would be asked, told without asking: who, how often, with which prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.judged import JudgedCheck, with_judged
from pytest_reflex.model.judged import JUDGED, Judge
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.words import Level

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a judge would be asked by one check: how often, and with which prompt at first.

    `judge` is empty where nobody is configured, and the prompt then too.
    """

    rule_id: str
    judge: str
    votes: int
    quorum: int
    prompt: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "judge": self.judge or None,
            "votes": self.votes,
            "quorum": self.quorum,
            "prompt": self.prompt or None,
        }


def asking(
    spec: CheckSpec, rule: Rule, variables: Mapping[str, Any], judge: Judge | None
) -> Asking:
    """Return what a valid judged check asks; a word stands for the artifact."""
    voting = JudgedCheck().compile(spec, variables)
    case = voting.case(rule, {"<the artifact>": "<its text>"})
    return Asking(
        rule_id=rule.id,
        judge=judge.name if judge else "",
        votes=voting.size,
        quorum=voting.quorum,
        prompt=judge.prompt(case) if judge else "",
    )


def askings(criteria: Criteria, level: Level, registry: Registry) -> Iterator[Asking]:
    """Yield what a judge is asked at a level by rules, those without a check included."""
    for rule in with_judged(criteria, registry).active(level):
        for spec in rule.checks:
            for each in spec.alternatives or (spec,):
                if each.type == JUDGED:
                    yield asking(each, rule, criteria.vars, registry.judge)
