"""The seal of a run: one hash over its rules, checks, thresholds and the code of its plugins."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_reflex.model.rules import Criteria


def seal_of(criteria: Criteria, plugins: Iterable[str] = ()) -> str:
    """Return the SHA-256 that changes where criteria or the source of a plugin change."""
    text = json.dumps(criteria.to_json(), sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in plugins:
        for path in _sources(name):
            digest.update(f"\0{name}\0{path.name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(plugin: str) -> Iterator[Path]:
    """Yield the source files of a plugin: its module, or every module of its package."""
    try:
        module = importlib.import_module(plugin)
    except ImportError:
        return
    origin = Path(getattr(module, "__file__", None) or "")
    if hasattr(module, "__path__"):
        yield from sorted(origin.parent.rglob("*.py"))
    elif origin.is_file():
        yield origin
