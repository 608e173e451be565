"""Whether a configuration file says what holds, where leaving it out would hide a decision."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.checks.configuration.comments import explains
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.finding_at import finding_at
from pytest_reflex.checks.structure.configuration.file import (
    ConfigFile,
    Format,
    Meaning,
    Setting,
    Wishes,
)
from pytest_reflex.text.lines import bare

_OVERRIDE = re.compile(r"(?:^|[._-])override[._-]", re.IGNORECASE)
_EMPTY_TEXT = re.compile(r"""(?:""|'')[ \t,\]}]*(?:#.*)?$""")
_EXPLICIT_NULL = re.compile(r"(?:null|Null|NULL|~)[ \t,\]}]*(?:#.*)?$")


def defaults(config: ConfigFile, wishes: Wishes) -> Report:
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


def _is_meant(setting: Setting, config: ConfigFile, lines: list[str]) -> bool:
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


def _is_made_by_tag(setting: Setting, line: str) -> bool:
    """Whether a tag of YAML alone is the value (`!!python/name:a.b`): it says what is put in."""
    key = re.escape(str(setting.path[-1]))
    return re.search(rf"{key}[\"']?[ \t]*:[ \t]+![^\s,\]}}]+[ \t,\]}}]*(?:#.*)?$", line) is not None


def _is_entry(setting: Setting) -> bool:
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
