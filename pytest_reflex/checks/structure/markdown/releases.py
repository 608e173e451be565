"""`releases`: the entries of a changelog are there, each once, the newest first, with what changed.

A heading is an entry where it names a version or a day, or what is not released yet; where no
heading is one, a line of its own in bold letters stands for a heading. Versions are
compared by their numbers alone; dates are read in the forms that a reader cannot take for another
day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, FLAG
from pytest_reflex.checks.structure.check import Judge, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.markdown.headings import find_repeated
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.text.lines import starts

_NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+[0-9A-Za-z.+_-]*)", re.IGNORECASE)
_ALONE = re.compile(r"\W*v?(\d+)\W*", re.IGNORECASE)
_CALENDAR = re.compile(r"\W*v?(\d{4}\.\d{1,2}\.\d{1,2})\b")
_FUTURE = re.compile(
    r"\W*(?:unreleased|upcoming|next|main|master|head|tbd|tba|in development)\b", re.I
)
_SAYS_NOTHING = re.compile(r"\s*(?:#.*|\[[^\]]+\]:\s.*|[=-]*|<!--.*-->\s*)")
"""A line of an entry that is blank, a heading, a comment, or where a link leads to."""
_OPENS = re.compile(r"[\[\s]*(?:(?:version|release)\s+)?[\[\s]*v?(?=\d)")
"""What stands before a version and is not a name of what is released."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]*\.?"
_DATES = [
    re.compile(r"(?<![\d.])(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?![\d.])"),
    re.compile(
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?!\d)", re.I
    ),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>\d{{4}})(?!\d)", re.I
    ),
]


@dataclass(frozen=True, slots=True)
class _Release:
    """One entry: its title, line, text and headings; `version` is empty where it has none.

    `faulty` is what is written as a date and is not a day of the calendar.
    """

    title: str
    line: int
    body: str
    headings: tuple[model.Section, ...]
    version: str
    day: date | None
    faulty: str

    @property
    def future(self) -> bool:
        return not self.version and self.day is None

    @property
    def numbers(self) -> tuple[tuple[int, str], ...]:
        """The numbers of the version up to its first part that is none, as what is compared.

        They are their digits: an `int` is made of so many only.
        """
        digits = re.match(r"\d+(?:\.\d+)*", self.version)
        parts = (part.lstrip("0") for part in digits[0].split(".")) if digits else ()
        return tuple((len(part), part) for part in parts)


def _make(params: Mapping[str, Any]) -> Judge:
    asked = [look for key, look in _LOOKS.items() if params.get(key)]
    least = params.get("min_count", 1)
    if not asked and not least:
        raise ValueError("it asks for nothing, so that it cannot fail")

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        releases = list(_releases(model.of(artifact)))
        findings = [finding for look in asked for finding in look(releases)]
        if len(releases) < least:
            few = "no heading names a version, a date or what is unreleased"
            some = f"{len(releases)} releases, at least {least} are wanted"
            findings.append(Finding(some if releases else few, 1))
        findings.sort(key=lambda finding: finding.line)
        return Report(findings, f"{len(releases)} releases")

    return judge


def _releases(document: model.Markdown) -> Iterator[_Release]:
    """Yield the entries; each lasts until the next one begins."""
    sections, offsets = document.sections, starts(document.text)
    found = list(_entries(sections))
    if not found:
        sections = sorted([*sections, *_bold_lines(document)], key=lambda section: section.line)
        found = list(_entries(sections))
    ends = [*(index for index, _ in found[1:]), len(sections)]
    for (index, version), end in zip(found, ends, strict=False):
        last = offsets[sections[end].line - 1] if end < len(sections) else None
        section = sections[index]
        title = " ".join(section.title.split())
        body = document.text[section.start : last]
        day, faulty = _day_in(title)
        if day is None and not faulty:
            day, faulty = _day_in(next(filter(str.strip, body.split("\n")), "")[:80])
        inner = tuple(sections[index + 1 : end])
        yield _Release(title, section.line, body, inner, version, day, faulty)


def _bold_lines(document: model.Markdown) -> Iterator[model.Section]:
    """Yield paragraphs of one line that is bold as a whole, as if they were deep headings."""
    offsets = starts(document.text)
    for token in document.tokens:
        if token.type != "inline" or not token.map or not token.content.startswith(("**", "__")):
            continue
        first, last = token.map
        inside = document.children(token)
        said = [child for child in inside if child.type != "text" or child.content.strip(" :")]
        kinds = [child.type for child in said]
        if last - first == 1 and kinds == ["strong_open", "text", "strong_close"]:
            end = offsets[last] if last < len(offsets) else len(document.text)
            yield model.Section(said[1].content, 7, first + 1, end, len(document.text))


def _entries(sections: Sequence[model.Section]) -> Iterator[tuple[int, str]]:
    """Yield which headings are entries, each with its version.

    Below an entry of a higher level, only a heading that begins with a version is another one.
    """
    above = 0
    for index, section in enumerate(sections):
        title = " ".join(section.title.split())
        inside = 0 < above < section.level
        version = _version_in(title, strict=inside)
        named = version or (not inside and (any(_day_in(title)) or _FUTURE.match(title)))
        if named:
            yield index, version
        if not inside:
            above = section.level if named else 0


def _version_in(title: str, *, strict: bool) -> str:
    if alone := _ALONE.fullmatch(title):
        return "" if strict else alone[1]
    number = _NUMBER.search(title)
    if not number or any(form.match(title, number.start()) for form in _DATES):
        return ""
    before = title[: number.start()]
    if re.search(r"\w", before):
        around = (before.split(), title[number.end() :].split())
        if strict or max(map(len, around)) > 3:  # a sentence that mentions a version
            return ""
    return number[1].rstrip(".+_-")


def _day_in(text: str) -> tuple[date | None, str]:
    """Return the day that a text names, or what is not a day, as it is written."""
    for form in _DATES:
        if found := form.search(text):
            parts = found.groupdict()
            name = parts.get("name")
            month = _MONTHS.index(name.lower()) + 1 if name else int(parts["month"])
            try:
                return date(int(parts["year"]), month, int(parts["day"])), ""
            except ValueError:
                return None, found[0]
    return None, ""


def _twice(releases: Sequence[_Release]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for release in releases:
        if key := _key(release):
            if key in first:
                message = f"{_release_name(release)} is there twice, first in line {first[key]}"
                yield Finding(message, release.line)
            first.setdefault(key, release.line)


def _key(release: _Release) -> str:
    """Return what no other entry has: the title up to its version, which may be a day with dots."""
    title = release.title.lower()
    if not release.version:
        return found[1] if (found := _CALENDAR.match(title)) else ""
    until = title.index(release.version.lower()) + len(release.version)
    return _OPENS.sub("", title[:until], count=1)


def _find_rising(releases: Sequence[_Release]) -> Iterator[Finding]:
    """Find what is newer than the entry above it, by its date and by its version."""
    named = [release for release in releases if not release.future]
    for above, below in pairwise(named):
        if above.day and below.day and below.day > above.day and below.numbers >= above.numbers:
            yield Finding(
                f"{_release_name(below)} of {below.day} comes below "
                f"{_release_name(above)} of {above.day}",
                below.line,
            )
    numbers = [release.numbers for release in named if release.numbers]
    dated = any(release.day for release in named)
    if not dated and len(numbers) > 1 and numbers == sorted(numbers) and numbers[0] < numbers[-1]:
        yield Finding(f"the oldest comes first: {_release_name(named[0])}", named[0].line)


def _find_undated(releases: Sequence[_Release]) -> Iterator[Finding]:
    for release in releases:
        if release.faulty:
            yield Finding(f"{release.faulty} is not a day of the calendar", release.line)
    versions = [release for release in releases if release.version]
    if any(release.day for release in versions) and not (versions[0].day or versions[0].faulty):
        message = f"{_release_name(versions[0])} has no date, and others have"
        yield Finding(message, versions[0].line)


def _empty(releases: Sequence[_Release]) -> Iterator[Finding]:
    for release in releases:
        said = (not _SAYS_NOTHING.fullmatch(line) for line in release.body.split("\n"))
        if not release.future and not any(said):
            yield Finding(f"{_release_name(release)} does not say what changed", release.line)


def _find_repeated(releases: Sequence[_Release]) -> Iterator[Finding]:
    for release in releases:
        for found in find_repeated(release.headings):
            yield replace(found, message=f"{_release_name(release)} has {found.message}")


def _release_name(release: _Release) -> str:
    return release.version or one_line(release.title, 40)


_LOOKS = {
    "unique": _twice,
    "newest_first": _find_rising,
    "dated": _find_undated,
    "filled": _empty,
    "unique_headings": _find_repeated,
}

KIND = StructureKind(
    key="releases",
    make=_make,
    forbids=lambda params: any(params.get(key) for key in _LOOKS),
    inside={
        "min_count": COUNT.means("there are at least so many", "1"),
        "unique": FLAG.means("no version is there twice", "`false`"),
        "newest_first": FLAG.means(
            "none is newer, by its date and its version, than the one above it", "`false`"
        ),
        "dated": FLAG.means(
            "each date is a day of the calendar; the newest version has one if others have",
            "`false`",
        ),
        "filled": FLAG.means("each that is released says something", "`false`"),
        "unique_headings": FLAG.means("no heading is there twice within one", "`false`"),
    },
)
