"""Weights, thresholds and versions: exact where they are numbers, refused where not (F41)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from pytest_reflex.criteria.header import parse_threshold
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Level
from tests.criteria.writing import load, problems, rule, rules

WEIGHTS = [
    ("2", Fraction(2)),
    ("0", Fraction(0)),
    ("0.1", Fraction(1, 10)),
    ("0.30000000000000000001", Fraction("0.30000000000000000001")),
    ("1e-3", Fraction(1, 1000)),
    ("2.50", Fraction(5, 2)),
    ("0o10", Fraction(8)),
    ("1e300", Fraction(10**300)),
    ("123456789012345678901", Fraction(123456789012345678901)),
]


@pytest.mark.parametrize(("text", "weight"), WEIGHTS, ids=[text for text, _ in WEIGHTS])
def test_a_weight_is_exactly_what_is_written(tmp_path: Path, text: str, weight: Fraction) -> None:
    assert load(tmp_path, rules(rule(weight=text))).rules[0].weight == weight


@pytest.mark.parametrize(("severity", "weight"), [("fail", 2), ("warn", 1), ("info", 0)])
def test_a_weight_that_is_not_given_follows_from_the_severity(
    tmp_path: Path, severity: str, weight: int
) -> None:
    text = rules(rule(severity=severity), rule("a.docs.other"))
    assert load(tmp_path, text).rules[0].weight == weight


BAD_NUMBERS = [
    ("true", "must be a number, not the boolean true"),
    ("no", "must be a number, not the text 'no'"),
    ("'2'", "must be a number, not the text '2' (write it without quotes)"),
    ("", "must be a number, not nothing"),
    ("[2]", "must be a number, not a list"),
    ("{x: 2}", "must be a number, not a mapping"),
    ("1_000", "must be a number, not the text '1_000'"),
    ("1/3", "must be a number, not the text '1/3'"),
    (".nan", "must be a finite number >= 0"),
    (".inf", "must be a finite number >= 0"),
    ("-.inf", "must be a finite number >= 0"),
    ("1e999", ": '1e999' is out of range"),
    ("1e-999999999", ": '1e-999999999' is out of range"),
    ("NaN", "must be a number, not the text 'NaN'"),
    ("2,5", "must be a number, not the text '2,5'"),
    ("٣", "must be a number, not the text '٣'"),
]
BAD_WEIGHTS = [*BAD_NUMBERS, ("-1", "weight is below 0"), ("-0.001", "weight is below 0")]
BAD_THRESHOLDS = [
    *BAD_NUMBERS,
    ("-0.1", "threshold must lie between 0 and 1"),
    ("1.0000000000000000001", "threshold must lie between 0 and 1"),
    ("80", "threshold must lie between 0 and 1"),
    ("80%", "must be a number, not the text '80%'"),
]


@pytest.mark.parametrize(("text", "message"), BAD_WEIGHTS, ids=[text for text, _ in BAD_WEIGHTS])
def test_b014_b064_what_is_no_weight_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (problem,) = problems(tmp_path, rules(rule(weight=text)))
    assert problem.startswith("rules.yaml:6:1")
    assert message in problem


@pytest.mark.parametrize(
    ("text", "message"), BAD_THRESHOLDS, ids=[text for text, _ in BAD_THRESHOLDS]
)
def test_b014_what_is_no_threshold_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (problem,) = problems(tmp_path, rules(head=f"phases:\n  A:\n    threshold: {text}\n"))
    assert problem.startswith("rules.yaml:3:1")
    assert message in problem


def test_the_tables_have_the_size_that_was_promised() -> None:
    assert len(WEIGHTS) + len(BAD_WEIGHTS) + len(BAD_THRESHOLDS) >= 30


@pytest.mark.parametrize("key", ["phases", "phase"])
def test_thresholds_are_read_under_our_key_and_the_seeds(tmp_path: Path, key: str) -> None:
    head = f"{key}:\n  A: {{threshold: 0.75, active_levels: [A]}}\n"
    thresholds = load(tmp_path, rules(head=head)).thresholds
    assert thresholds == {Level.A: Fraction(3, 4), Level.B: Fraction(9, 10)}


LEVELS = [
    ("phases: {C: {threshold: 1}}", "1:10: there is no phase 'C'"),
    ("phases: {A: 0.8}", "1:13: phase A must be a mapping, not the number 0.8 (A: {threshold"),
    ("phases: {A: {treshold: 1}}", "phase A has no key 'treshold' (did you mean threshold?)"),
    ("phases: {B: {active_levels: [B]}}", "active_levels of phase B must be [A, B]"),
    ("phases: [A]", "1:9: phases must be a mapping, not a list"),
    ("phases: {}\nphase: {}", "2:1: phases and phase both give thresholds"),
    ("phase: B", "1:8: phase must be a mapping, not the text 'B'"),
]


@pytest.mark.parametrize(("head", "message"), LEVELS, ids=[head for head, _ in LEVELS])
def test_levels_that_make_no_sense_are_refused(tmp_path: Path, head: str, message: str) -> None:
    (problem,) = problems(tmp_path, rules(head=f"{head}\n"))
    assert message in problem


@pytest.mark.parametrize("text", ["0.8", "0", "1", "1.0", " 0.5 ", ".75", "1e-2"])
def test_a_threshold_on_the_command_line_is_exact(text: str) -> None:
    assert parse_threshold(text) == Fraction(text.strip())


BAD_OPTIONS = [
    ("abc", "'abc' is not a number"),
    ("", "'' is not a number"),
    ("80%", "'80%' is not a number"),
    ("true", "'true' is not a number"),
    ("nan", "'nan' is not a number"),
    (".nan", "is not a finite number"),
    ("1e400", "is out of range"),
    ("1.5", "'1.5' does not lie between 0 and 1"),
    ("-0.1", "'-0.1' does not lie between 0 and 1"),
    ("9" * 5000, "is a number of 5000 characters"),
    ("[1]", "'[1]' is not a number"),
]


@pytest.mark.parametrize(("text", "message"), BAD_OPTIONS, ids=[t[:10] for t, _ in BAD_OPTIONS])
def test_what_is_no_threshold_on_the_command_line_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_threshold(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["1.5", "'1'", "true", "-1", "x"])
def test_a_version_is_a_whole_number(tmp_path: Path, text: str) -> None:
    (problem,) = problems(tmp_path, rules(head=f"version: {text}\n"))
    assert problem.startswith("rules.yaml:1:10: version must be a whole number, not")
    assert load(tmp_path, rules(head="version: 3\n")).version == 3
    assert load(tmp_path, rules()).version == 1
