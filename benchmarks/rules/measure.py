"""Judge the whole corpus by its templates and count, for each rule, what it caught and accused."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.rules.table import Tally
from tests.templates.planted import TEMPLATES, Defect, defects, good_documents, red_rules
from tests.templates.test_stock import RULES

Red = dict[tuple[str, Defect | None], set[str]]


def measured() -> list[Tally]:
    """Return the tallies as the checks judge now."""
    cases: list[tuple[str, Defect | None]] = [(name, None) for name in good_documents()]
    cases += [(defect.document, defect) for defect in defects()]
    red: Red = {}
    for number, (document, defect) in enumerate(cases, start=1):
        print(f"\r{number} of {len(cases)}", end="", file=sys.stderr, flush=True)
        red[document, defect] = set(red_rules(document, defect))
    print(file=sys.stderr)
    return list(_tallies(red))


def wanted() -> list[Tally]:
    """Return the tallies of rules that catch everything and accuse nothing."""
    red: Red = {(name, None): set() for name in good_documents()}
    red |= {(defect.document, defect): {defect.rule} for defect in defects()}
    return list(_tallies(red))


def _tallies(red: Red) -> Iterator[Tally]:
    for template in TEMPLATES:
        mine = {key: rules for key, rules in red.items() if key[0].startswith(f"{template}/")}
        for rule in RULES[template]:
            planted = [key for key in mine if key[1] and key[1].rule == rule]
            others = [key for key in mine if not _may_be_red(rule, key[1])]
            if planted:
                yield Tally(
                    template=template,
                    rule=rule,
                    planted=len(planted),
                    caught=sum(rule in mine[key] for key in planted),
                    wrong=sum(rule in mine[key] for key in others),
                    others=len(others),
                )


def _may_be_red(rule: str, defect: Defect | None) -> bool:
    """Whether the fault is one of the rule's too, or leaves nothing to judge."""
    return defect is not None and (defect.rule == rule or rule in defect.also or defect.everything)
