"""A JSON text in which one entry is set or removed, and every other character stays."""

from __future__ import annotations

from typing import Any

from pytest_reflex.fixes.json_edit import set_in_json
from pytest_reflex.text.nodes import Node


def set_key(text: str, root: Node, key: str, value: Any) -> str:
    """Return an object with a key that has a value."""
    return set_at(text, root, (key,), value)


def set_at(text: str, root: Node, steps: tuple[Any, ...], value: Any) -> str:
    """Return a text with a value at the end of `steps`; the step ``-`` adds to a list."""
    edit = set_in_json(text, root, steps, value)
    return text[: edit.start] + edit.new + text[edit.end :]


def without_entry(text: str, parent: Node, index: int) -> str:
    """Return a text without one entry of an object or list, and without its comma."""
    entries = parent.entries
    start = (entries[index].key or entries[index].value).start
    end = entries[index].value.end
    if len(entries) == 1:
        start, end = parent.start + 1, parent.end - 1
    elif index:
        start = entries[index - 1].value.end
    else:
        end = (entries[1].key or entries[1].value).start
    return text[:start] + text[end:]
