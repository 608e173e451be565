"""Whether what has to be in a configuration file is there, and is filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.checks.configuration import schemas
from pytest_reflex.checks.configuration.essentials import missing_part
from pytest_reflex.checks.configuration.references import undefined
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.finding_at import finding_at
from pytest_reflex.checks.structure.configuration.file import (
    ConfigFile,
    Meaning,
    Setting,
    Wishes,
    texts,
)
from pytest_reflex.text import paths

_PLACEHOLDER = re.compile(
    r"""(?i:change[-_]?(?:me|it|this)|replace[-_]?(?:me|this)|fill[-_]?(?:me|this)(?:[-_]in)?)
    |(?:CHANGE|REPLACE|FILL)\ (?:ME|IT|THIS|IN)
    |(?i:your[-_][\w.-]+)|(?:[Yy]our|YOUR)\ .*\ (?i:here)|(?i:(?:insert|put|enter)[-_ ].*[-_ ]here)
    |(?i:(?:[\w.+-]+@|[a-z][\w+.-]*://)your[-_][\w.-]+(?:[/:].*)?)|\[[Yy]our\ [^]]*\]
    |(?i:<[a-z][\w\ .,:'/-]*>)|(?i:x{3,})
    |(?:TODO|FIXME|TBD)(?:[:!.].*|\ (?:-\ )?(?i:add|change|choose|configure|decide|define|enter
    |fill|find|fix|get|give|insert|later|need|put|replace|say|set|specify|this|update|use|write)\b.*)?
    |(?:todo|fixme|tbd):\ ?(?:complete|describe|document|explain|fill|write)\b.*""",
    re.VERBOSE,
)
_MARKUP = re.compile(
    r"</?(?:a|abbr|article|b|body|br|button|code|div|em|footer|form|h[1-6]|head|header|hr|html|i|iframe"
    r"|img|input|li|link|main|meta|nav|ol|p|pre|script|section|small|span|strong|style|svg|table|td|th"
    r"|tr|ul|video)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"<(?:all(?:_urls)?|any|auto|default|empty|nil|none|null|root|stdin|stdout|stderr|unknown|unset"
    r"|(?:[acdmsw]-)+[^<>]+|alt(?:-[^<>]+)?|backspace|bs|cr|ctrl(?:-[^<>]+)?|delete|down|end|enter|esc"
    r"|escape|f\d\d?|home|insert|leader|left|pgdown|pgup|return|right|shift(?:-[^<>]+)?|space|tab|up)>",
    re.IGNORECASE,
)
"""Values in angle brackets that tools take as they are: for nothing and all, and keys to press."""
_WORDS = frozenset({"TODO", "FIXME", "TBD", "XXX"})
_LABELS = re.compile(r"(?:tags?|labels?|keywords?|notes?|markers?|terms?|words?)$", re.IGNORECASE)
_PATTERNS = re.compile(
    r"(?:patterns?|regex(?:es|ps?)?|branches|exclude\w*|exclude_also|ignore\w*|match\w*|grep|filters?|"
    r"search|allow\w*|deny\w*|forbid\w*|contains)$",
    re.IGNORECASE,
)
"""Names of settings that hold such words themselves, or what is looked for in other texts."""

_SOUGHT = re.compile(r"(?:pattern|regexp?|search|replace|match|grep|marker)s?$", re.IGNORECASE)
_FORMS = "ISSUE_TEMPLATE"
"""The folder of forms: what stands in them is for those who fill them in."""


def required(config: ConfigFile, wishes: Wishes) -> Report:
    """Find what the schema of its kind misses, names without a definition, and open places."""
    by_schema = schemas.valid(config)
    findings = [*_headless(config), *by_schema.findings, *_absent(config, wishes)]
    findings += undefined(config)
    in_a_form = config.folder is not None and config.folder.name.upper() == _FORMS
    if not (config.is_example or config.is_locale or in_a_form):
        findings += _unfilled(config)
    unmeasured = "" if findings else by_schema.unmeasured
    summary = f"what a {config.label} needs is there"
    return Report(findings, summary, unmeasured, needs=by_schema.needs if unmeasured else "")


def _headless(config: ConfigFile) -> Iterator[Finding]:
    """Yield that a Compose file has nothing to run, which its schema does not ask for."""
    if config.meaning is Meaning.COMPOSE and missing_part(config) == "services":
        yield Finding("services is missing: a Compose file needs services or include", 1)


def _absent(config: ConfigFile, wishes: Wishes) -> Iterator[Finding]:
    for text, steps in wishes.paths:
        if not any(next(iter(paths.find(d.value, steps)), None) for d in config.documents):
            is_one = not any(isinstance(step, paths.Wildcard) for step in steps)
            yield finding_at(config.documents[0], f"{text} is not there", steps, given=is_one)


def _unfilled(config: ConfigFile) -> Iterator[Finding]:
    for setting, value in texts(config):
        if _is_open(setting, value.strip()):
            yield setting.finding(f"{setting.name} is still a placeholder: {value!r}")


def _is_open(setting: Setting, value: str) -> bool:
    if not _PLACEHOLDER.fullmatch(value) or _MARKUP.match(value) or _MEANT.fullmatch(value):
        return False
    begins_so = value.partition(":")[0].upper() in _WORDS
    if value.startswith("<") and _SOUGHT.search(setting.name):
        return False
    return not (begins_so and (_LABELS.search(setting.name) or _PATTERNS.search(setting.name)))
