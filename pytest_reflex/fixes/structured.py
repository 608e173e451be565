"""The YAML or JSON text that a fix means: the whole document, front matter, or a fenced block."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_reflex.fixes.kind import FixError
from pytest_reflex.text.data import LANGUAGES
from pytest_reflex.text.data_tree import looks_like_data, read_tree, top_keys, whole_tree
from pytest_reflex.text.lines import DataSyntaxError, View, split
from pytest_reflex.text.nodes import Node, NodeKind, descend
from pytest_reflex.text.outline import Fence, front_matter, outline

FRONT_MATTER = "front-matter"
_NEXT_DOCUMENT = re.compile(r"^---(?:[ \t\r].*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Structured:
    """A YAML or JSON text in a document, its tree, and the view that leads back."""

    view: View
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
    view, is_json = View(document, found.first, found.last), found.language == "json"
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
    view = View(document)
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
        view = View(document, fence.first, fence.last, _indent(lines, fence))
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
