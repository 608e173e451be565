"""Whether what has to be in a configuration file is there, and is filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.checks.configuration import schemas
from pytest_reflex.checks.configuration.essentials import missing_part
from pytest_reflex.checks.configuration.file import ConfigFile, Meaning, Setting, Wishes, texts
from pytest_reflex.checks.configuration.references import undefined
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.documents import paths

_PLACEHOLDER = re.compile(
    r"""(?i:change[-_]?(?:me|it|this)|replace[-_]?(?:me|this)|fill[-_]?(?:me|this)(?:[-_]in)?)
    |(?:CHANGE|REPLACE|FILL)\ (?:ME|IT|THIS|IN)
    |(?i:your[-_][\w.-]+)|(?:[Yy]our|YOUR)\ .*\ (?i:here)|(?i:(?:insert|put|enter)[-_ ].*[-_ ]here)
    |(?i:<[a-z][\w\ .,:'/-]*>)|(?i:x{3,})
    |(?:TODO|FIXME|TBD)(?:[:!.]?\ .*|:.*)?""",
    re.VERBOSE,
)
_MARKUP = re.compile(
    r"</?(?:a|b|br|div|em|hr|i|img|li|ol|p|pre|span|strong|table|td|tr|ul)\b", re.I
)
_WORDS = frozenset({"TODO", "FIXME", "TBD"})
_LABELS = re.compile(r"(?:tags?|labels?|keywords?|notes?|markers?|terms?|words?)$", re.IGNORECASE)
"""Names of settings that hold such words themselves."""


def required(config: ConfigFile, wishes: Wishes) -> Report:
    """Find what the schema of its kind misses, names without a definition, and open places."""
    by_schema = schemas.valid(config)
    findings = [*_headless(config), *by_schema.findings, *_absent(config, wishes)]
    findings += undefined(config)
    if not (config.is_example or config.is_locale):
        findings += _unfilled(config)
    unmeasured = "" if findings else by_schema.unmeasured
    return Report(findings, f"what a {config.label} needs is there", unmeasured)


def _headless(config: ConfigFile) -> Iterator[Finding]:
    """Yield that a Compose file has nothing to run, which its schema does not ask for."""
    if config.meaning is Meaning.COMPOSE and missing_part(config) == "services":
        yield Finding("services is missing: a Compose file needs services or include", 1)


def _absent(config: ConfigFile, wishes: Wishes) -> Iterator[Finding]:
    for text, steps in wishes.paths:
        if not any(next(iter(paths.find(d.value, steps)), None) for d in config.documents):
            yield Finding(f"{text} is not there", config.documents[0].line(steps))


def _unfilled(config: ConfigFile) -> Iterator[Finding]:
    for setting, value in texts(config):
        if _is_open(setting, value.strip()):
            yield Finding(f"{setting.name} is still a placeholder: {value!r}", setting.line)


def _is_open(setting: Setting, value: str) -> bool:
    if not _PLACEHOLDER.fullmatch(value) or _MARKUP.match(value):
        return False
    return not (value.partition(":")[0] in _WORDS and _LABELS.search(setting.name))
