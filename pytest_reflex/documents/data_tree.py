"""JSON and YAML as trees for edits, and whether a text as a whole is one of them."""

from __future__ import annotations

import re

from pytest_reflex.documents.json_tree import read_json
from pytest_reflex.documents.nodes import Node, NodeKind
from pytest_reflex.documents.syntax import DataSyntaxError
from pytest_reflex.documents.yaml_tree import read_yaml

LONGEST = 2_000_000  # characters

_KEY = re.compile(r"[\w$./{}-]+")


def read_tree(text: str, *, is_json: bool) -> Node | None:
    """Return the tree of a JSON or YAML text, None for empty YAML; raises DataSyntaxError."""
    return read_json(text) if is_json else read_yaml(text)


def whole_tree(text: str) -> tuple[Node, bool] | None:
    """Return the map or list that a text is as a whole, and whether it is JSON.

    Prose such as "Note: this" is YAML too: `looks_like_data` tells.
    """
    for is_json in (True, False):
        try:
            root = read_tree(text, is_json=is_json)
        except DataSyntaxError:
            continue
        if root and root.kind in (NodeKind.MAP, NodeKind.LIST):
            return root, is_json
        return None
    return None


def looks_like_data(root: Node) -> bool:
    """Return whether every key of a map is a word, as in nobody's prose; a list has no keys."""
    keys = [entry.key.value for entry in root.entries if entry.key]
    return len(keys) == len(root.entries) and all(_KEY.fullmatch(str(key)) for key in keys)


def top_keys(text: str) -> list[tuple[str, Node]]:
    """Return the keys of a mapping with their values; nothing where the text is no such data."""
    whole = whole_tree(text) if len(text) <= LONGEST else None
    if whole is None or not looks_like_data(whole[0]):
        return []
    return [(str(entry.key.value), entry.value) for entry in whole[0].entries if entry.key]


def is_data(text: str) -> bool:
    """Return whether a text is structured data as a whole: a mapping with something nested in it.

    A flat one may be Markdown whose paragraphs begin with a word and a colon.
    """
    return any(value.kind is not NodeKind.SCALAR for _, value in top_keys(text))
