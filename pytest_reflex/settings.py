"""Options declared once: name, type, default, where a value may come from, and what it says.

Tiers, strongest first: flag, environment (PYTEST_REFLEX_<KEY>), workspace (`pytest-reflex.toml`, or
`[tool.pytest-reflex]` in pyproject.toml), built-in default. Every value knows its tier.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_reflex.errors import UsageError, did_you_mean

OWN_FILE = "pytest-reflex.toml"
STEPS = ("plan", "produce", "prepare", "critique", "refine")
BUDGET_KEYS = ("seconds", "usd", "tokens", "calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option. `table` is its table in the configuration ("" is the top); `read` checks a value
    and returns it in its final type, or raises ValueError with what was expected.
    """

    name: str
    table: str
    default: Any
    read: Callable[[Any], Any]
    help: str

    @property
    def key(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name

    @property
    def variable(self) -> str:
        return "PYTEST_REFLEX_" + self.key.replace(".", "_").upper()


def whole(value: Any, least: int = 0) -> int:
    """Read a whole number in ASCII decimal digits; `08` is 8, `0x5` and `1e3` are refused."""
    if isinstance(value, str):
        text = value.strip()
        if not (text.isascii() and text.isdigit()):
            raise ValueError("a whole number in decimal digits")
        value = int(text)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"a whole number >= {least}")
    return value


def positive(value: Any) -> int:
    """Read a whole number >= 1."""
    return whole(value, 1)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("a non-empty string")
    return value


def _flag(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(" or ".join(f'"{word}"' for word in words))
        return str(value)

    return read


def _names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names):
        raise ValueError("a list of names")
    return tuple(names)


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("a table")
    return value


def _tables(value: Any) -> dict[str, Any]:
    table = _table(value)
    for name, inner in table.items():
        if not isinstance(inner, dict):
            raise ValueError(f"a table for {name!r}")
    return table


def budget(value: Any) -> dict[str, float]:
    """Read a budget: positive numbers under seconds, usd, tokens, calls."""
    table = _table(value)
    for key, amount in table.items():
        if key not in BUDGET_KEYS:
            raise ValueError(f"one of the keys {', '.join(BUDGET_KEYS)}, not {key!r}")
        number = isinstance(amount, (int, float)) and not isinstance(amount, bool)
        if not number or not 0 < amount < float("inf"):
            raise ValueError(f"a positive number for {key!r}")
    return table


def _step_agents(value: Any) -> dict[str, str]:
    table = _table(value)
    for step, agent in table.items():
        if step not in STEPS:
            raise ValueError(f"a step ({', '.join(STEPS)}), not {step!r}")
        _text(agent)
    return table


SETTINGS: tuple[Setting, ...] = (
    Setting(name="agent", table="", default="offline", read=_text, help="agent of all steps"),
    Setting(name="plugins", table="", default=(), read=_names, help="modules that drivers load"),
    Setting(name="agents", table="", default={}, read=_tables, help="agents by name"),
    Setting(
        name="template",
        table="loop",
        default="",
        read=_text,
        help="criteria of a loop that names none",
    ),
    Setting(
        name="max_iterations", table="loop", default=4, read=positive, help="evaluated iterations"
    ),
    Setting(
        name="no_major_issues",
        table="loop",
        default="B",
        read=_one_of("B", "never"),
        help="stop where only warnings remain",
    ),
    Setting(
        name="produce",
        table="loop",
        default="always",
        read=_one_of("always", "first"),
        help="when PRODUCE is called",
    ),
    Setting(
        name="blocker_stagnation",
        table="loop",
        default=3,
        read=whole,
        help="equal blocked evaluations that end a loop; 0: never",
    ),
    Setting(
        name="oscillation", table="loop", default=True, read=_flag, help="end a loop that goes back"
    ),
    Setting(name="budget", table="loop", default={}, read=budget, help="limits of spending"),
    Setting(
        name="agents", table="loop", default={}, read=_step_agents, help="agents of single steps"
    ),
    Setting(
        name="evaluator",
        table="loop",
        default="pytest",
        read=_one_of("pytest", "core"),
        help="how EVALUATE runs the checks",
    ),
    Setting(
        name="root",
        table="loop",
        default=".ai-factory/evolution",
        read=_text,
        help="folder of the loops' state",
    ),
    Setting(
        name="command_timeout",
        table="loop",
        default=600,
        read=positive,
        help="seconds an agent may take where its table says nothing",
    ),
)
BY_KEY = {setting.key: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force, by key ("loop.max_iterations"), and the tier that each came from."""

    values: Mapping[str, Any]
    sources: Mapping[str, str]
    file: Path | None = field(default=None)

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


def load(project: Path, flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in force for a project folder.

    `flags` maps keys to values given on the command line; None means "not given".
    Raises UsageError naming the source and the key.
    """
    values = {setting.key: setting.default for setting in SETTINGS}
    sources = dict.fromkeys(values, "default")
    file, workspace = _workspace(project)
    tiers: list[tuple[str, Mapping[str, Any]]] = [
        (str(file) if file else "workspace", workspace),
        ("environment", _environment()),
        ("flag", {k: v for k, v in (flags or {}).items() if v is not None}),
    ]
    for tier, given in tiers:
        for key, value in given.items():
            values[key] = _checked(BY_KEY[key], value, tier)
            sources[key] = tier
    return Settings(values, sources, file)


def _checked(setting: Setting, value: Any, tier: str) -> Any:
    name = setting.variable if tier == "environment" else setting.key
    try:
        return setting.read(value)
    except ValueError as error:
        raise UsageError(f"{tier}: {name} = {value!r}: expected {error}") from None


def _environment() -> dict[str, Any]:
    scalars = (s for s in SETTINGS if not isinstance(s.default, dict))
    return {s.key: os.environ[s.variable] for s in scalars if s.variable in os.environ}


def _workspace(project: Path) -> tuple[Path | None, dict[str, Any]]:
    own, shared = project / OWN_FILE, project / "pyproject.toml"
    if own.is_file():
        return own, _flatten(_read_toml(own), own)
    tools = _read_toml(shared).get("tool", {}) if shared.is_file() else {}
    if not isinstance(tools, dict) or "pytest-reflex" not in tools:
        return None, {}
    if not isinstance(tools["pytest-reflex"], dict):
        raise UsageError(f"{shared}: tool.pytest-reflex: expected a table", hint="mend the file")
    return shared, _flatten(tools["pytest-reflex"], shared)


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: {error}", hint="mend the file") from None


def _flatten(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return dotted keys; an unknown one is refused with the nearest known."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name == "loop" and isinstance(value, dict):
            found |= {f"loop.{key}": inner for key, inner in value.items()}
        else:
            found[name] = value
    for key in found:
        if key not in BY_KEY:
            raise UsageError(f"{path}: unknown key {key!r}", hint=did_you_mean(key, BY_KEY))
    return found
