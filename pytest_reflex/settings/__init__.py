"""Options declared once: name, default, where a value may come from, and where it did come from."""

from pytest_reflex.settings.files import OWN_FILE, global_path
from pytest_reflex.settings.readers import (
    BUDGET_KEYS,
    STEPS,
    budget_changes,
    from_text,
    positive,
    whole,
)
from pytest_reflex.settings.resolve import Origin, Settings, Tier, load
from pytest_reflex.settings.table import BY_KEY, SETTINGS, Setting

__all__ = [
    "BUDGET_KEYS",
    "BY_KEY",
    "OWN_FILE",
    "SETTINGS",
    "STEPS",
    "Origin",
    "Setting",
    "Settings",
    "Tier",
    "budget_changes",
    "from_text",
    "global_path",
    "load",
    "positive",
    "whole",
]
