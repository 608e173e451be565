"""The settings in force for a command, from its flags and the working directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.settings import Settings


def configured(flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in force; a flag that is None was not given."""
    from pytest_reflex.settings import load

    return load(Path.cwd(), flags)
