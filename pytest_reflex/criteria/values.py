"""Values that were read, as plain data; `{var: name}` in a check becomes the variable's value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.nodes import Items, Table
from pytest_reflex.criteria.scalars import Written, plain_value
from pytest_reflex.criteria.wording import nearest, quoted
from pytest_reflex.errors import UsageError

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
            known = nearest(name, variables) if variables else "declare it under vars"
            faults.refuse(f"there is no variable {quoted(name)}", node.at(VAR), hint=known)
        return variables.get(name)

    return find


def is_variable_name(text: str) -> bool:
    """Return whether the text may name a variable; it becomes part of an environment variable."""
    return bool(_NAME.fullmatch(text))


def parse_variable(text: str) -> tuple[str, str]:
    """Return name and text of `NAME=VALUE` as given on a command line; raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not is_variable_name(name):
        raise UsageError(
            f"--var {quoted(text)} is not of the form NAME=VALUE",
            hint="NAME is made of letters, digits and underscores",
        )
    return name, value


def settle_variables(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declared variables with the given ones in their places.

    A text given for a variable that is declared as something else is read as YAML reads a word,
    and must come out as the same kind. Raises UsageError, also for what is not declared.
    """
    settled = dict(declared)
    for name, value in given.items():
        if name not in declared:
            known = nearest(name, declared) if declared else "declare it under vars"
            raise UsageError(f"the criteria have no variable {quoted(name)}", hint=known)
        settled[name] = _settled(name, declared[name], value)
    return settled


def _settled(name: str, declared: Any, value: Any) -> Any:
    if not isinstance(value, str) or isinstance(declared, str):
        return value
    try:
        typed = plain(plain_value(value))
    except ValueError as error:
        raise UsageError(f"the variable {name}: {value[:40]!r} {error}") from None
    numbers = type(typed) in (int, float) and type(declared) in (int, float)
    if declared is not None and not numbers and type(typed) is not type(declared):
        message = f"the variable {name} is declared as {declared!r}, so {value[:40]!r} does not fit"
        raise UsageError(message, hint="give a value of the same kind")
    return typed
