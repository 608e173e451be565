"""Secrets in long files: nothing is missed for speed, and the work has an end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.structure.configuration import secret_detection
from pytest_reflex.checks.structure.configuration import secret_detection as secret_lines
from pytest_reflex.checks.structure.configuration.secret_detection import (
    LINES_AT_ONCE,
    OVERLAP,
    PIECE,
    pieces_of,
    suspects,
)
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

SECRETS = [
    "AKC" + "a1" * 6,
    "AKIA" + "A1" * 8,
    "aws_key = '" + "a1B/" * 10 + "'",
    "url: http://me:abcdef@host",
    "cloudant_key: " + "0a" * 32,
    "ghp_" + "aB3" * 12,
    "glptt-" + "aB3_" * 10,
    "ibm_key: " + "aB3-" * 11,
    "cos_secret_key=" + "a1" * 24,
    "-----BEGIN RSA PRIVATE KEY-----",
    "//a.b/:_authToken=npm_x",
    "xoxb-12-ab",
    "123456789:" + "aB3_-" * 7,
    "SK" + "a1" * 16,
]
PLAIN = ["", "a: b", "# a", "  - x", "\u2028", "k: \x0b", "key:", "aws_key", "-" * 9]


def _found(lines: list[str], pairs: Any) -> list[tuple[int, str]]:
    return [(number, d.secret_type) for number, d in pairs if any(d.analyze_string(lines[number]))]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PLAIN + SECRETS), max_size=30))
def test_lines_looked_at_together_hold_what_each_of_them_holds(lines: list[str]) -> None:
    forms = secret_detection._detectors().by_form
    singly = ((n, form.detector) for n in range(len(lines)) for form in forms)
    together = ((number - 1, d) for number, _, d in suspects(lines, forms))
    assert _found(lines, together) == _found(lines, singly)


@pytest.mark.parametrize("secret", SECRETS)
def test_every_form_is_found_far_down_in_a_long_file(secret: str) -> None:
    forms = secret_detection._detectors().by_form
    lines = ["a: b"] * (3 * LINES_AT_ONCE) + [secret]
    assert 3 * LINES_AT_ONCE in [number for number, _ in _found(lines, _numbered(lines, forms))]


def _numbered(lines: list[str], forms: Any) -> Any:
    return ((number - 1, detector) for number, _, detector in suspects(lines, forms))


def test_f17_lines_far_from_a_secret_are_not_looked_at_one_by_one() -> None:
    lines = ["key: value"] * (5 * LINES_AT_ONCE) + ["AKIA" + "A1" * 8]
    assert [n for n, _, _ in suspects(lines, secret_detection._detectors().by_form)] == [len(lines)]


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("a: " + "sk-" * 6000, 5),
        ("a: " + "/" * 19_000, 3),
    ],
    ids=["forms", "slashes"],
)
def test_f17_a_file_of_beginnings_is_an_error_and_no_pass(
    line: str, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_lines, "MAX_WORK", 20_000_000)
    text = "".join(f"k{number}{line}\n" for number in range(100))
    result = judge(text, {"configuration": "secrets"}, "a.yaml")
    assert result.outcome is Outcome.ERROR, result
    assert "too much in it begins as a secret does to look at all of it" in result.message
    assert int(result.message.split("at line ")[1].split()[0]) <= last


@pytest.mark.long
def test_f17_two_megabytes_of_secrets_are_found_and_no_error() -> None:
    text = "".join(f"secretkey{number}: {'pwd' * 10}{number}\n" for number in range(1000))
    result = judge(text, {"configuration": "secrets"}, "a.yaml")
    assert "secretkey0 is a hard-coded secret (and 999 more)" in result.message


HOSTILE = [
    "abcd" * 12 + "!",
    "x" * 60 + "y",
    "1a" * 40 + "!",
    "://:" * 400,
    "my-" * 300,
    "ab12" * 40,
]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: value[:4])
def test_value_of_one_word_over_and_over_is_judged(value: str) -> None:
    for name in ("a", "password", "api_key"):
        result = judge(f"{name}: '{value}'\n", {"configuration": "secrets"}, "a.example.yaml")
        assert result.outcome in (Outcome.PASS, Outcome.FAIL)


KEY = "AKIA" + "A1" * 8
FILLERS = {"words": '"k": "v", ', "one word": "x", "few gaps": "x" * 997 + ", "}
OFFSETS = [0, 7, PIECE - OVERLAP - 10, PIECE - 10, PIECE, 2 * PIECE - OVERLAP - 3, 3 * PIECE + 11]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("filler", FILLERS)
def test_secret_in_a_very_long_line_is_found_where_it_is(filler: str, offset: int) -> None:
    before = (FILLERS[filler] * offset)[:offset]
    after = (FILLERS[filler] * PIECE)[: 2 * PIECE]
    text = f"a: 1\nb: '{before} {KEY} {after}'\n"
    result = judge(text, {"configuration": "secrets"}, "a.yaml")
    assert result.outcome is Outcome.FAIL
    assert result.location is not None
    assert result.location[1:] == (2, text.splitlines()[1].index(KEY) + 1)


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("name", ["a.json", "a.yaml", ".env"])
def test_very_long_line_without_a_secret_passes(name: str, filler: str) -> None:
    value = (FILLERS[filler] * PIECE)[: 3 * PIECE].replace('"', "")
    text = f"A={value!r}\n" if name == ".env" else f'{{"a": "{value}"}}\n'
    result = judge(text, {"configuration": "secrets"}, name)
    assert result.outcome is Outcome.PASS, result.message


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(["x" * 900, " ", ", ", "y" * 5000, '"', "z"]), max_size=60))
def test_pieces_hold_all_of_a_line_and_no_piece_is_longer(parts: list[str]) -> None:
    line = "".join(parts)
    pieces = list(pieces_of(line))
    assert max(map(len, pieces)) <= PIECE
    at = 0
    for piece in pieces:
        at = line.index(piece, max(at - OVERLAP, 0))
        at += len(piece)
    assert at == len(line)
    for start in range(0, max(len(line) - 100, 1), 777):
        assert any(line[start : start + 100] in piece for piece in pieces)
