"""The environment: which variables give settings, which are given to children, and the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from pytest_reflex.errors import Problem, nearest_word, suggest
from pytest_reflex.settings.table import PREFIX, SETTINGS

# What children are given; none of them is ever read as a setting. Those that end in an underscore
# are the beginnings of names.
GIVEN = tuple(
    PREFIX + name
    for name in (
        "ARTIFACT",
        "BLOCKS",
        "VAR_",
        "RUN_DIR",
        "ITERATION",
        "STEP",
        "CHILD",
        "SESSION_FOLDER",
        "TEST_DATA",
    )
)
_ALL = "`pytest-reflex config` lists the settings"


def environment_values() -> dict[str, Any]:
    """Return what variables say, by dotted key."""
    scalars = (one for one in SETTINGS if not one.is_table)
    return {one.key: os.environ[one.variable] for one in scalars if one.variable in os.environ}


def unknown_variables() -> Iterator[Problem]:
    """Yield a warning for each variable that looks like a setting and is not read."""
    scalars = {one.variable: one for one in SETTINGS if not one.is_table}
    tables = {one.variable: one for one in SETTINGS if one.is_table}
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in scalars or _is_given(name):
            continue
        if name in tables:
            said = f"environment: {name} is ignored: a table cannot be given by a variable"
            yield Problem(message=said, hint=f"write {tables[name].key} in pytest-reflex.toml")
        else:
            hint = _near(name, [*scalars, *tables])
            yield Problem(message=f"environment: unknown variable {name} is ignored", hint=hint)


def _is_given(name: str) -> bool:
    return any(name.startswith(one) if one.endswith("_") else name == one for one in GIVEN)


def _near(name: str, known: list[str]) -> str:
    """Return a hint; what all names begin with makes none of them near."""
    near = nearest_word(name.removeprefix(PREFIX), [one.removeprefix(PREFIX) for one in known])
    return suggest(PREFIX + near) if near else _ALL
