"""`*` in a path stands for every match: with each predicate, nested, negated, and with `some`."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

DOCUMENT = """\
b:
  one: {tags: {owner: ann, env: prod}}
  two: {tags: {owner: bob}}
  three: {tags: {}}
g:
  - s: [{n: 1}, {n: 2}]
  - s: [{n: 1}, {m: 2}]
whole:
  x: [{n: 1}, {n: 1}]
  y: [{n: 1}]
none: {}
"""

OWNERS, NUMBERS, WHOLE = "b.*.tags.owner", "g[*].s[*].n", "whole.*[*].n"

PASSING: list[dict[str, Any]] = [
    {"path": WHOLE},
    {"path": WHOLE, "equals": 1},
    {"path": WHOLE, "matches": "^1$"},
    {"path": WHOLE, "value_type": "integer"},
    {"path": "b.*.tags", "value_type": "map"},
    {"path": "b.*.*", "value_type": "map"},
    {"path": "**.n", "value_type": "integer"},
    {"path": OWNERS, "some": True},
    {"path": OWNERS, "some": True, "equals": "bob"},
    {"path": NUMBERS, "some": True, "equals": 2},
    {"path": "g.*.s.*.n", "some": True, "matches": "^2$"},
    {"path": "**.n", "some": True, "equals": 1},
    {"path": "b.*.tags.gone", "exists": False},
    {"path": "g[*].s[*].gone", "exists": False},
    {"path": "none.*", "exists": False},
    {"path": "no.*.such", "exists": False},
]


@pytest.mark.parametrize("params", PASSING, ids=str)
def test_every_match_is_as_wanted(params: dict[str, Any]) -> None:
    result = judge(DOCUMENT, params, "a.yaml")
    assert result.outcome is Outcome.PASS, result.message


FAILING: list[tuple[dict[str, Any], str, int]] = [
    ({"path": OWNERS}, "b.three.tags.owner is not there", 4),
    ({"path": OWNERS, "matches": "^a|^b"}, "b.three.tags.owner is not there", 4),
    ({"path": OWNERS, "equals": "ann"}, 'b.two.tags.owner is "bob", not "ann" (and 1 more)', 3),
    ({"path": OWNERS, "value_type": "string"}, "b.three.tags.owner is not there", 4),
    ({"path": "b.*.*.owner"}, "b.three.tags.owner is not there", 4),
    ({"path": "b.*.tags.*"}, "b.three.tags.* is not there", 4),
    ({"path": NUMBERS}, "g[1].s[1].n is not there", 7),
    ({"path": NUMBERS, "equals": 1}, "g[0].s[1].n is 2, not 1 (and 1 more)", 6),
    ({"path": "**.n", "equals": 1}, "g[0].s[1].n is 2, not 1", 6),
    ({"path": "none.*"}, "none.* is not there", 11),
    ({"path": "no.*.such"}, "no.*.such is not there", 1),
    ({"path": "none.*", "some": True}, "none.* is not there", 11),
    ({"path": OWNERS, "some": True, "equals": "eve"}, 'b.one.tags.owner is "ann", not "eve"', 2),
    ({"path": NUMBERS, "some": True, "matches": "^3"}, "g[0].s[0].n is 1: pattern not found", 6),
    ({"path": WHOLE, "some": True, "value_type": "string"}, "whole.x[0].n is 1, not of type", 9),
    ({"path": "b.*.tags.env", "exists": False}, "b.one.tags.env must not be there", 2),
    ({"path": NUMBERS, "exists": False}, "g[0].s[0].n must not be there (and 2 more)", 6),
    ({"path": "b.*", "exists": False}, "b.one must not be there (and 2 more)", 2),
]


@pytest.mark.parametrize(("params", "message", "line"), FAILING, ids=str)
def test_one_match_that_is_not_fails_in_its_line(
    params: dict[str, Any], message: str, line: int
) -> None:
    result = judge(DOCUMENT, params, "a.yaml")
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(message)
    assert result.pattern == (params["matches"] if "pattern" in message else "")
    assert result.location is not None
    assert result.location.line == line
