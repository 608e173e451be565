"""The first keys of a text that is data as a whole: JSON, or YAML that is nobody's prose."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_reflex.documents.json_tree import read_json
from pytest_reflex.documents.nodes import Node, NodeKind
from pytest_reflex.documents.syntax import DataSyntaxError
from pytest_reflex.documents.yaml_tree import read_yaml

LONGEST = 2_000_000  # characters

_KEY = re.compile(r"[\w$./{}-]+")


def top_keys(text: str) -> list[tuple[str, Node]]:
    """Return the keys of a mapping with their values; nothing where the text is no mapping.

    Prose such as "Note: this" is YAML too, so every key has to look like one.
    """
    if len(text) > LONGEST:
        return []
    readers: tuple[Callable[[str], Node | None], ...] = (read_json, read_yaml)
    for read in readers:
        try:
            root = read(text)
        except DataSyntaxError:
            continue
        if root is None or root.kind is not NodeKind.MAP:
            return []
        found = [(str(e.key.value), e.value) for e in root.entries if e.key]
        return found if all(_KEY.fullmatch(key) for key, _ in found) else []
    return []


def is_data(text: str) -> bool:
    """Return whether a text is structured data as a whole: a mapping with something nested in it.

    A flat one may be Markdown whose paragraphs begin with a word and a colon.
    """
    return any(value.kind is not NodeKind.SCALAR for _, value in top_keys(text))
