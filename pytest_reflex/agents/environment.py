"""What a tool gets of our environment, and how values of it stay out of everything we keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_reflex.errors import UsageError
from pytest_reflex.process.environment import SHORTEST, is_secret_name, secrets

SAFE = (
    "PATH", "HOME", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    # How the network is reached from here, which no tool can know otherwise.
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
SAFE_START = "LC_"
# Not interactive: no colours in the answer, no question on a terminal.
ALWAYS = {"NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0"}

_REFERENCE = re.compile(r"\$(?:\$|(?P<name>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})", re.ASCII)
HIDDEN = "[hidden]"


def child_environment(ours: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the safe set and the named variables, as far as they are set."""
    passed = {*SAFE, *names}
    kept = {k: v for k, v in ours.items() if k in passed or k.startswith(SAFE_START)}
    return {**ALWAYS, **kept}


def references(item: str) -> list[str]:
    """Return the variables that an item of a command names; `$$` is a dollar sign."""
    found = (match["name"] or match["braced"] for match in _REFERENCE.finditer(item))
    return [name for name in found if name]


def expand_variables(item: str, ours: Mapping[str, str]) -> str:
    """Return an item with the values of the variables it names; raises UsageError if unset."""

    def value(match: re.Match[str]) -> str:
        name = match["name"] or match["braced"]
        if name is None:
            return "$"
        if name not in ours:
            raise UsageError(f"the command names ${name}, which is not set in the environment")
        return ours[name]

    return _REFERENCE.sub(value, item)


def literal_secrets(command: Iterable[str]) -> dict[str, str]:
    """Return the values in a command that an option named like a secret has, with what hides them.

    A reference is none, and neither is a number: `--max-tokens 10000000`.
    """
    found: dict[str, str] = {}
    words = list(command)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        option, equals, value = word.partition("=")
        if not (option.startswith("-") and is_secret_name(option)):
            continue
        value = value if equals else following
        plain = not any(mark in value for mark in "${}") and not value.startswith("-")
        if plain and len(value) >= SHORTEST and not value.isdigit():
            found[value] = HIDDEN
    return found


def secrets_of_tables(
    ours: Mapping[str, str], tables: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Return the values that tables of agents name or hold, whether the tables are right or not."""
    found: dict[str, str] = {}
    for table in tables.values():
        words = [word for word in _flat(table.get("command", "")) if isinstance(word, str)]
        names = [name for name in _flat(table.get("env", [])) if isinstance(name, str)]
        found |= secrets(ours, names, [name for word in words for name in references(word)])
        found |= literal_secrets(part for word in words for part in word.split() or [word])
    return found


def _flat(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    return [inner for item in value for inner in _flat(item)]
