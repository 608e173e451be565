"""Orders of a person's own: files that take the place of how a step is told to go about it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_reflex.text.own_text import read_own_text

_HINT = "fix loop.prompts in the configuration"


def read_orders(files: Mapping[str, str], project: Path) -> dict[str, str]:
    """Return the texts of files by step; raises UsageError for one that cannot be used."""
    return {
        step: read_own_text(project / name, f"the prompt of {step}", hint=_HINT)
        for step, name in files.items()
    }
