"""`set`: give a path in a YAML or JSON text, or in a fenced block of a Markdown text, a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_reflex.fixes.data_edit import set_in_yaml
from pytest_reflex.fixes.edit import Edit, nested
from pytest_reflex.fixes.json_edit import set_in_json
from pytest_reflex.fixes.kind import Fault, Field, FixError, Kind, Params
from pytest_reflex.fixes.structured import FRONT_MATTER, Structured, choose
from pytest_reflex.text.data_tree import read_tree
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.nodes import data_of, descend
from pytest_reflex.text.paths import PathSyntaxError, Wildcard, index_of, key_in, parse, render


def apply(params: Params, document: str) -> str:
    """Return the document with the value set; maps that are missing on the way are made.

    Without `block` the whole document is meant where it is JSON or YAML, else its first fenced
    block that has the path's first key, else its only one. Comments, order, quoting and
    everything else stay; that nothing but the path changed is verified before returning.
    """
    steps = parse(params["path"])
    value = params["value"]
    place = choose(document, steps, params.get("block"), params.get("contains", ""))
    if _is_done(place, steps, value):
        return document
    edit = (set_in_json if place.is_json else set_in_yaml)(place.text, place.root, steps, value)
    _verify(place, steps, value, edit)
    return place.view.splice(edit.start, edit.end, edit.new)


def _is_done(place: Structured, steps: tuple[Any, ...], value: Any) -> bool:
    if steps[-1] == "-":
        way = list(descend(place.root, steps[:-1]))
        held = data_of(way[-1][1].value if way else place.root)
        whole = len(way) == len(steps) - 1 and isinstance(held, list)
        return whole and any(_same(item, value) for item in held)
    way = list(descend(place.root, steps))
    return len(way) == len(steps) and _same(data_of(way[-1][1].value), value)


def _verify(place: Structured, steps: tuple[Any, ...], value: Any, edit: Edit) -> None:
    """Raise FixError where the edit did anything but set the value."""
    new = place.text[: edit.start] + edit.new + place.text[edit.end :]
    try:
        after = read_tree(new, is_json=place.is_json)
    except DataSyntaxError as error:
        reason = f"the result would be broken: {error}"
    else:
        if after and _same(data_of(after), _put(data_of(place.root), steps, value)):
            return
        reason = "it would disturb what is around it"
    raise FixError(f"set: {render(steps)} cannot be set in this layout ({reason}); do it by hand")


def _put(data: Any, steps: tuple[Any, ...], value: Any) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(data, dict) and isinstance(step, str):
        found = key_in(data, step)
        key = step if found is None else found
        below = _put(data[key], rest, value) if key in data else nested(rest, value)
        return {**data, key: below}
    if isinstance(data, list):
        index = index_of(step)
        if index is None or index == len(data):
            return [*data, nested(rest, value)]
        changed = list(data)
        changed[index] = _put(data[index], rest, value)
        return changed
    return nested(steps, value)


def _same(one: Any, other: Any) -> bool:
    """Compare data as documents do: true is not 1, and 1 is not 1.0."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    for kind in (bool, int, float, str):
        if isinstance(one, kind) or isinstance(other, kind):
            alike = one == other or (one != one and other != other)
            return isinstance(one, kind) and isinstance(other, kind) and bool(alike)
    return bool(one == other)


def faults(params: Params) -> Iterable[Fault]:
    """Find a path that cannot be set and a value that no document can hold."""
    try:
        steps = parse(params["path"])
    except PathSyntaxError as error:
        yield "path", f"set: path: {error}"
        return
    if not steps:
        yield "path", "set: path is empty"
    if any(isinstance(step, Wildcard) for step in steps):
        yield "path", f"set: path {params['path']!r} has a wildcard; one place is needed"
    if wrong := _unfit(params["value"]):
        yield "value", f"set: value holds {wrong}"


def _unfit(value: Any) -> str:
    if isinstance(value, Mapping):
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            return f"the key {odd!r}, which is not text"
        return next(filter(None, map(_unfit, value.values())), "")
    if isinstance(value, list):
        return next(filter(None, map(_unfit, value)), "")
    if isinstance(value, float) and value - value != 0:
        return f"{value}, which JSON does not have"
    plain = value is None or isinstance(value, str | int | float)
    return "" if plain else f"a {type(value).__name__}"


SET_VALUE = Kind(
    name="set",
    fields={
        "path": Field(str, required=True, filled=True),
        "value": Field(object, required=True),
        "block": Field(str, choices=("yaml", "json", FRONT_MATTER)),
        "contains": Field(str, filled=True),
    },
    apply=apply,
    faults=faults,
)
