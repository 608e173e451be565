"""From the events of a YAML parser to values with positions.

Promises: nothing here recurses, so nesting cannot exhaust the stack; a value is a str, an int, a
bool, None, a `Written` decimal, a `Table` or an `Items`; every key is a str and unique.
Limits: `MAX_DEPTH`, `MAX_NODES`, and `ALIAS_BUDGET` nodes that aliases may stand for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_reflex.criteria.faults import Faults, Spot
from pytest_reflex.criteria.nodes import MAX_DEPTH, Items, Table
from pytest_reflex.criteria.values import CONTROL, NotFiniteError, plain_value
from pytest_reflex.criteria.wording import quoted

MAX_NODES = 1_000_000
ALIAS_BUDGET = 10_000
_YAMLS_OWN = "tag:yaml.org,2002:"

QUOTED_BEFORE_COMMENT = frozenset({"search", "command", "expect_output", "matches", "heading"})
"""Keys whose unquoted value may have lost its end to a `#`."""


def build(events: Iterable[Any], faults: Faults) -> Any:
    """Return the value of the one document that `events` (of ruamel.yaml) describe.

    Faults that leave the rest readable are added to `faults`; others raise CriteriaError.
    """
    from ruamel.yaml import events as kinds

    tree = _Tree(faults)
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


class _Key:
    """The key of a mapping whose value is awaited; `text` is None where the key was refused."""

    __slots__ = ("spot", "text")

    def __init__(self, text: str | None, spot: Spot) -> None:
        self.text = text
        self.spot = spot


class _Tree:
    """The state of one build: open containers, awaited keys, anchors."""

    def __init__(self, faults: Faults) -> None:
        self.root: Any = None
        self._faults = faults
        self._documents = 0
        self._open: list[Table | Items] = []
        self._keys: list[_Key | None] = []
        self._starts: list[tuple[str | None, int]] = []
        self._nodes = 0
        self._borrowed = 0
        self._anchors: dict[str, tuple[Any, int] | None] = {}

    def document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self._faults.stop(
                "a second document starts here", _spot(event), hint="keep one document per file"
            )

    def scalar(self, event: Any) -> None:
        self._count(event)
        spot = _spot(event)
        self._refuse_tag(event, spot)
        plain = not event.style
        if self._awaits_key():
            self._key(event, spot, plain)
            return
        value: Any = event.value
        if plain:
            value = self._plain(event, spot)
        elif event.style == '"' and CONTROL.search(value):
            self._faults.controls = True
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._put(value, spot)

    def start_mapping(self, event: Any) -> None:
        self._start(Table(_spot(event)), event)

    def start_list(self, event: Any) -> None:
        self._start(Items(_spot(event)), event)

    def end(self, event: Any) -> None:
        node = self._open.pop()
        self._keys.pop()
        anchor, before = self._starts.pop()
        if anchor:
            self._anchors[anchor] = (node, self._nodes - before)

    def alias(self, event: Any) -> None:
        spot = _spot(event)
        if self._awaits_key():
            self._faults.stop("an alias cannot be a key", spot, hint="write the key itself")
        known = self._anchors.get(event.anchor)
        if known is None:
            hint = "put a text that starts with * in quotes"
            self._faults.stop(f"alias *{event.anchor} has no anchor before it", spot, hint=hint)
        value, size = known
        self._borrowed += size
        self._nodes += size
        if self._borrowed > ALIAS_BUDGET:
            self._faults.stop(
                f"alias budget used up: aliases stand for more than {ALIAS_BUDGET} values",
                spot,
                hint="write the values out, or fewer of them",
            )
        self._put(value, spot)

    def _start(self, node: Table | Items, event: Any) -> None:
        self._count(event)
        self._refuse_tag(event, node.spot)
        if self._awaits_key():
            hint = 'put a text that starts with "{" or "[" in quotes'
            self._faults.stop("a mapping or list cannot be a key", node.spot, hint=hint)
        if len(self._open) >= MAX_DEPTH:
            self._faults.stop(f"nested deeper than {MAX_DEPTH} levels", node.spot)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._put(node, node.spot)
        self._open.append(node)
        self._keys.append(None)
        self._starts.append((event.anchor, self._nodes - 1))

    def _awaits_key(self) -> bool:
        return bool(self._open) and type(self._open[-1]) is Table and self._keys[-1] is None

    def _key(self, event: Any, spot: Spot, plain: bool) -> None:
        text: str | None = event.value
        table = self._open[-1]
        assert isinstance(table, Table)
        if plain and text == "<<":
            self._faults.add("merge keys are not supported", spot, hint="write the keys out")
            text = None
        elif plain and not _is_text(event.value):
            self._faults.add(f"the key {text or 'null'} is not text", spot, hint="put it in quotes")
            text = None
        elif text in table:
            first = table.at_key(event.value)[0]
            self._faults.add(
                f"{quoted(event.value)} is given twice, first in line {first}",
                spot,
                hint="remove one of the two",
            )
            text = None
        self._keys[-1] = _Key(text, spot)

    def _put(self, value: Any, spot: Spot) -> None:
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent, Items):
            parent.append(value)
            parent.spots.append(spot)
            return
        key, self._keys[-1] = self._keys[-1], None
        if key is not None and key.text is not None:
            parent[key.text] = value
            parent.spots.append(key.spot + spot)

    def _plain(self, event: Any, spot: Spot) -> Any:
        try:
            value = plain_value(event.value)
        except ValueError as error:
            hint = "put it in quotes if it is meant as text"
            as_value = "must be a finite number >= 0" if isinstance(error, NotFiniteError) else ""
            message = f"{quoted(event.value)} {error}"
            self._faults.refuse(message, spot, hint=hint, as_value=as_value)
            return None
        self._look_for_comment(event)
        return value

    def _look_for_comment(self, event: Any) -> None:
        key = self._keys[-1] if self._keys else None
        if key is None or key.text not in QUOTED_BEFORE_COMMENT or not event.value:
            return
        mark = event.end_mark
        rest = self._faults.line(mark.line + 1)[mark.column :].lstrip()
        if rest.startswith("#"):
            self._faults.refuse(
                f"{key.text} is unquoted and ends before `{rest[:20]}`: `#` starts a comment",
                _spot(event),
                hint="put the whole value in quotes, or the comment on a line of its own",
            )

    def _refuse_tag(self, event: Any, spot: Spot) -> None:
        if event.tag is None:
            return
        hint = "put a text that starts with ! in quotes"
        tag = str(event.tag)
        if tag.startswith(_YAMLS_OWN):
            hint = "remove the tag"
            tag = "!!" + tag.removeprefix(_YAMLS_OWN)
            if isinstance(value := getattr(event, "value", None), str):
                hint += f": write {quoted(value) if tag == '!!str' else value}"
        self._faults.stop(f"the tag {tag} is not supported", spot, hint=hint)

    def _count(self, event: Any) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._faults.stop(f"more than {MAX_NODES} values", _spot(event), hint="split the file")


def _spot(event: Any) -> Spot:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def _is_text(word: str) -> bool:
    try:
        return isinstance(plain_value(word), str)
    except ValueError:
        return False
