"""Criteria and steps are what a spec states, in its own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.goal.model import Verification, VerificationPlan
from pytest_reflex.drivers.goal.spec import criteria_of, plan_of, steps_of

RUN, MEASURED = Verification.EXECUTION_OUTPUT, Verification.MEASUREMENT
LISTED = """\
Fix the importer.

## Steps
1. Reproduce it
2. Fix the cause

## Success criteria
- [ ] `pytest -q` passes
- p95 < 100 ms
- manual QA of the upload page

## Constraints
- no more than 3 files; latency < 5 s

Done: PR merged to main
"""


def test_items_under_success_and_done_are_criteria() -> None:
    assert [(one.text, one.plan) for one in criteria_of(LISTED)] == [
        ("`pytest -q` passes", VerificationPlan(command="pytest -q", required=RUN)),
        ("p95 < 100 ms", VerificationPlan(compare="p95 < 100 ms", required=MEASURED)),
        ("manual QA of the upload page", VerificationPlan(required=Verification.OBSERVATION)),
        ("PR merged to main", VerificationPlan()),
    ]
    assert steps_of(LISTED) == ("Reproduce it", "Fix the cause")


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        ("Make it better", []),
        ("Fix auth. Use `make` where you can.", []),
        ("Fix auth until all tests pass", ["all tests pass"]),
        (
            "The p95 latency must stay under 100 ms. Ship it.",
            ["The p95 latency must stay under 100 ms"],
        ),
        ("Fix it; `make test` passes", ["`make test` passes"]),
        ("Success: none", []),
        ("Success: open", []),
        ("Acceptance criteria:\n* one\n* two\n* one", ["one", "two"]),
        ("**Done when:** the docs build", ["the docs build"]),
        ("1. run `make test` until it passes\n2. rest", []),
        ("No new deps, <500 LOC", []),
        ("```\nSuccess: shown only\n```", []),
    ],
)
def test_nothing_is_made_up(spec: str, texts: list[str]) -> None:
    assert [one.text for one in criteria_of(spec)] == texts


@pytest.mark.parametrize(
    ("text", "compare"),
    [
        ("p95 latency <100ms", "p95 latency < 100 ms"),
        ("coverage of at least 92.5%", "coverage >= 92.5 %"),
        ("startup time is less than 1,500 ms", "startup time < 1500 ms"),
        ("error rate ≤ 0.1 %", "error rate <= 0.1 %"),
        ("throughput stays above 200 req/s", "throughput > 200 req/s"),
        ("p95 latency of /search below 200 ms", "p95 latency of /search < 200 ms"),
        ("the number of queries per page is at most 3", "number of queries per page <= 3"),
        ("no more than 3 queries", ""),
        ("Python >= 3.11", ""),
        ("version 3.11.2", ""),
    ],
)
def test_a_comparison_has_a_number_a_unit_and_a_sign(text: str, compare: str) -> None:
    assert plan_of(text).compare == compare


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("`pytest -q tests/a.py` passes", "pytest -q tests/a.py"),
        ("`./check.sh` and `make lint` pass", "./check.sh && make lint"),
        ("`bench.py --json` prints p95 < 100 ms", "bench.py --json"),
        ("`rst-lint README.rst` passes", "rst-lint README.rst"),
        ("`get_user` is renamed", ""),
        ("`test_login` passes", ""),
        ("`--json` prints a list", ""),
        ("`grep -r old_name` finds nothing", ""),
        ("`make broken` fails", ""),
        ("never run `git push -f`", ""),
    ],
)
def test_a_command_in_backticks_verifies(text: str, command: str) -> None:
    assert plan_of(text).command == command


@given(st.text())
def test_any_text_gives_criteria_of_its_own_words(spec: str) -> None:
    found = criteria_of(spec)
    assert len({one.text for one in found}) == len(found)
    assert all(one.text in spec for one in found)
    assert all(step in spec for step in steps_of(spec))


@pytest.mark.parametrize(
    ("text", "command", "compare"),
    [
        ("`python t.py` prints p95 < 500 ms", "python t.py", "p95 < 500 ms"),
        ("`python t.py` reports coverage >= 90 %", "python t.py", "coverage >= 90 %"),
        ("p95 < 500 ms, as `python t.py` shows", "python t.py", "p95 < 500 ms"),
        ("`python t.py`: p95 < 500 ms", "python t.py", "p95 < 500 ms"),
    ],
)
def test_a_command_is_no_part_of_the_name_of_its_number(
    text: str, command: str, compare: str
) -> None:
    plan = plan_of(text)
    assert (plan.command, plan.compare) == (command, compare)
