"""Every option, declared once: name, default, valid values, where it may be set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.settings import procedure_tables, readers

Relocate = Callable[[Any, Path], Any]


def of_prompts(value: Any, folder: Path) -> Any:
    """Return a table of steps whose files are those of a folder."""
    return _each(value, lambda name: _resolve_path(name, folder))


def of_procedures(value: Any, folder: Path) -> Any:
    """Return procedures whose fragments are files of a folder."""
    return _each(value, lambda table: _each(table, lambda field: _fragments(field, folder)))


def of_gates(value: Any, folder: Path) -> Any:
    """Return gates whose criteria are files of a folder, where there are such files.

    Criteria may be a name, too. What is judged lies in the project, wherever the gate was declared.
    """

    def resolve_path(table: Any) -> Any:
        name = table.get("criteria") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name or "\0" in name or not (folder / name).is_file():
            return table
        return {**table, "criteria": str(folder / name)}

    return _each(value, resolve_path)


def _fragments(value: Any, folder: Path) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {**one, "path": _resolve_path(one["path"], folder)}
        if isinstance(one, dict) and "path" in one
        else one
        for one in value
    ]


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a table with its values changed; what is not a table is left to those who check it."""
    if not isinstance(value, dict):
        return value
    return {name: change(inner) for name, inner in value.items()}


def _resolve_path(name: Any, folder: Path) -> Any:
    return str(folder / name) if isinstance(name, str) and name else name


# What the names of all our environment variables begin with.
PREFIX = "PYTEST_REFLEX_"
# The tables of the configuration that belong to one driver each.
DRIVERS = ("loop", "flow", "goal", "iterate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option. `table` is its table in the configuration ("" is the top); `read` checks a value
    and returns it in its final type, or raises ValueError with what was expected.

    Of a table of tables, `fields` are the keys that each inner one may have (none: any), and
    `kinds` those that say what it is: a stronger tier that gives one of them drops the others that
    weaker tiers gave, and with `whole` all else that they gave. `relocate` makes the relative paths
    in a value of a person's own file those of its folder.
    """

    name: str
    table: str
    default: Any
    read: Callable[[Any], Any]
    help: str
    fields: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    whole: bool = False
    relocate: Relocate | None = None

    @property
    def key(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name

    @property
    def path(self) -> tuple[str, ...]:
        return (self.table, self.name) if self.table else (self.name,)

    @property
    def variable(self) -> str:
        return PREFIX + self.key.replace(".", "_").upper()

    @property
    def is_table(self) -> bool:
        """Whether values of several tiers are joined, key by key."""
        return isinstance(self.default, dict)


def _top(name: str, default: Any, read: Callable[[Any], Any], purpose: str) -> Setting:
    return Setting(name=name, table="", default=default, read=read, help=purpose)


def _loop(name: str, default: Any, read: Callable[[Any], Any], purpose: str) -> Setting:
    return Setting(name=name, table="loop", default=default, read=read, help=purpose)


def _iterate(name: str, default: Any, read: Callable[[Any], Any], purpose: str) -> Setting:
    return Setting(name=name, table="iterate", default=default, read=read, help=purpose)


def _flow(name: str, default: Any, read: Callable[[Any], Any], purpose: str) -> Setting:
    return Setting(name=name, table="flow", default=default, read=read, help=purpose)


def _goal(name: str, default: Any, read: Callable[[Any], Any], purpose: str) -> Setting:
    return Setting(name=name, table="goal", default=default, read=read, help=purpose)


SETTINGS: tuple[Setting, ...] = (
    _top("agent", "offline", readers.text, "agent of all steps"),
    _top("judge", "", readers.text, "agent that grades LLM-graded rules; empty: none"),
    _top(
        "judge_when",
        "no_blockers",
        readers.one_of("no_blockers", "always"),
        "when the LLM judge is asked: where no free rule of severity fail failed, or always",
    ),
    _top("judge_cache", True, readers.flag, "keep votes, and use them where nothing changed"),
    _top("artifact_limit", 50, readers.positive, "megabytes that an artifact may have"),
    _top("plugins", (), readers.names, "modules that drivers load"),
    replace(
        _top("agents", {}, readers.tables, "agents by name"),
        kinds=("command", "preset", "kind"),
        whole=True,
    ),
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
    _loop(
        "wall_time", 8 * 3600, readers.whole, "time limit in seconds from start or resume; 0: none"
    ),
    _loop("agents", {}, readers.by_step, "agents of single steps"),
    replace(
        _loop(
            "prompts", {}, readers.by_step, "files that replace the instructions of single steps"
        ),
        relocate=of_prompts,
    ),
    _loop(
        "guard",
        "report",
        readers.one_of("off", "report", "strict"),
        "changes outside the critique: ignored, reported, or reverted",
    ),
    _loop("may_change", (), readers.globs, "files that an agent may change besides the artifact"),
    _loop("evaluator", "pytest", readers.one_of("pytest", "core"), "how EVALUATE runs the checks"),
    _loop("root", ".ai-factory/evolution", readers.text, "folder of the loops' state"),
    _loop("record", "", readers.text, "file in which the calls of agents are recorded"),
    _loop(
        "command_timeout",
        600,
        readers.positive,
        "seconds an agent may take, unless its table sets a limit",
    ),
    _loop("session_timeout", 3600, readers.positive, "seconds a session of --reflex-loop may take"),
    _iterate("agent", "", readers.text, "agent of the iteration loop, where it is another"),
    _iterate("max_iterations", 5, readers.whole, "iterations; 0: no limit"),
    _iterate("failure_threshold", 3, readers.positive, "failed iterations in a row, at most"),
    _iterate(
        "timeout",
        3600,
        readers.positive,
        "seconds an iteration may take, unless the agent's table sets a limit",
    ),
    _iterate("token_budget", 100_000, readers.positive, "tokens above which a prompt is warned of"),
    _iterate("budget", {}, readers.budget, "limits of spending"),
    _iterate(
        "recall",
        8_000,
        readers.whole,
        "characters of the last iteration's gates and answer that a prompt has; 0: none",
    ),
    _iterate(
        "wall_time", 8 * 3600, readers.whole, "time limit in seconds from start or resume; 0: none"
    ),
    _iterate(
        "unchanged", 3, readers.whole, "iterations without a change before a warning; 0: never"
    ),
    _iterate("stop_unchanged", False, readers.flag, "end the loop instead of the warning"),
    _iterate("log_format", "text", readers.one_of("text", "json"), "verbosity of the log"),
    _iterate("root", ".rooda", readers.text, "folder of the iteration loop's state and logs"),
    replace(
        _iterate("gates", {}, procedure_tables.gates, "quality gates after an iteration, by name"),
        fields=procedure_tables.GATE_KEYS,
        kinds=("command", "criteria", "kind"),
        relocate=of_gates,
    ),
    replace(
        _iterate("procedures", {}, procedure_tables.procedures, "procedures by name"),
        fields=procedure_tables.PROCEDURE_KEYS,
        relocate=of_procedures,
    ),
    _flow("agents", {}, readers.by_role, "agents of the roles in a flow"),
    _flow("budget", {}, readers.budget, "limits of spending"),
    _flow(
        "wall_time", 8 * 3600, readers.whole, "time limit in seconds from start or resume; 0: none"
    ),
    _flow("timeout", 600, readers.positive, "seconds a sensor's command may take"),
    _flow("max_depth", 16, readers.depth, "nodes of a flow that may lie within one another"),
    _goal("agent", "", readers.text, "agent of the goal loop, where it is another"),
    _goal(
        "wall_time", 8 * 3600, readers.whole, "time limit in seconds from start or resume; 0: none"
    ),
    _goal("timeout", 600, readers.positive, "seconds a command that verifies may take"),
)
BY_KEY = {setting.key: setting for setting in SETTINGS}
