"""What a file of a known kind cannot be without: its main part, with something in each entry.

Where such a thing is missing, no other aspect has anything to look at: what was wrong in it must
not count as fixed.
"""

from __future__ import annotations

from typing import Any

from pytest_reflex.checks.structure.configuration.file import ConfigFile, Meaning

_PARTS = {Meaning.COMPOSE: "services", Meaning.WORKFLOW: "jobs"}


def missing_part(config: ConfigFile) -> str:
    """Return the path of the first thing that is missing; empty where all of it is there."""
    part = _PARTS.get(config.meaning, "")
    entries: Any = config.top.get(part)
    if not part or (
        not entries and config.meaning is Meaning.COMPOSE and config.top.get("include")
    ):
        return ""
    if not entries or not isinstance(entries, dict):
        return part
    return next((f"{part}.{k}" for k, entry in entries.items() if not isinstance(entry, dict)), "")
