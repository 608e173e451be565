"""Parameters that come from variables."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.checks.content import KINDS
from pytest_reflex.checks.options import settle
from pytest_reflex.errors import CriteriaError
from tests.checks.building import content


@pytest.mark.parametrize(
    ("value", "settled"),
    [pytest.param(3, 3, id="number"), pytest.param("3", 3, id="text of the command line")],
)
def test_variable_takes_the_place_of_its_node(value: Any, settled: int) -> None:
    spec = content(search="x", min_count={"var": "least"})
    assert settle(spec, KINDS, {"least": value}) == {"search": "x", "min_count": settled}


def test_text_is_never_searched_for_variables() -> None:
    spec = content(search="{var: least} {least} ${least}")
    assert settle(spec, KINDS, {"least": 3})["search"] == "{var: least} {least} ${least}"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, r"min_count names the variable 'least', which is not set \(set it under vars:\)"),
        ({"last": 1}, r"the variable 'least', .* \(did you mean last\?\)"),
        ({"least": "many"}, r"min_count \(variable 'least'\) must be a whole number .* 'many'"),
        ({"least": [1]}, r"must be a whole number .* not \[1\]"),
    ],
)
def test_variable_that_does_not_fit_is_refused(variables: dict[str, Any], message: str) -> None:
    with pytest.raises(CriteriaError, match=message):
        settle(content(search="x", min_count={"var": "least"}), KINDS, variables)


def test_all_problems_come_at_once() -> None:
    with pytest.raises(CriteriaError) as caught:
        settle(content(serach="x", negate=1), KINDS, {}, required=("search",))
    assert len(caught.value.problems) == 3
