"""Variables that a configuration file takes from outside, and whether it says what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.configuration.comments import comment_texts
from pytest_reflex.checks.finding import Report
from pytest_reflex.checks.structure.configuration.file import (
    ConfigFile,
    Format,
    Meaning,
    Setting,
    Wishes,
)

_BRACED = re.compile(r"(?<!\$)(?:\$\$)*\$\{([A-Za-z_]\w*)(:?[-?+=][^}]*)?\}")
_BARE = re.compile(r"(?<!\$)(?:\$\$)*\$([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=", re.MULTILINE)
_LARGEST = 1_000_000
_UPPER = re.compile(r"[A-Z_][A-Z0-9_]*")
_ENV_CONTEXT = re.compile(r"\$\{\{[^}]*?\benv\.([A-Za-z_]\w*)[^}]*\}\}")
_GIVEN = re.compile(r"(?:GITHUB|RUNNER|ACTIONS)_\w+|CI|HOME|PATH|PWD|USER|COMPOSE_\w+")


def variables(config: ConfigFile, wishes: Wishes) -> Report:
    """Find variables without a default, a definition in the file, or a comment that names them."""
    comments = "\n".join(comment_texts(config))
    defined = _defined(config)
    if config.meaning is Meaning.WORKFLOW and "GITHUB_ENV" in config.text:
        defined |= set(re.findall(r"\b([A-Za-z_]\w*)=", config.text))
    seen: set[str] = set()
    findings = []
    for name, setting in _taken(config):
        if name in seen:
            continue
        seen.add(name)
        told = name in defined or re.search(rf"\b{re.escape(name)}\b", comments)
        if not told and not _GIVEN.fullmatch(name):
            message = f"the variable {name} has no default and no comment that names it"
            findings.append(setting.finding(message))
    return Report(findings, f"{len(seen)} variables without a default, each explained")


def _defined(config: ConfigFile) -> set[str]:
    """Return the names that have a value: in Compose, by the .env file beside it."""
    if config.meaning is Meaning.COMPOSE:
        return _beside(config)
    return {
        setting.name
        for setting in config.settings()
        if setting.value is not None and setting.name not in _names_in(setting.value, config)
    }


def _names_in(value: Any, config: ConfigFile) -> set[str]:
    return set(_in(value, config)) if isinstance(value, str) else set()


def _beside(config: ConfigFile) -> set[str]:
    path = config.folder / ".env" if config.folder else None
    try:
        if path is None or not path.is_file():
            return set()
        with path.open(encoding="utf-8-sig") as file:
            return set(_ASSIGNED.findall(file.read(_LARGEST)))
    except (OSError, UnicodeDecodeError):
        return set()


def _taken(config: ConfigFile) -> Iterator[tuple[str, Setting]]:
    for setting in config.settings():
        if isinstance(setting.value, str):
            yield from ((name, setting) for name in _in(setting.value, config))
        elif setting.value is None and _passed_through(setting, config):
            yield setting.name, setting


def _in(text: str, config: ConfigFile) -> Iterator[str]:
    if config.meaning is Meaning.WORKFLOW:
        yield from _ENV_CONTEXT.findall(text)
        return
    compose = config.meaning is Meaning.COMPOSE
    for name, rest in _BRACED.findall(text):
        if not rest and (compose or config.format is Format.ENV or _UPPER.fullmatch(name)):
            yield name
    if compose:
        yield from _BARE.findall(text)


def _passed_through(setting: Setting, config: ConfigFile) -> bool:
    """Whether the value comes from the environment of whoever starts Compose."""
    compose = config.meaning is Meaning.COMPOSE
    return compose and len(setting.path) == 4 and setting.path[2] == "environment"
