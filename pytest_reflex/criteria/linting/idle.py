"""Warnings about keys that say nothing, and about files that no folder has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_reflex.criteria.diagnostics import Items, Table
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.linting.remark import Remark, warning
from pytest_reflex.criteria.wording import quoted
from pytest_reflex.model.rules import CheckSpec

_OF_FILES = ("extends", "criteria", "phases", "vars", "commands", "drop")
_OF_RULES = ("fix", "samples")


def idle_keys(table: Table, faults: Faults, keys: Sequence[str], rule_id: str) -> Iterator[Remark]:
    """Yield the keys of a mapping that are there and hold nothing."""
    for key in keys:
        if key in table and (table[key] is None or table[key] in ([], {})):
            message = f"{key} says nothing"
            spot = table.at_key(key)
            yield warning(
                "says-nothing", message, faults, spot, hint="leave it out", rule_id=rule_id
            )


def idle_in_file(table: Table, faults: Faults) -> Iterator[Remark]:
    """Yield what says nothing in a file besides its rules: empty keys, a name given twice."""
    yield from idle_keys(table, faults, _OF_FILES, "")
    for key in ("extends", "criteria"):
        names = table.get(key)
        if not isinstance(names, Items):
            continue
        for index, name in enumerate(names):
            if name in names[:index]:
                message = f"{key} names {quoted(str(name))} twice"
                yield warning(
                    "says-nothing", message, faults, names.at(index), hint="leave one out"
                )


def idle_in_rule(table: Table, faults: Faults, rule_id: str) -> Iterator[Remark]:
    """Yield the keys of a rule that say nothing."""
    return idle_keys(table, faults, _OF_RULES, rule_id)


def never_found(spec: CheckSpec, table: Table, faults: Faults, rule_id: str) -> Iterator[Remark]:
    """Yield parameters of a check that name files which no folder has."""
    files: Any = spec.params.get("files", ())
    for glob in (files,) if isinstance(files, str) else files:
        if isinstance(glob, str) and ".." in glob.split("/"):
            message = f"{quoted(glob)} matches no file of a folder: names start in the folder"
            spot, hint = table.at("files"), "such as docs/*.md"
            yield warning("never-found", message, faults, spot, hint=hint, rule_id=rule_id)
