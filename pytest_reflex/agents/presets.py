"""Known AI tools as data: `presets.toml` beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_reflex.errors import UsageError, did_you_mean


def preset_names() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(_presets())


def preset(name: str) -> dict[str, Any]:
    """Return the table of a preset; raises UsageError where there is none."""
    if name not in _presets():
        raise UsageError(f"there is no preset {name!r}", hint=did_you_mean(name, _presets()))
    return dict(_presets()[name])


@lru_cache(maxsize=1)
def _presets() -> Mapping[str, Mapping[str, Any]]:
    text = (Path(__file__).parent / "presets.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
