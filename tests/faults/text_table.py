"""Line ends, marks and blanks in artifacts and in rules mean what the page says (F37)."""

from __future__ import annotations

from pytest_reflex.criteria.document import parse_document
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.enums import Outcome
from tests.checks.building import search
from tests.checks.text_table import ARTIFACTS, CRITERIA, RULES, TextCase
from tests.faults.figure import Figure, of_cases


def figure(full: bool) -> Figure:
    """Judge every text of the table; it is quick, so that the sample is the whole."""
    artifacts = [(case.name, _judged(case)) for case in ARTIFACTS]
    rules = [(name, _parsed(data, said)) for name, (data, said) in CRITERIA.items()]
    return of_cases([*artifacts, *rules])


def _judged(case: TextCase) -> list[str]:
    outcome = search(case.data, **case.params).outcome
    wanted = Outcome.PASS if case.passes else Outcome.FAIL
    return [] if outcome is wanted else [f"{outcome.value}, not {wanted.value}"]


def _parsed(data: bytes, said: str) -> list[str]:
    wanted, _ = parse_document(RULES.encode(), "x.yaml")
    try:
        found, faults = parse_document(data, "x.yaml")
    except CriteriaError as error:
        return [] if said and said in str(error) else [str(error)]
    if faults.found:
        told = str(CriteriaError(faults.found))
        return [] if said and said in told else [told]
    return ["it was read"] if said else [] if found == wanted else [f"read as {found}"]
