"""What is mutated, how, and by which tests it is tried: the one place that says so."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".mutants"

MODULES = (
    "pytest_reflex/verdict/formatting.py",
    "pytest_reflex/verdict/gate.py",
    "pytest_reflex/verdict/progress.py",
    "pytest_reflex/verdict/score.py",
    "pytest_reflex/drivers/common/drive.py",
    "pytest_reflex/drivers/reflex/decide.py",
    "pytest_reflex/drivers/reflex/fold.py",
    "pytest_reflex/drivers/reflex/stop_request.py",
    "pytest_reflex/session/conclude.py",
    "pytest_reflex/storage/journal.py",
    "pytest_reflex/storage/lines.py",
    "pytest_reflex/drivers/iterate/decide.py",
    "pytest_reflex/drivers/flow/decide.py",
    "pytest_reflex/drivers/goal/transitions.py",
    "pytest_reflex/checks/content.py",
    "pytest_reflex/checks/selection.py",
)
"""Where a mistake turns a gate green, or loses a line of a journal, and nobody notices."""

TESTS = (
    "tests/verdict",
    "tests/checks",
    "tests/storage",
    *(f"tests/judged/test_{name}.py" for name in ("ballot", "check", "evaluate")),
    *(
        f"tests/drivers/reflex/test_{name}.py"
        for name in (
            "decide", "extending", "feedback", "fold", "foreign", "history", "limits", "partial",
            "state_on_disk", "stop_request", "unreadable", "verifying",
        )
    ),
    *(f"tests/structure/test_{name}.py" for name in ("across", "folder_rules", "parameters")),
    "tests/drivers/common/test_drive.py",
    *(
        f"tests/drivers/iterate/test_{name}.py"
        for name in ("bounds", "budget", "decide", "driver", "gates", "outcome", "stuck")
    ),
    *(f"tests/drivers/flow/test_{name}.py" for name in ("cycle", "machine", "seed_table")),
    *(
        f"tests/drivers/goal/test_{name}.py"
        for name in ("breakers", "seed_table", "transitions", "verdict")
    ),
    *(
        f"tests/plugin/test_{name}.py"
        for name in (  # each runs pytest in pytest
            "conclude", "exits", "left_out", "marks", "selection", "session", "workers",
        )
    ),
)  # fmt: skip
"""The tests that run these modules in their own process, and say how they decide.

A file is added here when its tests kill what the others let live; measuring all takes long.
"""


def test_files() -> list[Path]:
    """Return the files of the tests, in the order of their names."""
    places = [ROOT / place for place in TESTS]
    found = (
        path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place])
    )
    return sorted(path for path in found if path.name.startswith("test_"))


OPERATORS = (
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "ZeroIterationForLoop",
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in (
            "Add_Sub",
            "Sub_Add",
            "Mul_Div",
            "Div_Mul",
            "FloorDiv_Mul",
            "Mod_Mul",
            "Pow_Mul",
            "BitOr_BitAnd",
            "BitAnd_BitOr",
        )
    ),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in (
            "Eq_NotEq",
            "NotEq_Eq",
            "Is_IsNot",
            "IsNot_Is",
            "Lt_LtE",
            "Lt_GtE",
            "LtE_Lt",
            "LtE_Gt",
            "Gt_GtE",
            "Gt_LtE",
            "GtE_Gt",
            "GtE_Lt",
        )
    ),
)
"""Operators of cosmic-ray that change what a line means, one or two of each kind.

Its others replace an operator by one that the operands do not have: any test kills those.
"""
