"""What content checks look for: where a text has it, and texts into which it was planted; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.checks import structure
from pytest_reflex.checks.content import KINDS, pattern_of
from pytest_reflex.checks.options import settle, variable_name
from pytest_reflex.criteria.planting import Mutant, example_of, planted
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.search.patterns import SearchError

MOST = 2000
"""Matches that are looked for in a text, and that are planted into one."""
LARGEST = 1_000_000
"""Characters that are planted at once."""
_SECONDS = 1.0


def forbids(spec: CheckSpec, variables: Mapping[str, Any]) -> bool:
    """Return whether a check says of itself that something must not be there."""
    params = spec.params
    if spec.type == "structure":
        return structure.forbids(spec, variables)
    return spec.type == "content" and ("max_count" in params or params.get("negate") is True)


def matched(
    checks: Iterable[CheckSpec], variables: Mapping[str, Any], text: str
) -> list[tuple[int, int]]:
    """Return the regions of a text that content checks match, in order, without overlaps.

    Where there are more matches than are looked for, the last region goes on to the end.
    """
    found: list[tuple[int, int]] = []
    for spec, params in _content(checks, variables):
        try:
            spans = pattern_of(spec, params).spans(text, limit=MOST, seconds=_SECONDS)
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


def plants(
    checks: Iterable[CheckSpec], variables: Mapping[str, Any], text: str
) -> Iterator[Mutant]:
    """Yield texts that have one match too many of what content checks forbid or limit."""
    for _, params in _content(checks, variables):
        most = _most(params)
        match = _example(params) if most is not None else ""
        if match and most is not None and len(match) * (most + 1) <= LARGEST:
            yield from planted(text, match, most + 1)


def without_example(checks: Iterable[CheckSpec], variables: Mapping[str, Any]) -> bool:
    """Return whether a check forbids something of which no example could be made."""
    found = (params for _, params in _content(checks, variables) if _most(params) is not None)
    return any(not _example(params) for params in found)


def _most(params: Mapping[str, Any]) -> int | None:
    """Return how many matches are allowed; None for any number, or more than are planted."""
    most: int | None = 0 if params.get("negate") else params.get("max_count")
    return most if most is not None and most < MOST else None


def _example(params: Mapping[str, Any]) -> str:
    search: str = params["search"]
    if params.get("literal"):
        return search
    return example_of(search, ignore_case=params.get("ignore_case", False))


def globs_of(checks: Iterable[CheckSpec], variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield the globs by which checks choose files of a folder."""
    for spec in checks:
        for one in spec.alternatives or (spec,):
            value = one.params.get("files", ())
            value = variables.get(variable_name(value), value)
            yield from (value,) if isinstance(value, str) else value


def _content(
    checks: Iterable[CheckSpec], variables: Mapping[str, Any]
) -> Iterator[tuple[CheckSpec, dict[str, Any]]]:
    """Yield content checks with settled parameters, those among alternatives included."""
    for spec in checks:
        chosen: Sequence[CheckSpec] = spec.alternatives or (spec,)
        for one in chosen:
            if one.type == "content":
                yield one, settle(one, KINDS, variables)
