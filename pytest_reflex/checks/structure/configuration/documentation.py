"""What a configuration file documents: comments, defaults, variables that it expects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.configuration.file import (
    ConfigExpectations,
    ConfigFile,
    ConfigValue,
    Format,
    Meaning,
)
from pytest_reflex.checks.structure.data.source import finding_at
from pytest_reflex.model.plain import pluralize
from pytest_reflex.text.lines import bare

SMALL = 5
"""So many lines of settings explain themselves."""

_COMMENT = re.compile(r"(?:^|[ \t])#+[ \t]?(.*)$")
_INI_COMMENT = re.compile(r"^[ \t]*[#;]+[ \t]?(.*)$")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SWITCHED_OFF = re.compile(r"[a-z_][\w.-]*[ \t]*[:=]|[A-Z][A-Z0-9_]*=|- ")


def comment_texts(config: ConfigFile) -> Iterator[str]:
    """Yield the text of every comment; a commented-out setting is one too."""
    if config.is_json:
        return
    pattern = _INI_COMMENT if config.format is Format.INI else _COMMENT
    for line in bare(config.text):
        if found := pattern.search(line):
            yield found[1]


def explains(text: str) -> bool:
    """Return whether a comment is made of words: at least three, and no setting switched off."""
    return len(_WORD.findall(text)) >= 3 and not _SWITCHED_OFF.match(text)


def comments(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Find a file with fewer comments than one for so many lines of settings."""
    if config.is_json:
        return Report((), "JSON needs no comments")
    marks = "#;" if config.format is Format.INI else "#"
    lines = [line.strip() for line in bare(config.text) if line.strip()]
    settings = sum(line[0] not in marks for line in lines)
    found = sum(map(explains, comment_texts(config))) + _names(config)
    wanted = 0 if settings <= SMALL else max(settings // expected.lines_per_comment, 1)
    text = f"{pluralize(found, 'comment')} of at least three words"
    if found >= wanted:
        return Report((), f"{text} for {settings} lines")
    message = f"{text}, {wanted} are wanted for {settings} lines of settings"
    return Report([Finding(message, 1)])


def _names(config: ConfigFile) -> int:
    """Return how many steps and jobs of a workflow say by their name what they do."""
    if config.meaning is not Meaning.WORKFLOW:
        return 0
    named = (s.value for s in config.settings() if s.name == "name" and s.path[0] == "jobs")
    return sum(isinstance(value, str) and explains(value) for value in named)


_OVERRIDE = re.compile(r"(?:^|[._-])override[._-]", re.IGNORECASE)
_EMPTY_TEXT = re.compile(r"""(?:""|'')[ \t,\]}]*(?:#.*)?$""")
_EXPLICIT_NULL = re.compile(r"(?:null|Null|NULL|~)[ \t,\]}]*(?:#.*)?$")


def defaults(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Find services without `restart`, jobs without `timeout-minutes`, settings without value."""
    judge = _JUDGES.get(config.meaning, _empty)
    return Report(list(judge(config)), _SUMMARIES.get(config.meaning, "every setting has a value"))


def _services(config: ConfigFile) -> Iterator[Finding]:
    if _OVERRIDE.search(config.name):
        return
    for document, name, service in config.tables("services"):
        if not {"image", "build"} & service.keys():
            continue  # the rest of it stands in another file
        deploy = service.get("deploy")
        stated = isinstance(deploy, dict) and "restart_policy" in deploy
        if not stated and not {"restart", "extends"} & service.keys():
            message = f"the service {name!r} does not say when it restarts"
            yield finding_at(document, message, ("services", name))


def _jobs(config: ConfigFile) -> Iterator[Finding]:
    for document, name, job in config.tables("jobs"):
        if not {"timeout-minutes", "uses"} & job.keys():
            message = f"the job {name!r} has no timeout-minutes; without it, it may run six hours"
            yield finding_at(document, message, ("jobs", name))


def _empty(config: ConfigFile) -> Iterator[Finding]:
    if config.is_example:
        return  # to be filled in is what it is for
    lines = bare(config.text)
    for setting in config.settings():
        if setting.value in (None, "") and not _is_meant(setting, config, lines):
            message = f"{setting.name} has no value, and no comment says why"
            yield setting.finding(message)


def _is_meant(setting: ConfigValue, config: ConfigFile, lines: list[str]) -> bool:
    """Whether the line says null in so many words, or a comment on it or above it says why."""
    own = lines[setting.line - 1] if setting.line <= len(lines) else ""
    if config.is_json or isinstance(setting.path[-1], int) or _is_entry(setting):
        return True  # a null or an empty text that is written out is meant
    if setting.value == "" and (config.format is Format.TOML or _EMPTY_TEXT.search(own)):
        return True
    if config.format is Format.YAML and _is_made_by_tag(setting, own):
        return True
    if config.format is Format.YAML and setting.value is None and _EXPLICIT_NULL.search(own):
        return True
    above = lines[setting.line - 2].strip() if setting.line > 1 else ""
    mark = "#;" if config.format is Format.INI else "#"
    beside = own.partition(" #")[2]
    return explains(beside) or (above[:1] in mark and above != "" and explains(above.lstrip("#; ")))


def _is_made_by_tag(setting: ConfigValue, line: str) -> bool:
    """Whether a tag of YAML alone is the value (`!!python/name:a.b`): it says what is put in."""
    key = re.escape(str(setting.path[-1]))
    return re.search(rf"{key}[\"']?[ \t]*:[ \t]+![^\s,\]}}]+[ \t,\]}}]*(?:#.*)?$", line) is not None


def _is_entry(setting: ConfigValue) -> bool:
    """Whether it is all of an entry of a list: a name that could have settings (`- tags:`)."""
    if setting.value is not None or len(setting.path) < 2 or not isinstance(setting.path[-2], int):
        return False
    entry = setting.document.value
    for step in setting.path[:-1]:
        entry = entry[step]
    return len(entry) == 1


_JUDGES = {Meaning.COMPOSE: _services, Meaning.WORKFLOW: _jobs}
_SUMMARIES = {
    Meaning.COMPOSE: "every service says when it restarts",
    Meaning.WORKFLOW: "every job has a timeout",
}


_BRACED = re.compile(r"(?<!\$)(?:\$\$)*\$\{([A-Za-z_]\w*)(:?[-?+=][^}]*)?\}")
_BARE = re.compile(r"(?<!\$)(?:\$\$)*\$([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=", re.MULTILINE)
_LARGEST = 1_000_000
_UPPER = re.compile(r"[A-Z_][A-Z0-9_]*")
_ENV_CONTEXT = re.compile(r"\$\{\{[^}]*?\benv\.([A-Za-z_]\w*)[^}]*\}\}")
_GIVEN = re.compile(r"(?:GITHUB|RUNNER|ACTIONS)_\w+|CI|HOME|PATH|PWD|USER|COMPOSE_\w+")


def variables(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Find variables without a default, a definition in the file, or a comment that names them."""
    comments = "\n".join(comment_texts(config))
    defined = _defined_names(config)
    if config.meaning is Meaning.WORKFLOW and "GITHUB_ENV" in config.text:
        defined |= set(re.findall(r"\b([A-Za-z_]\w*)=", config.text))
    seen: set[str] = set()
    findings = []
    for name, setting in _used_names(config):
        if name in seen:
            continue
        seen.add(name)
        is_explained = name in defined or re.search(rf"\b{re.escape(name)}\b", comments)
        if not is_explained and not _GIVEN.fullmatch(name):
            message = f"the variable {name} has no default and no comment that names it"
            findings.append(setting.finding(message))
    return Report(findings, f"{len(seen)} variables without a default, each explained")


def _defined_names(config: ConfigFile) -> set[str]:
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


def _used_names(config: ConfigFile) -> Iterator[tuple[str, ConfigValue]]:
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


def _passed_through(setting: ConfigValue, config: ConfigFile) -> bool:
    """Whether the value comes from the environment of whoever starts Compose."""
    compose = config.meaning is Meaning.COMPOSE
    return compose and len(setting.path) == 4 and setting.path[2] == "environment"
