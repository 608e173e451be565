"""The seal of a run: one hash over its rules, checks, thresholds and the code of its plugins."""

from __future__ import annotations

import hashlib
import importlib.util
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
    spec = importlib.util.find_spec(plugin)
    if spec is None or not spec.origin:
        return
    origin = Path(spec.origin)
    if spec.submodule_search_locations:
        yield from sorted(origin.parent.rglob("*.py"))
    elif origin.is_file():
        yield origin
