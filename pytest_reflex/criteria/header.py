"""What a criteria file says besides its rules: name, version, thresholds, variables, commands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from pytest_reflex.criteria.diagnostics import (
    Diagnostics,
    Items,
    Table,
    is_variable_name,
    nearest,
    plain,
    plain_value,
    quote,
)
from pytest_reflex.criteria.fields import (
    kind_of,
    list_at,
    number_at,
    number_hint,
    refuse_unknown_keys,
    table_at,
    text_at,
    texts_at,
)
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import ACTIVE_LEVELS, Level

_NAME = re.compile(r"\w[\w.-]{0,99}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def read_name(table: Table, diagnostics: Diagnostics) -> str:
    """Return the name; empty where none is given."""
    name = text_at(table, "name", diagnostics)
    if name and not _NAME.fullmatch(name):
        diagnostics.add(
            f"the name {quote(name)} cannot be used",
            table.at("name"),
            hint="letters, digits, dots, hyphens and underscores, at most 100",
        )
    return name


def name_from(stem: str) -> str:
    """Return the name of criteria whose file does not give one."""
    name = re.sub(r"[^\w.-]+", "-", stem.removesuffix(".reflex")).strip("-.")
    return name[:100] or "criteria"


def read_version(table: Table, diagnostics: Diagnostics) -> int | None:
    if "version" not in table:
        return None
    version = table["version"]
    if type(version) is int and version >= 0:
        return version
    spot = table.at("version")
    hint = number_hint(version, spot, diagnostics) if isinstance(version, str) else ""
    message = f"version must be a whole number, not {kind_of(version)}"
    diagnostics.add(message, spot, hint=hint)
    return None


def read_thresholds(
    table: Table, diagnostics: Diagnostics, *, keys: tuple[str, ...] = ("phases", "phase")
) -> dict[Level, Fraction]:
    """Return the thresholds under the first of `keys` that is there; `phase` is the seed's word."""
    given = [key for key in keys if key in table]
    if len(given) > 1:
        diagnostics.add("phases and phase both give thresholds", table.at_key("phase"))
    thresholds = {}
    levels = table_at(table, given[0] if given else keys[0], diagnostics)
    for word in levels:
        if word not in Level.__members__:
            hint = nearest(word, Level.__members__)
            diagnostics.add(f"there is no phase {quote(word)}", levels.at_key(word), hint=hint)
        elif not isinstance(levels[word], Table):
            hint = f"{word}: {{threshold: 0.8}}"
            kind = kind_of(levels[word])
            diagnostics.add(
                f"phase {word} must be a mapping, not {kind}", levels.at(word), hint=hint
            )
        else:
            threshold = _read_level(Level(word), levels[word], diagnostics)
            if threshold is not None:
                thresholds[Level(word)] = threshold
    return thresholds


def _read_level(level: Level, table: Table, diagnostics: Diagnostics) -> Fraction | None:
    refuse_unknown_keys(table, ("threshold", "active_levels"), diagnostics, what=f"phase {level}")
    active = [other.value for other in ACTIVE_LEVELS[level]]
    if "active_levels" in table and table["active_levels"] != active:
        diagnostics.add(
            f"active_levels of phase {level} must be [{', '.join(active)}]",
            table.at("active_levels"),
        )
    if "threshold" not in table:
        return None
    threshold = number_at(table, "threshold", diagnostics)
    if threshold is not None and not 0 <= threshold <= 1:
        hint = (
            f"for {float(threshold):g} % write {float(threshold / 100):g}"
            if 1 < threshold <= 100
            else ""
        )
        diagnostics.add("threshold must lie between 0 and 1", table.at("threshold"), hint=hint)
    return threshold


def parse_threshold(text: str) -> Fraction:
    """Return a threshold as given on a command line, exactly; raises UsageError."""
    try:
        value = plain_value(text.strip())
    except ValueError as error:
        raise UsageError(f"the threshold {text[:40]!r} {error}") from None
    table = Table()
    table["threshold"] = value
    diagnostics = Diagnostics("")
    threshold = number_at(table, "threshold", diagnostics)
    if threshold is None:
        hint = "a number such as 0.8"
        raise UsageError(f"the threshold {text[:40]!r} is not a number", hint=hint)
    if not 0 <= threshold <= 1:
        raise UsageError(f"the threshold {quote(text)} does not lie between 0 and 1")
    return threshold


def read_variables(table: Table, diagnostics: Diagnostics) -> dict[str, Any]:
    """Return the variables as plain values."""
    variables = table_at(table, "vars", diagnostics)
    seen: dict[str, str] = {}
    for name in variables:
        spot = variables.at_key(name)
        if not is_variable_name(name):
            hint = "letters, digits and underscores"
            diagnostics.add(f"{quote(name)} cannot name a variable", spot, hint=hint)
        first = seen.setdefault(name.upper(), name)
        if first != name:
            names = f"{quote(first)} and {quote(name)}"
            diagnostics.add(f"the variables {names} differ in case only", spot)
    found: dict[str, Any] = plain(variables)
    return found


def read_commands(table: Table, diagnostics: Diagnostics) -> dict[str, Any]:
    """Return the commands for agents and for fixes: name to argv and declared arguments."""
    commands = table_at(table, "commands", diagnostics)
    for name in commands:
        entry = commands[name]
        if not _NAME.fullmatch(name):
            message = f"{quote(name)} cannot name a command"
            diagnostics.add(message, commands.at_key(name), hint="letters, digits and hyphens")
        if isinstance(entry, Table):
            _look_at_command(name, entry, diagnostics)
        else:
            message = f"command {name} must be a mapping with argv, not {kind_of(entry)}"
            diagnostics.add(message, commands.at(name))
    found: dict[str, Any] = plain(commands)
    for command in found.values():
        if isinstance(command, dict) and "args" in command:
            args = command["args"] or []
            command["args"] = [args] if isinstance(args, str) else args
    return found


def _look_at_command(name: str, entry: Table, diagnostics: Diagnostics) -> None:
    what = f"command {name}"
    refuse_unknown_keys(entry, ("argv", "args", "timeout"), diagnostics, what=what)
    if not isinstance(entry.get("argv"), Items) or not entry["argv"]:
        hint = 'argv: ["tool", "{file}"]'
        diagnostics.add(f"{what} needs argv, a list of texts", entry.at("argv"), hint=hint)
    argv = texts_at(entry, "argv", diagnostics) if isinstance(entry.get("argv"), Items) else []
    declared = [text for text, _ in texts_at(entry, "args", diagnostics)]
    for text, spot in argv:
        for argument in _PLACEHOLDER.findall(text):
            if argument not in declared:
                hint = "declare it under args"
                diagnostics.add(f"{what} uses {{{argument}}}, no argument of it", spot, hint=hint)
    if "timeout" in entry:
        timeout = number_at(entry, "timeout", diagnostics)
        if timeout is not None and timeout <= 0:
            diagnostics.add("timeout must be above 0", entry.at("timeout"))


def read_drops(table: Table, diagnostics: Diagnostics, known: Iterable[str]) -> set[str]:
    """Return the ids under `drop`; one that is not inherited is a problem."""
    ids = list(known)
    drops = set()
    for text, spot in texts_at(table, "drop", diagnostics):
        if text not in ids:
            hint = nearest(text, ids) if ids else "nothing is inherited here"
            diagnostics.add(f"drop: no inherited rule is called {quote(text)}", spot, hint=hint)
        drops.add(text)
    return drops


def read_rule_tables(table: Table, diagnostics: Diagnostics) -> list[Table]:
    """Return the entries of `rules` that are mappings; others are problems."""
    rules = list_at(table, "rules", diagnostics)
    tables = [rule for rule in rules if isinstance(rule, Table)]
    if len(tables) < len(rules):
        for index, rule in enumerate(rules):
            if not isinstance(rule, Table):
                message = f"a rule must be a mapping, not {kind_of(rule)}"
                diagnostics.add(message, rules.at(index), hint="a rule starts with - id: ...")
    return tables
