"""What a tool gets of our environment, and how values of it stay out of everything we keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pytest_reflex.errors import UsageError

SAFE = (
    "PATH", "HOME", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
)  # fmt: skip
SAFE_START = "LC_"
# Nobody watches: no colours in the answer, no question on a terminal.
ALWAYS = {"NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0"}

_REFERENCE = re.compile(r"\$(?:\$|(?P<name>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})", re.ASCII)
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST_SECRET = 8


def child_environment(ours: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the safe set and the named variables, as far as they are set."""
    passed = {*SAFE, *names}
    kept = {k: v for k, v in ours.items() if k in passed or k.startswith(SAFE_START)}
    return {**ALWAYS, **kept}


def references(item: str) -> list[str]:
    """Return the variables that an item of a command names; `$$` is a dollar sign."""
    found = (match["name"] or match["braced"] for match in _REFERENCE.finditer(item))
    return [name for name in found if name]


def expanded(item: str, ours: Mapping[str, str]) -> str:
    """Return an item with the values of the variables it names; raises UsageError if unset."""

    def value(match: re.Match[str]) -> str:
        name = match["name"] or match["braced"]
        if name is None:
            return "$"
        if name not in ours:
            raise UsageError(f"the command names ${name}, which is not set in the environment")
        return ours[name]

    return _REFERENCE.sub(value, item)


def secrets(
    ours: Mapping[str, str], names: Iterable[str], referred: Iterable[str]
) -> dict[str, str]:
    """Return the values that must not be kept, with the references that stand for them."""
    sensitive = {*referred, *(name for name in names if _SECRET_NAME.search(name))}
    return {
        ours[name]: f"${name}"
        for name in sorted(sensitive)
        if len(ours.get(name, "")) >= _SHORTEST_SECRET
    }


def hide(text: str, values: Mapping[str, str]) -> str:
    """Return a text with references in the place of the values, longer ones first."""
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, values[value])
    return text
