"""`set`: give a path in YAML or JSON a value; in a document, its front matter or a fenced block."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_reflex.fixes.data_edit import Edit, nest, set_in_json, set_in_yaml
from pytest_reflex.fixes.kind import Fault, Field, FixError, FixKind, Params
from pytest_reflex.text.data import LANGUAGES
from pytest_reflex.text.data_tree import (
    Node,
    NodeKind,
    data_of,
    descend,
    looks_like_data,
    read_tree,
    top_keys,
    whole_tree,
)
from pytest_reflex.text.lines import DataSyntaxError, LineView, split
from pytest_reflex.text.outline import Fence, front_matter, outline
from pytest_reflex.text.paths import PathSyntaxError, Wildcard, index_of, key_in, parse, render

FRONT_MATTER = "front-matter"
_NEXT_DOCUMENT = re.compile(r"^---(?:[ \t\r].*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Structured:
    """A YAML or JSON text in a document, its tree, and the view that leads back."""

    view: LineView
    root: Node
    is_json: bool

    @property
    def text(self) -> str:
        return self.view.text

    def has(self, step: Any) -> bool:
        return any(True for _ in descend(self.root, (step,)))


def choose(document: str, steps: tuple[Any, ...], block: str | None, contains: str) -> Structured:
    """Return the text that a path is meant for; raises FixError where there is none."""
    if block == FRONT_MATTER:
        return _before_text(document)
    if block is None and (whole := _whole(document, steps)):
        return whole
    wrong: list[str] = []
    found = list(_blocks(document, (block,) if block else ("yaml", "json"), contains, wrong))
    best = next((place for place in found if place.has(steps[0])), None)
    if best:
        return best
    if len(found) == 1:
        return found[0]
    kind = block or "YAML or JSON"
    if found:
        raise FixError(f"set: none of the {len(found)} {kind} blocks has {steps[0]!r}")
    if block is None and not wrong and (other := _other_data(document)):
        raise FixError(f"set: {other}")
    holding = f" holding {contains!r}" if contains else ""
    reason = f": {wrong[0]}" if wrong else ""
    raise FixError(f"set: there is no {kind} block{holding} that can be read{reason}")


def _before_text(document: str) -> Structured:
    found = front_matter(document)
    if found is None or not found.closed:
        raise FixError("set: there is no front matter" + (" that ends" if found else ""))
    if found.language == "toml":
        raise FixError("set: the front matter is TOML, which this fix does not write: take replace")
    view, is_json = LineView(document, found.first, found.last), found.language == "json"
    try:
        root = read_tree(view.text, is_json=is_json)
    except DataSyntaxError as error:
        raise FixError(f"set: the front matter cannot be read: {error}") from None
    if root is None or root.kind is not NodeKind.MAP:
        raise FixError("set: the front matter is empty or no map: take insert_text")
    return Structured(view, root, is_json)


def _other_data(document: str) -> str:
    """Return what a text without blocks is, and that it is left alone; empty for prose."""
    try:
        if tomllib.loads(document):
            return (
                "the artifact is TOML, which this fix does not write: take replace, or insert_text"
            )
    except (tomllib.TOMLDecodeError, RecursionError):
        pass
    documents = [part for part in _NEXT_DOCUMENT.split(document) if part.strip()]
    if len(documents) > 1 and all(top_keys(part) for part in documents):
        return f"the artifact is {len(documents)} YAML documents: only a single one is changed"
    return ""


def _whole(document: str, steps: tuple[Any, ...]) -> Structured | None:
    view = LineView(document)
    whole = whole_tree(view.text)
    if whole is None:
        return None
    place = Structured(view, *whole)
    return place if place.is_json or place.has(steps[0]) or looks_like_data(place.root) else None


def _blocks(
    document: str, kinds: tuple[str, ...], contains: str, wrong: list[str]
) -> Iterator[Structured]:
    lines = split(document)
    for fence in outline(document).fences:
        kind = LANGUAGES.get(fence.language)
        if kind not in kinds or contains not in fence.text:
            continue
        view = LineView(document, fence.first, fence.last, _indent(lines, fence))
        if view.text != fence.text:
            wrong.append(f"line {fence.first}: blocks in a quotation are left alone")
            continue
        try:
            root = read_tree(view.text, is_json=kind == "json")
        except DataSyntaxError as error:
            wrong.append(f"the block at line {fence.first}: {error}")
            continue
        if root and root.kind in (NodeKind.MAP, NodeKind.LIST):
            yield Structured(view, root, kind == "json")


def _indent(lines: list[str], fence: Fence) -> int:
    return max(lines[fence.first - 1].find(fence.marker), 0)


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
        below = _put(data[key], rest, value) if key in data else nest(rest, value)
        return {**data, key: below}
    if isinstance(data, list):
        index = index_of(step)
        if index is None or index == len(data):
            return [*data, nest(rest, value)]
        changed = list(data)
        changed[index] = _put(data[index], rest, value)
        return changed
    return nest(steps, value)


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


SET_VALUE = FixKind(
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
