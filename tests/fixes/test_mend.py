"""The safe fixes of some rules, one after the other."""

from __future__ import annotations

from dataclasses import replace

from pytest_reflex import fixes
from pytest_reflex.model.rules import Fix, Rule
from tests.verdict.sets import criteria, rule


def _fixing(rule_id: str, text: str, *, safe: bool = True) -> Rule:
    fix = Fix(kind="append", params={"text": text}, safe=safe)
    return replace(rule(rule_id), fixes=(fix,))


def test_what_was_fixed_and_what_was_not_is_told() -> None:
    judged = criteria(
        _fixing("a.x.two", "T"),
        _fixing("a.x.one", "one"),
        _fixing("a.x.unsafe", "three", safe=False),
        rule("a.x.bare"),
    )
    mended = fixes.fix_text(judged, [*(one.id for one in judged.rules), "a.x.gone"], "T\n")
    assert (mended.text, mended.fixed) == ("T\none\n", ["a.x.one"])
    assert mended.skipped == {"a.x.two": "nothing to do"}
    again = fixes.fix_text(judged, ["a.x.one"], mended.text)
    assert (again.text, again.fixed) == (mended.text, [])
