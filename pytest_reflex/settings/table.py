"""Every option, declared once: name, default, what its value must be, and what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_reflex.settings import readers


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

    @property
    def is_table(self) -> bool:
        """Whether values of several tiers are joined, key by key."""
        return isinstance(self.default, dict)


def _top(name: str, default: Any, read: Callable[[Any], Any], purpose: str) -> Setting:
    return Setting(name=name, table="", default=default, read=read, help=purpose)


def _loop(name: str, default: Any, read: Callable[[Any], Any], purpose: str) -> Setting:
    return Setting(name=name, table="loop", default=default, read=read, help=purpose)


SETTINGS: tuple[Setting, ...] = (
    _top("agent", "offline", readers.text, "agent of all steps"),
    _top("plugins", (), readers.names, "modules that drivers load"),
    _top("agents", {}, readers.tables, "agents by name"),
    _loop("template", "", readers.text, "criteria of a loop that names none"),
    _loop("max_iterations", 4, readers.positive, "evaluated iterations"),
    _loop("no_major_issues", "B", readers.one_of("B", "never"), "stop where only warnings remain"),
    _loop("produce", "always", readers.one_of("always", "first"), "when PRODUCE is called"),
    _loop(
        "blocker_stagnation",
        3,
        readers.whole,
        "equal blocked evaluations that end a loop; 0: never",
    ),
    _loop("oscillation", True, readers.flag, "end a loop that goes back"),
    _loop("budget", {}, readers.budget, "limits of spending"),
    _loop("wall_time", 8 * 3600, readers.whole, "seconds that one sitting may take; 0: no cap"),
    _loop("agents", {}, readers.by_step, "agents of single steps"),
    _loop("prompts", {}, readers.by_step, "files that replace the orders of single steps"),
    _loop(
        "guard",
        "report",
        readers.one_of("off", "report", "strict"),
        "changes outside the critique: not looked at, told, or taken back",
    ),
    _loop("evaluator", "pytest", readers.one_of("pytest", "core"), "how EVALUATE runs the checks"),
    _loop("root", ".ai-factory/evolution", readers.text, "folder of the loops' state"),
    _loop("record", "", readers.text, "file in which the calls of agents are recorded"),
    _loop(
        "command_timeout",
        600,
        readers.positive,
        "seconds an agent may take where its table says nothing",
    ),
    _loop("session_timeout", 3600, readers.positive, "seconds a session of --reflex-loop may take"),
)
BY_KEY = {setting.key: setting for setting in SETTINGS}
