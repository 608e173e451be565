"""A table `agents.NAME` of the configuration to an agent; every problem is one clear line."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_reflex.agents.answers import ANSWER, LOGGED, STDOUT, STRUCTURED, OutputSource, source
from pytest_reflex.agents.command import OPTIONS, PLACE_NAMES, PLACES, CommandAgent
from pytest_reflex.agents.presets import preset, preset_names
from pytest_reflex.agents.rate_limit import RetryPolicy, read_marks
from pytest_reflex.errors import UsageError, did_you_mean, suggest

__all__ = ["agent_from_table", "preset_names"]

NO_PRESET = "none"
_PLACE = re.compile(r"(?<!\$)\{(\w+)\}")
_WHOLE = re.compile(r"(?:--?[\w-]+=)?\{[^\W\d]\w*\}")
# To these programs a word in braces as an argument says something.
_OWN_BRACES = frozenset(("awk", "gawk", "mawk", "nawk", "gojq", "jq", "parallel", "xargs", "yq"))
_KNOWN = (*PLACE_NAMES, "options")
_NO_PLACE = (
    f"{', '.join(f'{{{name}}}' for name in _KNOWN)} are places; a variable such as $TEMPLATE may "
    "hold other braces"
)
_SCHEMAS = ("{schema}", "{schema_file}")
_PROMPTS = ("stdin", "argument", "file")
_OF_A_SHELL = ("|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1")
_KEYS = (
    "kind", "preset", "command", "answer_options", "edit_options", "schema_options", "prompt",
    "answer", "cost",
    "tokens", "failure", "success", "exits", "limit", "denied", "retry_after", "retrying",
    "retry_reason", "tries", "wait", "longest_wait", "longest_reset", "note", "model", "timeout",
    "grace", "env",
)  # fmt: skip


def agent_from_table(
    name: str,
    table: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    timeout: float = 600.0,
    timeout_of: str = "",
) -> CommandAgent:
    """Return the agent that a table describes; an empty table takes the preset of that name.

    `tables` are all agents of the configuration: `preset` may name one of them too. `timeout` is
    that of an agent without a time-out, in seconds, and `timeout_of` where it is set. Raises
    UsageError that names the key, what it has and what it needs.
    """
    for key in table:
        if key not in _KEYS:
            raise _wrong(name, key, "is not a key of an agent", hint=did_you_mean(key, _KEYS))
    if (kind := table.get("kind", "command")) != "command":
        raise _wrong(name, "kind", f"must be command, or one that a plugin registers, not {kind!r}")
    merged = _over(_base(name, table, tables or {}, ()), table)
    if "command" not in merged:
        hint = f"or preset = one of {', '.join(preset_names())}"
        raise UsageError(f"agents.{name} needs a command", hint=hint)
    read = _TableReader(name, merged)
    model = read("model", None, _text)
    agent = CommandAgent(
        name=name,
        command=_command(name, merged["command"], model),
        answer_options=read("answer_options", (), _options),
        edit_options=read("edit_options", (), _options) if _can_edit(merged) else (),
        schema_options=read("schema_options", (), _options),
        can_edit=_can_edit(merged),
        prompt=read("prompt", "stdin", _one_of(_PROMPTS)),
        answer=read("answer", STDOUT, _source(ANSWER)),
        cost=read("cost", (), _sources),
        tokens=read("tokens", (), _sources),
        failures=read("failure", (), _sources),
        success=read("success", (0,), _statuses),
        exits=read("exits", {}, _meanings),
        limits=read("limit", (), read_marks),
        denied=read("denied", (), lambda value: read_marks(value, LOGGED)),
        retry_after=read("retry_after", (), _sources),
        retrying=read("retrying", (), read_marks),
        retry_reason=read("retry_reason", (), _sources),
        retry=RetryPolicy(
            tries=read("tries", 6, _tries),
            first=read("wait", 30.0, _seconds),
            longest=read("longest_wait", 900.0, _seconds),
            longest_reset=read("longest_reset", 21_600.0, _seconds),
        ),
        note=read("note", "", _text),
        model=model,
        timeout=read("timeout", float(timeout), _seconds),
        timeout_of="" if "timeout" in merged else timeout_of,
        grace=read("grace", 5.0, _seconds),
        env=read("env", (), _names),
    )
    _check_places(agent, hint=_renamed_command(name, table))
    _check_options(agent, table)
    return agent


def _base(
    name: str,
    table: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    seen: tuple[str, ...],
) -> dict[str, Any]:
    """Return the keys that a table starts from: those of another agent's table, or of a preset."""
    if "preset" not in table:
        return preset(name) if name in preset_names() else {}
    wanted = table["preset"]
    if not isinstance(wanted, str):
        raise _wrong(name, "preset", f"must be text, not {wanted!r}")
    if wanted == NO_PRESET:
        return {}
    if wanted in seen:
        raise _wrong(name, "preset", f"leads back to {wanted!r}")
    if wanted in tables and wanted != name:
        other = tables[wanted]
        return _over(_base(wanted, other, tables, (*seen, name)), other)
    return preset(wanted)


def _over(base: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table over what it starts from, key by key; names of variables are added."""
    merged = {**base, **table}
    if "env" in base and "env" in table:
        merged["env"] = [*_as_list(base["env"]), *_as_list(table["env"])]
    return merged


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class _TableReader:
    """Reads one key after the other; a problem names the key."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self._name, self._table = name, table

    def __call__(self, key: str, default: Any, read: Callable[[Any], Any]) -> Any:
        if key not in self._table:
            return default
        try:
            return read(self._table[key])
        except ValueError as error:
            raise _wrong(self._name, key, str(error)) from None


def _command(name: str, value: Any, model: str | None) -> tuple[str, ...]:
    """Return the argv; a string is split as a shell would, inner lists need a model."""
    if isinstance(value, str):
        _refuse_shell(name, value)
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise _wrong(name, "command", f"has unbalanced quotes: {error}") from None
    items: list[str] = []
    for item in value if isinstance(value, list) else [None]:
        group: list[Any] = item if isinstance(item, list) else [item]
        if not all(isinstance(word, str) and "\0" not in word for word in group):
            raise _wrong(name, "command", f"must be text or a list of texts, not {value!r}")
        if not isinstance(item, list) or model is not None:
            items += group
    if not items or not items[0].strip():
        raise _wrong(name, "command", "is empty")
    return tuple(items)


def _refuse_shell(name: str, command: str) -> None:
    """Raise UsageError for what only a shell understands: the program would get it as a word."""
    try:
        words = shlex.split(command, posix=False)  # quotes stay: in them is not an operator
    except ValueError:
        return
    if found := next((word for word in words if word in _OF_A_SHELL), ""):
        hint = f"""command = ["sh", "-c", '{command}'] has one"""
        raise _wrong(name, "command", f"has {found} in it, and no shell runs it", hint=hint)


def _renamed_command(name: str, table: Mapping[str, Any]) -> str:
    """Return how a command of another tool is written under the name of a preset."""
    if "command" not in table or "preset" in table or name not in preset_names():
        return ""
    return f'the preset {name!r} has the other keys; preset = "{NO_PRESET}" starts without it'


def _check_places(agent: CommandAgent, hint: str) -> None:
    """Hold the places in the command against how prompt and answer travel."""
    _refuse_unknown_places(agent)
    used = {place for item in agent.words for place in PLACES.findall(item)}
    if "model" in used and agent.model is None:
        raise _wrong(agent.name, "model", "is needed: the command has {model}")
    needs = [
        ("prompt", "argument", "{prompt}", "prompt" in used, agent.prompt == "argument"),
        ("prompt", "file", "{prompt_file}", "prompt_file" in used, agent.prompt == "file"),
        ("answer", "file", "{answer_file}", "answer_file" in used, agent.answer.kind == "file"),
    ]
    for key, value, place, there, wanted in needs:
        if there and not wanted:
            raise _wrong(agent.name, key, f'must be "{value}": the command has {place}', hint)
        if wanted and not there:
            raise _wrong(agent.name, "command", f'needs {place} where {key} is "{value}"', hint)


def _refuse_unknown_places(agent: CommandAgent) -> None:
    """Raise UsageError for what is meant as a place; other braces are of another language."""
    from difflib import get_close_matches

    programs = {os.path.basename(word) for word in agent.command}
    for key in ("command", "answer_options", "edit_options", "schema_options"):
        for item in getattr(agent, key):
            for word in dict.fromkeys(_PLACE.findall(item)):
                meant = get_close_matches(word.lower(), _KNOWN, 1, 0.75)
                is_whole = _WHOLE.fullmatch(item) and programs.isdisjoint(_OWN_BRACES)
                if word not in _KNOWN and (meant or is_whole):
                    hint = suggest(f"{{{meant[0]}}}") if meant else _NO_PLACE
                    raise _wrong(agent.name, key, f"has {{{word}}}, which is not a place", hint)


def _check_options(agent: CommandAgent, table: Mapping[str, Any]) -> None:
    """Refuse options for which the command has no place; those of a preset may stay unused."""
    if any(OPTIONS in item and item != OPTIONS for item in agent.words):
        raise _wrong(agent.name, "command", f"must have {OPTIONS} as an item of its own")
    if table.get("schema_options") and not any(
        place in item for item in agent.schema_options for place in _SCHEMAS
    ):
        raise _wrong(agent.name, "schema_options", f"need {' or '.join(_SCHEMAS)}")
    if OPTIONS in agent.command:
        return
    for key in ("answer_options", "edit_options", "schema_options"):
        if table.get(key):
            raise _wrong(agent.name, "command", f"needs the item {OPTIONS}, where {key} go")


def _can_edit(table: Mapping[str, Any]) -> bool:
    return table.get("edit_options") is not False


def _options(value: Any) -> tuple[str, ...]:
    """Read words for the command; an empty one is a word too."""
    if not isinstance(value, list) or not all(
        isinstance(word, str) and "\0" not in word for word in value
    ):
        raise ValueError(f"must be a list of texts, not {value!r}")
    return tuple(value)


class AgentTableError(UsageError):
    """A key of an agent's table has what it cannot have; `path` is that of the key."""

    path: tuple[str, ...] = ()


def _wrong(name: str, key: str, message: str, hint: str = "") -> UsageError:
    error = AgentTableError(f"agents.{name}.{key} {message}", hint=hint)
    error.path = ("agents", name, key)
    return error


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"must be text, not {value!r}")
    return value


def _one_of(words: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"must be {', '.join(words[:-1])} or {words[-1]}, not {value!r}")
        return str(value)

    return read


def _source(kinds: tuple[str, ...]) -> Callable[[Any], OutputSource]:
    return lambda value: source(_text(value), kinds)


def _sources(value: Any) -> tuple[OutputSource, ...]:
    """Read places that are added up; of those in an inner list the first that is there counts."""
    found = value if isinstance(value, list) else [value]
    return tuple(_first_of(item if isinstance(item, list) else [item]) for item in found)


def _first_of(spelt: list[Any]) -> OutputSource:
    if not spelt:
        raise ValueError("has an empty list of places")
    place: OutputSource | None = None
    for item in reversed(spelt):
        place = replace(source(_text(item), STRUCTURED), otherwise=place)
    assert place is not None
    return place


def _statuses(value: Any) -> tuple[int, ...]:
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(n, int) and not isinstance(n, bool) for n in found):
        raise ValueError(f"must be exit statuses, not {value!r}")
    return tuple(found)


def _meanings(value: Any) -> dict[int, str]:
    """Read words for exit statuses; keys of TOML are texts."""
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a table of exit statuses with words, not {value!r}")
    for status, meaning in value.items():
        if not (status.isascii() and status.isdigit()) or not isinstance(meaning, str):
            raise ValueError(f"must be exit statuses with words, not {status} = {meaning!r}")
    return {int(status): meaning for status, meaning in value.items()}


def _tries(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:
        raise ValueError(f"must be a number of tries from 1 to 100, not {value!r}")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e7:
        raise ValueError(f"must be a number of seconds above 0, not {value!r}")
    return float(value)


def _names(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
            raise ValueError(f"must be names of variables, never values, not {name!r}")
    return tuple(names)
