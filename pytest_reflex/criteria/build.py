"""From YAML events, or JSON text, to values with positions.

Promises: nothing here recurses, so nesting cannot exhaust the stack; a value is a str, an int, a
bool, None, a `WrittenFloat` decimal, a `Table` or an `Items`; every key is a str and unique.
Limits: `MAX_DEPTH`, `MAX_NODES`, and `ALIAS_BUDGET` nodes that aliases may stand for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pytest_reflex.criteria.diagnostics import (
    CONTROL,
    MAX_DEPTH,
    NOWHERE,
    Diagnostics,
    Items,
    NotFiniteError,
    Spot,
    Table,
    number_or_text,
    plain_value,
    quote,
)
from pytest_reflex.model.json_fault import json_fault
from pytest_reflex.text.yaml_data import CONSTANTS, NUMBER_STARTS


def read_json(text: str, diagnostics: Diagnostics) -> Any:
    """Return the value of a JSON text, without positions inside it.

    Raises CriteriaError where it is not JSON, holds a key twice, NaN, or nests too deeply.
    """
    diagnostics.controls = "\\" in text
    try:
        root = json.loads(
            text,
            object_pairs_hook=lambda pairs: _table(pairs, diagnostics),
            parse_int=_number,
            parse_float=_number,
            parse_constant=_number,
        )
        if "\\u" in text:
            json.dumps(root, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        message, at = json_fault(error)
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        diagnostics.stop(f"this is not valid JSON: {message}", (line, column))
    except RecursionError:
        diagnostics.stop(f"nested deeper than {MAX_DEPTH} levels")
    except UnicodeEncodeError:
        diagnostics.stop("a text holds half of a surrogate pair")
    except ValueError as error:
        diagnostics.stop(str(error))
    return _check_depth(root, diagnostics)


def _table(pairs: list[tuple[str, Any]], diagnostics: Diagnostics) -> Table:
    table = Table()
    for key, value in pairs:
        if key in table:
            diagnostics.add(
                f"the key {quote(key)} is given twice in one object", hint="remove one of the two"
            )
        table[key] = value
    return table


def _number(text: str) -> Any:
    if text in ("NaN", "Infinity", "-Infinity"):
        raise ValueError(f"{text} is not a finite number")
    try:
        return number_or_text(text)
    except ValueError as error:
        raise ValueError(f"{text[:40]} {error}") from None


def _check_depth(root: Any, diagnostics: Diagnostics) -> Any:
    """Return the value with lists as `Items`; raises CriteriaError beyond the depth limit."""
    level = [_convert_list(root)]
    first = level[0]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _convert_children(node)]
        if not level:
            return first
    return diagnostics.stop(f"nested deeper than {MAX_DEPTH} levels", NOWHERE)


def _convert_children(node: Any) -> list[Any]:
    if isinstance(node, Table):
        for key, value in node.items():
            node[key] = _convert_list(value)
        children = list(node.values())
    elif isinstance(node, Items):
        node[:] = [_convert_list(value) for value in node]
        children = list(node)
    else:
        return []
    return [child for child in children if isinstance(child, (Table, Items))]


def _convert_list(value: Any) -> Any:
    if type(value) is not list:
        return value
    items = Items()
    items.extend(value)
    return items


MAX_NODES = 1_000_000
ALIAS_BUDGET = 10_000
_YAMLS_OWN = "tag:yaml.org,2002:"

QUOTED_BEFORE_COMMENT = frozenset({"search", "command", "expect_output", "matches", "heading"})
"""Keys whose unquoted value may have lost its end to a `#`."""


def build(events: Iterable[Any], diagnostics: Diagnostics) -> Any:
    """Return the value of the one document that `events` (of ruamel.yaml) describe.

    Problems that leave the rest readable are added to `diagnostics`; others raise CriteriaError.
    """
    from ruamel.yaml import events as kinds

    tree = _Tree(diagnostics)
    handlers = {
        kinds.ScalarEvent: tree.scalar,
        kinds.MappingStartEvent: tree.start_mapping,
        kinds.SequenceStartEvent: tree.start_list,
        kinds.MappingEndEvent: tree.end,
        kinds.SequenceEndEvent: tree.end,
        kinds.AliasEvent: tree.alias,
        kinds.DocumentStartEvent: tree.document,
    }
    for event in events:
        if handler := handlers.get(type(event)):
            handler(event)
    return tree.root


_Key = tuple[str | None, Spot]
"""The key of a mapping whose value is awaited, and its place; None where it was refused."""


class _Tree:
    """The state of one build: the open container, its awaited key, those around it, anchors."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.root: Any = None
        self._diagnostics = diagnostics
        self._documents = 0
        self._open: Table | Items | None = None
        self._key: _Key | None = None
        self._around: list[tuple[Table | Items | None, _Key | None, str | None, int]] = []
        self._nodes = 0
        self._borrowed = 0
        self._anchors: dict[str, tuple[Any, int] | None] = {}

    def document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self._diagnostics.stop(
                "a second document starts here", _spot(event), hint="keep one document per file"
            )

    def scalar(self, event: Any) -> None:
        spot = self._enter(event)
        value: Any = event.value
        style = event.style
        parent, key = self._open, self._key
        if key is None and type(parent) is Table:
            self._read_key(parent, value, spot, not style)
            return
        if not style:
            if key and value and key[0] in QUOTED_BEFORE_COMMENT:
                self._look_for_comment(key[0], event)
            if not value or value[0] in NUMBER_STARTS or value in CONSTANTS:
                value = self._plain(value, spot)
        elif style == '"' and CONTROL.search(value):
            self._diagnostics.controls = True
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._put(value, spot)

    def start_mapping(self, event: Any) -> None:
        self._start(Table(self._enter(event)), event)

    def start_list(self, event: Any) -> None:
        self._start(Items(self._enter(event)), event)

    def end(self, event: Any) -> None:
        node = self._open
        self._open, self._key, anchor, before = self._around.pop()
        if anchor:
            self._anchors[anchor] = (node, self._nodes - before)

    def alias(self, event: Any) -> None:
        spot = _spot(event)
        if self._awaits_key():
            self._diagnostics.stop("an alias cannot be a key", spot, hint="write the key itself")
        known = self._anchors.get(event.anchor)
        if known is None:
            hint = "put a text that starts with * in quotes"
            self._diagnostics.stop(
                f"alias *{event.anchor} has no anchor before it", spot, hint=hint
            )
        value, size = known
        self._borrowed += size
        self._nodes += size
        if self._borrowed > ALIAS_BUDGET:
            self._diagnostics.stop(
                f"alias budget used up: aliases stand for more than {ALIAS_BUDGET} values",
                spot,
                hint="write the values out, or fewer of them",
            )
        self._put(value, spot)

    def _start(self, node: Table | Items, event: Any) -> None:
        if self._awaits_key():
            hint = 'put a text that starts with "{" or "[" in quotes'
            self._diagnostics.stop("a mapping or list cannot be a key", node.spot, hint=hint)
        if len(self._around) >= MAX_DEPTH:
            self._diagnostics.stop(f"nested deeper than {MAX_DEPTH} levels", node.spot)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._put(node, node.spot)
        self._around.append((self._open, self._key, event.anchor, self._nodes - 1))
        self._open, self._key = node, None

    def _awaits_key(self) -> bool:
        return self._key is None and type(self._open) is Table

    def _read_key(self, table: Table, text: str, spot: Spot, plain: bool) -> None:
        key: str | None = text
        if plain and text == "<<":
            self._diagnostics.add("merge keys are not supported", spot, hint="write the keys out")
            key = None
        elif plain and not _is_text(text):
            self._diagnostics.add(
                f"the key {text or 'null'} is not text", spot, hint="put it in quotes"
            )
            key = None
        elif text in table:
            first = table.at_key(text)[0]
            self._diagnostics.add(
                f"{quote(text)} is given twice, first in line {first}",
                spot,
                hint="remove one of the two",
            )
            key = None
        self._key = key, spot

    def _put(self, value: Any, spot: Spot) -> None:
        parent = self._open
        if parent is None:
            self.root = value
        elif isinstance(parent, Items):
            parent.append(value)
            parent.spots.append(spot)
        elif self._key is not None:
            key, place = self._key
            self._key = None
            if key is not None:
                parent[key] = value
                parent.spots.append(place + spot)

    def _plain(self, text: str, spot: Spot) -> Any:
        """Return what a plain scalar that may be no text stands for."""
        try:
            return plain_value(text)
        except ValueError as error:
            hint = "put it in quotes if it is meant as text"
            as_value = "must be a finite number >= 0" if isinstance(error, NotFiniteError) else ""
            message = f"{quote(text)} {error}"
            self._diagnostics.refuse(message, spot, hint=hint, as_value=as_value)
            return None

    def _look_for_comment(self, key: str, event: Any) -> None:
        mark = event.end_mark
        rest = self._diagnostics.line(mark.line + 1)[mark.column :].lstrip()
        if rest.startswith("#"):
            self._diagnostics.refuse(
                f"{key} is unquoted and ends before `{rest[:20]}`: `#` starts a comment",
                _spot(event),
                hint="put the whole value in quotes, or the comment on a line of its own",
            )

    def _refuse_tag(self, event: Any, spot: Spot) -> None:
        hint = "put a text that starts with ! in quotes"
        tag = str(event.tag)
        if tag.startswith(_YAMLS_OWN):
            hint = "remove the tag"
            tag = "!!" + tag.removeprefix(_YAMLS_OWN)
            if isinstance(value := getattr(event, "value", None), str):
                hint += f": write {quote(value) if tag == '!!str' else value}"
        self._diagnostics.stop(f"the tag {tag} is not supported", spot, hint=hint)

    def _enter(self, event: Any) -> Spot:
        """Count a node, and return its place."""
        mark = event.start_mark
        spot = mark.line + 1, mark.column + 1
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._diagnostics.stop(f"more than {MAX_NODES} values", spot, hint="split the file")
        if event.tag is not None:
            self._refuse_tag(event, spot)
        return spot


def _spot(event: Any) -> Spot:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def _is_text(word: str) -> bool:
    if word and word[0] not in NUMBER_STARTS:
        return word not in CONSTANTS
    try:
        return isinstance(plain_value(word), str)
    except ValueError:
        return False
