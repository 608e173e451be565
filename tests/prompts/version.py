"""The golden prompts belong to a version: who changes one raises the other."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pytest_reflex.agents.prompts import VERSION

GOLDEN = Path(__file__).parent / "golden"
KEPT = Path(__file__).parent / "version.json"
RAISE = "a prompt changed: raise VERSION in pytest_reflex/agents/prompts.py, then write them again"


def current() -> dict[str, Any]:
    """Return today's version, and a hash of the names and texts of all golden prompts."""
    digest = hashlib.sha256()
    for path in sorted(GOLDEN.glob("*.txt")):
        digest.update(f"{path.name}\n{path.read_text('utf-8')}\n".encode())
    return {"version": VERSION, "sha256": digest.hexdigest()}


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return found


def is_raised(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether the prompts are those of before, or their version is a higher one."""
    return bool(before["sha256"] == now["sha256"] or before["version"] < now["version"])


def keep() -> bool:
    """Keep version and hash; return False, and keep nothing, where the version has to be raised."""
    now = current()
    if KEPT.exists() and not is_raised(kept(), now):
        return False
    KEPT.write_text(json.dumps(now, indent=2) + "\n", "utf-8")
    return True
