"""Two versions of a text made one: some parts as in the new version, all others as in the old.

Promises: with every part chosen the result is the new text, with none the old one, to the byte. A
part that is not chosen and was removed returns to its place; one that was added goes.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher

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
    result = [name for name in old if name not in chosen or name in stayed]
    place = -1
    for name in new:
        if name in result:
            place = result.index(name)
        elif name in chosen:
            place += 1
            result.insert(place, name)
    return result


def _in_order(old: list[str], new: list[str]) -> set[str]:
    """Return names that come in the same order in both."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return {name for a, _, size in matcher.get_matching_blocks() for name in old[a : a + size]}


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
        return next((p.gaps[-1] for p in (first, second) if _names(p)[-1] == name), first.gaps[-1])
    for parts in (first, second):
        if name in _names(parts) and parts.follower(name) == following:
            return parts.gaps[_names(parts).index(name)]
    names = _names(first)
    is_inside = name in names[:-1] and name != names[0]
    return first.gaps[names.index(name)] if is_inside else first.between


def _part(parts: Parts, name: str) -> Part:
    return next(part for part in parts.parts if part.name == name)
