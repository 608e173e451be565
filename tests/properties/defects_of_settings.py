"""Faults of configuration files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.properties.defects import Operator, Plant, changed, cut


def at_top(yaml: str, json_: str, toml: str, env: str) -> Plant:
    """Return a plant of one setting at the top, in the form of the text."""

    def plant(text: str) -> Iterator[str]:
        if text.lstrip().startswith("{"):
            yield text.replace("{", "{" + json_ + ", ", 1)
        elif re.search(r"^\[[\w.\"]+\]$", text, re.MULTILINE):
            if ' = "' in text or " = [" in text:
                yield toml + text
        elif re.match(r"(?:export )?\w+=|#.*\n(?:export )?\w+=", text):
            yield f"{text.rstrip()}\n{env}\n"
        elif "jobs:" in text and "${" in yaml:
            return  # a workflow takes variables otherwise
        elif re.search(r"^[\w\"'-]+:", text, re.MULTILINE) and "\n---" not in text:
            yield f"{text.rstrip()}\n{yaml}\n"

    return plant


def block_of(*keys: str) -> Plant:
    """Return a plant that takes a key at the top away, with all that is below it."""
    named = "|".join(map(re.escape, keys))

    def plant(text: str) -> Iterator[str]:
        for found in re.finditer(rf"^(?:{named}):.*\n?(?:[ \t-].*\n?|\n)*", text, re.MULTILINE):
            yield text[: found.start()] + text[found.end() :]

    return plant


def twice(text: str) -> Iterator[str]:
    """Yield YAML with a key of the top given twice, and TOML, INI and env files too."""
    for found in re.finditer(r"^[A-Za-z_][\w-]*(?::(?= |$)| = |=)", text, re.MULTILINE):
        value = "1" if found[0].endswith(("=", " ")) else " 1"
        yield f"{text[: found.start()]}{found[0]}{value}\n{text[found.start() :]}"


def emptied(*keys: str) -> Plant:
    """Return a plant that leaves a key of the top with nothing below it."""
    named = "|".join(map(re.escape, keys))

    def plant(text: str) -> Iterator[str]:
        for found in re.finditer(rf"^({named}):.*\n?(?:[ \t-].*\n?|\n)*", text, re.MULTILINE):
            yield f"{text[: found.start()]}{found[1]}:\n{text[found.end() :]}"

    return plant


def entries_emptied(text: str) -> Iterator[str]:
    """Yield Compose files and workflows with nothing in one service or job."""
    for part in re.finditer(r"^(?:services|jobs):\n(?:[ \t].*\n?|\n)*", text, re.MULTILINE):
        for found in re.finditer(r"^  [\w-]+:\n(?:   .*\n?|\n)*", part[0], re.MULTILINE):
            start, end = part.start() + found.start(), part.start() + found.end()
            yield f"{text[:start]}{found[0].splitlines()[0]}\n{text[end:]}"


_SYNTAX, _REQUIRED = "a.correctness.syntax", "a.correctness.required"
_COMMENTS = "b.completeness.comments"
_ENTRY_RULES = frozenset(
    {"a.completeness.env-vars", "a.security.no-secrets", "b.quality.portability"}
)
_SECRET = at_top(
    "planted_password: hunter2plain9",
    '"planted_password": "hunter2plain9"',
    'planted_password = "hunter2plain9"\n',
    "PLANTED_PASSWORD=hunter2plain9",
)
_HOME = at_top(
    "planted_path: /home/marta/planted",
    '"planted_path": "/home/marta/planted"',
    'planted_path = "/home/marta/planted"\n',
    "PLANTED_PATH=/home/marta/planted",
)
_OUTSIDE = at_top(
    "planted: ${PLANTED_OUTSIDE}",
    '"planted": "${PLANTED_OUTSIDE}"',
    'planted = "${PLANTED_OUTSIDE}"\n',
    "PLANTED=http://${PLANTED_OUTSIDE}",
)
_OPEN = at_top(
    "planted: changeme", '"planted": "changeme"', 'planted = "changeme"\n', "PLANTED=changeme"
)
_MODE = at_top(
    "planted_mode: '0666'", '"planted_mode": "0666"', 'planted_mode = "0666"\n', "PLANTED_MODE=0666"
)
IN_SETTINGS = (
    Operator(_SYNTAX, "JSON that is cut off", cut),
    Operator(_SYNTAX, "a key given twice", twice),
    Operator(_REQUIRED, "no main part", block_of("services", "jobs", "on")),
    Operator(_REQUIRED, "an empty main part", emptied("services", "jobs")),
    Operator(_REQUIRED, "nothing in an entry", entries_emptied),
    Operator(_REQUIRED, "no machine", changed(r"^ +runs-on:.*\n", "")),
    Operator(
        _REQUIRED,
        "a misspelt key",
        changed(r"^(    )(image|build|restart|steps):", r"\1x\2:"),
        frozenset({"b.quality.portability", *_ENTRY_RULES}),
    ),
    Operator(_REQUIRED, "an open value", _OPEN, unless="example"),
    Operator("a.completeness.env-vars", "a variable from outside", _OUTSIDE),
    Operator("a.security.no-secrets", "a secret", _SECRET),
    Operator("b.quality.portability", "a path of one person", _HOME),
    Operator(
        "b.quality.portability",
        "a version that moves",
        changed(r"(image: [a-z]+):[\w.-]+", r"\1:latest"),
    ),
    Operator("b.quality.defaults", "no restart", changed(r"^ +restart:.*\n", "")),
    Operator("b.quality.defaults", "no time-out", changed(r"^ +timeout-minutes:.*\n", "")),
    Operator("b.security.permissions", "a mode for everybody", _MODE),
)
