"""Two versions of a text made one: some parts as in the new version, all others as in the old.

Promises: with every part chosen the result is the new text, with none the old one, to the byte. A
part that is not chosen and was removed returns to its place; one that was added goes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection

from pytest_reflex.store.parts import Part, Parts, parts_of


def merge(old: str, new: str, chosen: Collection[str]) -> str | None:
    """Return `old` with the `chosen` parts as they are in `new`.

    None where the parts of one of them cannot be told, or would not be the same parts in the
    result: an unfinished code fence in one part swallows the next.
    """
    before, after = parts_of(old), parts_of(new)
    if before is None or after is None or before.kind != after.kind:
        return None
    order = _order(_names(before), _names(after), frozenset(chosen))
    merged = _joined(order, before, after, frozenset(chosen))
    found = parts_of(merged)
    wanted = [(before, after)[name in chosen] for name in order]
    if found is None or [p.text for p in found.parts] != [
        _part(source, name).text for source, name in zip(wanted, order, strict=True)
    ]:
        return None
    return merged


def moved(old: str, new: str, chosen: Collection[str]) -> list[str]:
    """Return the parts that are in both, are not chosen, and come in another order."""
    before, after = parts_of(old), parts_of(new)
    if before is None or after is None:
        return []
    one, other = (
        [name for name in _names(parts) if name not in chosen] for parts in (before, after)
    )
    common = set(one) & set(other)
    one, other = ([name for name in names if name in common] for names in (one, other))
    stayed = _in_order(one, other)
    return [name for name in one if name not in stayed]


def _names(parts: Parts) -> list[str]:
    return [part.name for part in parts.parts]


def _order(old: list[str], new: list[str], chosen: frozenset[str]) -> list[str]:
    """Return the names of the parts of the result, in order."""
    stayed = _in_order(old, new)
    # A chosen part that is new or was moved goes where it is in the new text.
    kept = [name for name in old if name not in chosen or name in stayed]
    behind: dict[str | None, list[str]] = {None: [], **{name: [] for name in kept}}
    place = None
    for name in new:
        if name in behind:
            place = name
        elif name in chosen:
            behind[place].append(name)
    return behind[None] + [name for one in kept for name in (one, *behind[one])]


def _in_order(old: list[str], new: list[str]) -> set[str]:
    """Return as many names as there are that come in the same order in both.

    That is the longest rising row of places in `old`, found in n log n: a text may have thousands
    of parts.
    """
    places = {name: place for place, name in enumerate(old)}
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for place in (places[name] for name in new if name in places):
        length = bisect_left(ends, place)
        before[place] = ends[length - 1] if length else None
        ends[length : length + 1] = [place]
    found, last = set(), ends[-1] if ends else None
    while last is not None:
        found.add(old[last])
        last = before[last]
    return found


def _joined(order: list[str], old: Parts, new: Parts, chosen: frozenset[str]) -> str:
    pieces = []
    for index, name in enumerate(order):
        first, second = (new, old) if name in chosen else (old, new)
        following = order[index + 1] if index + 1 < len(order) else None
        pieces += [_part(first, name).text, _gap(first, second, name, following)]
    return "".join(pieces)


def _gap(first: Parts, second: Parts, name: str, following: str | None) -> str:
    """Return what stands behind a part: as in the text that it comes from, if it can."""
    if following is None:
        ends = (p.gaps[-1] for p in (first, second) if p.parts[-1].name == name)
        return next(ends, first.gaps[-1])
    for parts in (first, second):
        if name in parts.places and parts.follower(name) == following:
            return parts.gaps[parts.places[name]]
    place = first.places.get(name, 0)
    return first.gaps[place] if 0 < place < len(first.parts) - 1 else first.between


def _part(parts: Parts, name: str) -> Part:
    return parts.parts[parts.places[name]]
