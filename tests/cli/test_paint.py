"""Colours of what a loop tells: where they are, and that they are nothing but colours."""

from __future__ import annotations

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.cli.paint import painted

GREEN, RED, YELLOW, BOLD, OFF = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
LINES = {
    "passed": ("── Iteration 1/4 | Phase A | Score: 1.000 | PASS ──", GREEN),
    "failed": ("── Iteration 1/4 | Phase A | Score: 0.000 | FAIL ──", RED),
    "blockers": ("Failed: a.x.one", RED),
    "no blockers": ("Failed: none", ""),
    "warnings": ("Warnings: a.x.two", YELLOW),
    "no warnings": ("Warnings: none", ""),
    "the gate": ("Gate: passed", GREEN),
    "the gate that held": ("Gate: NOT passed", RED),
    "the verdict again": ("Gate: passed, score 1.000, x; artifact: a.md", GREEN),
    "no verdict again": ("Gate: NOT passed, score 0.000, x", RED),
    "a bad answer": ("PLAN gave nothing usable: it broke", YELLOW),
    "an error": ("[10:00:00] ERROR: Aborting after 3 consecutive failures", RED),
    "a warning": ("[10:00:00] WARNING: AI CLI failed (exit 1)", YELLOW),
    "the limit": ("[10:00:00] Reached max iterations: 3 (total: 1.0s)", GREEN),
    "the limit by a failure": (
        "[10:00:00] Reached max iterations: 3; the last iteration failed",
        YELLOW,
    ),
    "the signal": ("[10:00:00] Success signal in iteration 3 (total: 1.0s)", GREEN),
    "what an agent says": ("    | ERROR: Aborting", ""),
    "other words": ("Hash: 12345678", ""),
}


@pytest.mark.parametrize(("line", "colour"), LINES.values(), ids=LINES.keys())
def test_a_line_has_the_colour_of_its_meaning(line: str, colour: str) -> None:
    assert painted(line) == (
        f"{colour}{BOLD if colour != YELLOW else ''}{line}{OFF}" if colour else line
    )


def test_a_line_that_goes_on_goes_on_in_its_colour() -> None:
    text = painted("Failed: a.x.one,\n    a.x.two\nHash: 1\n    2").split("\n")
    assert text[1] == f"{RED}{BOLD}    a.x.two{OFF}"
    assert text[2:] == ["Hash: 1", "    2"]


def test_only_the_rule_of_an_issue_is_bold() -> None:
    assert painted("  - a.x.one: missing") == f"{BOLD}  - a.x.one:{OFF} missing"


@given(st.text(alphabet=st.sampled_from("──| PASFIL:-\n axGted1nowr"), max_size=60))
@settings(deadline=None, max_examples=50)
def test_nothing_but_colours_is_added(text: str) -> None:
    assert click.unstyle(painted(text)) == text
