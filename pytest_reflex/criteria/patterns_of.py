"""What checks look for: where a text has it, and texts into which it was planted; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_reflex.criteria.author.planting import Mutant, example_of, planted
from pytest_reflex.model.rules import CheckSpec, variable_name
from pytest_reflex.model.targets import CompiledCheck, TextSearch
from pytest_reflex.search.patterns import SearchError

MOST = 2000
"""Matches that are looked for in a text, and that are planted into one."""
LARGEST = 1_000_000
"""Characters that are planted at once."""
_SECONDS = 1.0


def matched(checks: Iterable[CompiledCheck], text: str) -> list[tuple[int, int]]:
    """Return the regions of a text that searches of checks match, in order, without overlaps.

    Where there are more matches than are looked for, the last region goes on to the end.
    """
    found: list[tuple[int, int]] = []
    for search in _searches(checks):
        try:
            spans = search.spans(text, limit=MOST, seconds=_SECONDS)
        except SearchError:
            continue
        regions = [(span[0], span[1]) for span in spans if span[1] > span[0]]
        if len(spans) >= MOST and regions:
            regions[-1] = (regions[-1][0], len(text))
        found += regions
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
    return apart


def plants(checks: Iterable[CompiledCheck], text: str) -> Iterator[Mutant]:
    """Yield texts that have one match too many of what checks forbid or limit."""
    for search in _searches(checks):
        most = _most(search)
        match = _example(search) if most is not None else ""
        if match and most is not None and len(match) * (most + 1) <= LARGEST:
            yield from planted(text, match, most + 1)


def without_example(checks: Iterable[CompiledCheck]) -> bool:
    """Return whether a check forbids something of which no example could be made."""
    found = (search for search in _searches(checks) if _most(search) is not None)
    return any(not _example(search) for search in found)


def _most(search: TextSearch) -> int | None:
    """Return how many matches are allowed; None for any number, or more than are planted."""
    return search.most if search.most is not None and search.most < MOST else None


def _example(search: TextSearch) -> str:
    if search.literal:
        return search.source
    return example_of(search.source, ignore_case=search.ignore_case)


def globs_of(checks: Iterable[CheckSpec], variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield the globs by which checks choose files of a folder."""
    for spec in checks:
        for one in spec.alternatives or (spec,):
            value = one.params.get("files", ())
            value = variables.get(variable_name(value), value)
            yield from (value,) if isinstance(value, str) else value


def _searches(checks: Iterable[CompiledCheck]) -> Iterator[TextSearch]:
    """Yield what checks look for, those among alternatives included."""
    for check in checks:
        yield from (part.search for part in check.parts if part.search)
