"""Every planted fault is caught by the rule that names it, and no rule is red without one."""

from __future__ import annotations

import pytest

from tests.templates.planted import Defect, defects, good_documents, red_rules
from tests.templates.test_stock import PARENTS, RULES

pytestmark = pytest.mark.variants

DEFECTS = {f"{d.document}: {d.what}": d for d in defects()}


@pytest.mark.parametrize("document", good_documents())
def test_no_rule_is_red_on_a_good_document(document: str) -> None:
    assert red_rules(document) == {}


@pytest.mark.long
@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS)
def test_planted_fault_is_caught_by_its_rule_and_no_other(defect: Defect) -> None:
    red = red_rules(defect.document, defect)
    assert red.get(defect.rule, "").startswith("fail: ")
    if not defect.everything:
        also = {defect.rule, *defect.also}
        assert {rule: why for rule, why in red.items() if rule not in also} == {}


def test_every_rule_has_a_fault_to_catch() -> None:
    for template, rules in RULES.items():
        planted = {d.rule for d in defects() if d.document.startswith(f"{template}/")}
        own = rules.keys() - RULES[PARENTS.get(template, "base")].keys()
        assert own <= planted, own - planted


def test_fault_whose_place_is_gone_is_no_fault() -> None:
    defect = next(d for d in defects() if d.old)
    with pytest.raises(ValueError, match="is there 0 times"):
        defect.plant("another text")
