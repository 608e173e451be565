"""JSON text to the same values as YAML: for the `criteria` object of a run.json."""

from __future__ import annotations

import json
from typing import Any

from pytest_reflex.criteria.diagnostics import MAX_DEPTH, Items, Table, number_or_text
from pytest_reflex.criteria.faults import NOWHERE, Faults
from pytest_reflex.criteria.wording import quoted
from pytest_reflex.model.json_fault import json_fault


def read_json(text: str, faults: Faults) -> Any:
    """Return the value of a JSON text, without positions inside it.

    Raises CriteriaError where it is not JSON, holds a key twice, NaN, or nests too deeply.
    """
    faults.controls = "\\" in text
    try:
        root = json.loads(
            text,
            object_pairs_hook=lambda pairs: _table(pairs, faults),
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
        faults.stop(f"this is not valid JSON: {message}", (line, column))
    except RecursionError:
        faults.stop(f"nested deeper than {MAX_DEPTH} levels")
    except UnicodeEncodeError:
        faults.stop("a text holds half of a surrogate pair")
    except ValueError as error:
        faults.stop(str(error))
    return _checked(root, faults)


def _table(pairs: list[tuple[str, Any]], faults: Faults) -> Table:
    table = Table()
    for key, value in pairs:
        if key in table:
            faults.add(
                f"the key {quoted(key)} is given twice in one object", hint="remove one of the two"
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


def _checked(root: Any, faults: Faults) -> Any:
    """Return the value with lists as `Items`; raises CriteriaError beyond the depth limit."""
    level = [_converted(root)]
    first = level[0]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _convert_children(node)]
        if not level:
            return first
    return faults.stop(f"nested deeper than {MAX_DEPTH} levels", NOWHERE)


def _convert_children(node: Any) -> list[Any]:
    if isinstance(node, Table):
        for key, value in node.items():
            node[key] = _converted(value)
        children = list(node.values())
    elif isinstance(node, Items):
        node[:] = [_converted(value) for value in node]
        children = list(node)
    else:
        return []
    return [child for child in children if isinstance(child, (Table, Items))]


def _converted(value: Any) -> Any:
    if type(value) is not list:
        return value
    items = Items()
    items.extend(value)
    return items
