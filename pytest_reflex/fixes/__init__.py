"""Fixes that a rule carries: one file per kind, all pure functions of a text."""

from pytest_reflex.fixes.kind import FixError, Formatter, no_formatter
from pytest_reflex.fixes.registry import (
    KINDS,
    AppliedFix,
    FixedText,
    apply,
    apply_all,
    example,
    fix_text,
    problems,
)

__all__ = [
    "KINDS",
    "AppliedFix",
    "FixError",
    "FixedText",
    "Formatter",
    "apply",
    "apply_all",
    "example",
    "fix_text",
    "no_formatter",
    "problems",
]
