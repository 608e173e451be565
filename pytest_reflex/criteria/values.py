"""Values that were read, as plain data; `{var: name}` in a check becomes the variable's value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.nodes import Items, Table
from pytest_reflex.criteria.scalars import Written, plain_value
from pytest_reflex.errors import UsageError, did_you_mean

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

VAR = "var"


def plain(value: Any, variable: Callable[[Table], Any] | None = None) -> Any:
    """Return dicts, lists, texts, numbers, booleans and None; `variable` replaces `{var: name}`.

    Nesting is bounded by the reader's depth limit and alias budget.
    """
    if isinstance(value, Table):
        if variable and len(value) == 1 and isinstance(value.get(VAR), str):
            return variable(value)
        return {key: plain(item, variable) for key, item in value.items()}
    if isinstance(value, Items):
        return [plain(item, variable) for item in value]
    return float(value) if isinstance(value, Written) else value


def lookup(variables: Mapping[str, Any], faults: Faults, rule_id: str) -> Callable[[Table], Any]:
    """Return what finds the value for a `{var: name}`; an unknown name is a problem."""

    def find(node: Table) -> Any:
        name = node[VAR]
        if name not in variables:
            known = did_you_mean(name, variables) if variables else "declare it under vars"
            faults.refuse(f"there is no variable {name!r}", node.at(VAR), hint=known)
        return variables.get(name)

    return find


def is_variable_name(text: str) -> bool:
    """Return whether the text may name a variable; it becomes part of an environment variable."""
    return bool(_NAME.fullmatch(text))


def parse_variable(text: str) -> tuple[str, Any]:
    """Return name and value of `K=V` as given on a command line; V is typed as in YAML.

    Raises UsageError.
    """
    name, equals, value = text.partition("=")
    if not equals or not is_variable_name(name):
        raise UsageError(
            f"--var {text!r} is not of the form NAME=VALUE",
            hint="NAME is made of letters, digits and underscores",
        )
    try:
        return name, plain(plain_value(value))
    except ValueError as error:
        raise UsageError(f"--var {name}: {value[:40]!r} {error}") from None
