"""What content checks look for: where a text has it, and texts into which it was planted; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.checks.content import KINDS, pattern_of
from pytest_reflex.checks.options import settle
from pytest_reflex.checks.search.patterns import SearchError
from pytest_reflex.criteria.planting import Mutant, example_of, planted
from pytest_reflex.model.rules import CheckSpec

MOST = 2000
"""Matches that are looked for in a text, and that are planted into one."""
LARGEST = 1_000_000
"""Characters that are planted at once."""
_SECONDS = 1.0


def forbids(spec: CheckSpec) -> bool:
    """Return whether a check says of itself that something must not be there."""
    params = spec.params
    return spec.type == "content" and ("max_count" in params or params.get("negate") is True)


def matched(
    checks: Iterable[CheckSpec], variables: Mapping[str, Any], text: str
) -> list[tuple[int, int]]:
    """Return the regions of a text that content checks match, in order, without overlaps."""
    found: list[tuple[int, int]] = []
    for spec, params in _content(checks, variables):
        try:
            spans = pattern_of(spec, params).spans(text, limit=MOST, seconds=_SECONDS)
        except SearchError:
            continue
        found += [(span[0], span[1]) for span in spans if span[1] > span[0]]
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
        most = 0 if params.get("negate") else params.get("max_count")
        if most is None or most >= MOST:
            continue
        search: str = params["search"]
        ignore_case = params.get("ignore_case", False)
        match = search if params.get("literal") else example_of(search, ignore_case=ignore_case)
        if match and len(match) * (most + 1) <= LARGEST:
            yield from planted(text, match, most + 1)


def _content(
    checks: Iterable[CheckSpec], variables: Mapping[str, Any]
) -> Iterator[tuple[CheckSpec, dict[str, Any]]]:
    """Yield content checks with settled parameters, those among alternatives included."""
    for spec in checks:
        chosen: Sequence[CheckSpec] = spec.alternatives or (spec,)
        for one in chosen:
            if one.type == "content":
                yield one, settle(one, KINDS, variables, required=("search",))
