"""Comments of a configuration file, and whether there are enough of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.configuration.file import ConfigFile, Format, Meaning, Wishes
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


def comments(config: ConfigFile, wishes: Wishes) -> Report:
    """Find a file with fewer comments than one for so many lines of settings."""
    if config.is_json:
        return Report((), "JSON needs no comments")
    marks = "#;" if config.format is Format.INI else "#"
    lines = [line.strip() for line in bare(config.text) if line.strip()]
    settings = sum(line[0] not in marks for line in lines)
    found = sum(map(explains, comment_texts(config))) + _names(config)
    wanted = 0 if settings <= SMALL else max(settings // wishes.lines_per_comment, 1)
    told = f"{found} comment{'' if found == 1 else 's'} of at least three words"
    if found >= wanted:
        return Report((), f"{told} for {settings} lines")
    message = f"{told}, {wanted} are wanted for {settings} lines of settings"
    return Report([Finding(message, 1)])


def _names(config: ConfigFile) -> int:
    """Return how many steps and jobs of a workflow say by their name what they do."""
    if config.meaning is not Meaning.WORKFLOW:
        return 0
    named = (s.value for s in config.settings() if s.name == "name" and s.path[0] == "jobs")
    return sum(isinstance(value, str) and explains(value) for value in named)
