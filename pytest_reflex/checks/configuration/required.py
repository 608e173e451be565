"""Whether what has to be in a configuration file is there, and is filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.checks.configuration import schemas
from pytest_reflex.checks.configuration.file import ConfigFile, Wishes, texts
from pytest_reflex.checks.configuration.references import undefined
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.documents import paths

_PLACEHOLDER = re.compile(
    r"""change[-_ ]?(?:me|it|this)|replace[-_ ]?(?:me|this)|fill[-_ ]?(?:me|in|this)
    |your[-_ ].*|<[^<>]+>|x{3,}|\.\.\.|todo\b.*|tbd|fixme\b.*|insert[-_ ].*[-_ ]here""",
    re.IGNORECASE | re.VERBOSE,
)


def required(config: ConfigFile, wishes: Wishes) -> Report:
    """Find what the schema of its kind misses, names without a definition, and open places."""
    by_schema = schemas.valid(config)
    findings = [*by_schema.findings, *_absent(config, wishes), *undefined(config)]
    if not config.is_example:
        findings += _unfilled(config)
    unmeasured = "" if findings else by_schema.unmeasured
    return Report(findings, f"what a {config.label} needs is there", unmeasured)


def _absent(config: ConfigFile, wishes: Wishes) -> Iterator[Finding]:
    for text, steps in wishes.paths:
        if not any(next(iter(paths.find(d.value, steps)), None) for d in config.documents):
            yield Finding(f"{text} is not there", config.documents[0].line(steps))


def _unfilled(config: ConfigFile) -> Iterator[Finding]:
    for setting, value in texts(config):
        if _PLACEHOLDER.fullmatch(value.strip()):
            yield Finding(f"{setting.name} is still a placeholder: {value!r}", setting.line)
