"""Faults of changelogs."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise

from benchmarks.rules.operators import append
from benchmarks.rules.operators.markdown import insert, operators
from benchmarks.rules.operators.sections import Section, sections, titled, with_hashes

_VERSION = re.compile(r"\bv?(\d+)((?:\.\d+)+)[\w.+-]*")
_NAMES_A_RELEASE = re.compile(r"\d|unreleased|upcoming|next|master|main|head|tba|tbd|develop", re.I)
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DAY_OF_MONTH = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December) "
    r"\d{1,2}(?=\D)"
)


def entries(text: str) -> list[Section]:
    """Return the sections of releases: those with a version, of the level that the first has."""
    found = sections(text)
    first = next((s for s in found if _VERSION.search(s.title)), None)
    return [s for s in found if first and s.level == first.level and _VERSION.search(s.title)]


def version(section: Section) -> tuple[int, ...]:
    found = _VERSION.search(section.title)
    return tuple(map(int, f"{found[1]}{found[2]}".split("."))) if found else ()


def dated(text: str) -> list[Section]:
    """Return all entries where each has a day in its title, otherwise none."""
    found = entries(text)
    return found if found and all(_ISO.search(entry.title) for entry in found) else []


def new_entry(title: str, text: str) -> str:
    """Return the heading of a release that is newer than those there are."""
    level = entries(text)[0].level
    return f"{'#' * level} {title}"


def retitled(new: str, text: str) -> str:
    """Give all headings another title; a line in bold stays no heading either."""
    changed = titled(lambda section: new.format(hashes="#" * section.level), with_hashes(text))
    return re.sub(r"^(?:\*\*|__)", "", changed, flags=re.MULTILINE)


def as_list(text: str) -> str:
    changed = titled(lambda section: f"* {section.title.strip(' *_')}", with_hashes(text))
    return re.sub(r"^(?:\*\*|__)", "", changed, flags=re.MULTILINE)


def without_releases(text: str) -> str:
    """Leave only headings such as Fixed."""
    text = re.sub(r"^(?:\*\*|__)", "", with_hashes(text), flags=re.MULTILINE)
    for section in reversed(sections(text)):
        if _NAMES_A_RELEASE.search(section.title):
            text = text[: section.start] + text[section.body :]
    return text


def a_pointer(text: str) -> str:
    return "# Changelog\n\nSee the releases, the last of which is 1.0.0 of 2026-03-01.\n"


def version_again(text: str) -> str | None:
    """Put the heading of an entry at the end once more, with another change."""
    text = with_hashes(text)
    if not (found := entries(text)):
        return None
    one = found[len(found) // 2]
    return append(f"{text[one.start : one.body]}\n* One change more", text)


def entry_again(text: str) -> str | None:
    text = with_hashes(text)
    if not (found := entries(text)):
        return None
    one = found[len(found) // 3]
    return f"{text[: one.end].rstrip()}\n\n{text[one.start :]}"


def turned(text: str) -> str | None:
    """Put the entries in the order of their age."""
    text = with_hashes(text)
    found = entries(text)
    numbers = [version(entry) for entry in found]
    in_a_row = all(a.end == b.start for a, b in pairwise(found))
    if len(found) < 3 or not in_a_row or numbers != sorted(numbers, reverse=True):
        return None
    parts = [text[entry.start : entry.end].rstrip() for entry in reversed(found)]
    turned_round = "\n\n".join(parts)
    return f"{text[: found[0].start]}{turned_round}\n\n{text[found[-1].end :]}"


def swapped(text: str) -> str | None:
    """Let the first two entries change places, where their days and versions say the order."""
    found = dated(text)
    if len(found) < 2 or found[0].end != found[1].start or version(found[0]) <= version(found[1]):
        return None
    new, old = found[:2]
    if _day(new) <= _day(old):
        return None
    return (
        f"{text[: new.start]}{text[old.start : old.end].rstrip()}\n\n"
        f"{text[new.start : new.end].rstrip()}\n\n{text[old.end :]}"
    )


def _day(section: Section) -> str:
    found = _ISO.search(section.title)
    return found[0] if found else ""


def newest_last(text: str) -> str | None:
    return (
        append(f"{new_entry('999.0.0 - 2999-01-01', text)}\n\n* All", text) if dated(text) else None
    )


def day_as(new: str, text: str) -> str | None:
    """Write the day of an entry in the middle in another way."""
    found = [entry for entry in entries(text) if _ISO.search(entry.title)]
    if not found:
        return None
    one = found[len(found) // 2]
    return text[: one.start] + _ISO.sub(new, text[one.start : one.body]) + text[one.body :]


def day_in_words(text: str) -> str | None:
    """Give the newest entry a day that its month has not."""
    found = [entry for entry in entries(text) if _DAY_OF_MONTH.search(entry.title)]
    if not found:
        return None
    head = text[found[0].start : found[0].body]
    changed = _DAY_OF_MONTH.sub("February 30", head)
    return text[: found[0].start] + changed + text[found[0].body :]


def newest_without_day(left: str, text: str) -> str | None:
    found = dated(text)
    if len(found) < 2:
        return None
    head = _ISO.sub(left, text[found[0].start : found[0].body])
    return text[: found[0].start] + head + text[found[0].body :]


def new_without_day(text: str) -> str | None:
    found = dated(text)
    head = new_entry("999.0.0", text) if found else ""
    return f"{text[: found[0].start]}{head}\n\n* All\n\n{text[found[0].start :]}" if found else None


def body_as(new: str, place: int, text: str) -> str | None:
    """Put something else in place of all that an entry says: the first, or one further on."""
    text = with_hashes(text)
    found = [entry for entry in entries(text) if text[entry.body : entry.end].strip()]
    if not found:
        return None
    one = found[len(found) * place // 4]
    said = new.format(hashes="#" * (one.level + 1))
    return f"{text[: one.body]}\n{said}{text[one.end :]}"


def empty_on_top(text: str) -> str | None:
    text = with_hashes(text)
    if not (found := entries(text)):
        return None
    start = found[0].start
    return f"{text[:start]}{new_entry('999.0.0 - 2999-01-01', text)}\n\n{text[start:]}"


def group(again: str, text: str) -> str | None:
    """Put a group of an entry twice: all of it, or its heading at the end of the entry."""
    for entry in entries(text):
        inner = sections(text[entry.body : entry.end])
        groups = [s for s in inner if s.level == entry.level + 1]
        if len(groups) < 2:
            continue
        first = groups[0]
        start, end = entry.body + first.start, entry.body + first.end
        if again == "all":
            return f"{text[:end].rstrip()}\n\n{text[start:]}"
        last = entry.body + groups[-1].end
        new = f"{text[start : entry.body + first.body]}\n* One change more\n"
        return f"{text[:last].rstrip()}\n\n{new}\n{text[last:]}"
    return None


def new_groups(text: str) -> str | None:
    """Begin an entry with a group that comes twice."""
    text = with_hashes(text)
    if not (found := entries(text)):
        return None
    hashes = "#" * (found[0].level + 1)
    names = ("Moved", "Renamed", "Moved")
    new = "\n\n".join(f"{hashes} {name}\n\n* This and that" for name in names)
    return f"{text[: found[0].body]}\n{new}\n\n{text[found[0].body :]}"


def undefine(text: str) -> str | None:
    """Take out the definition of a link."""
    for label in re.findall(
        r"\[[^\[\]\n]*[a-zA-Z][^\[\]\n]*\]\[([^\[\]\n]*[a-zA-Z][^\[\]\n]*)\]", text
    ):
        line = re.compile(rf"^\[{re.escape(label)}\]: ?\S.*\n?", re.MULTILINE | re.IGNORECASE)
        if line.search(text):
            return line.sub("", text)
    return None


OPERATORS = (
    *operators(
        ("changelog",),
        "a.completeness.releases",
        {
            "titles that say nothing": partial(retitled, "{hashes} What is new"),
            "versions in a list": as_list,
            "headings of groups only": without_releases,
            "one sentence": a_pointer,
        },
    ),
    *operators(
        ("changelog",),
        "a.correctness.versions",
        {
            "a version once more at the end": version_again,
            "an entry twice in a row": entry_again,
            "the oldest first": turned,
            "two entries that changed places": swapped,
            "the newest at the end": newest_last,
        },
    ),
    *operators(
        ("changelog",),
        "a.correctness.dates",
        {
            "day 32": partial(day_as, r"\1-\2-32"),
            "month 13": partial(day_as, r"\1-13-\3"),
            "February 30 in numbers": partial(day_as, r"\1-02-30"),
            "February 30 in words": day_in_words,
            "the newest without a day": partial(newest_without_day, ""),
            "a month for a day": partial(newest_without_day, r"\1-\2"),
            "a new entry without a day": new_without_day,
        },
    ),
    *operators(
        ("changelog",),
        "a.completeness.changes",
        {
            "the newest without text": partial(body_as, "", 0),
            "an older one without text": partial(body_as, "", 2),
            "groups with nothing in them": partial(
                body_as, "{hashes} Added\n\n{hashes} Fixed\n\n", 1
            ),
            "a new one with nothing in it": empty_on_top,
        },
    ),
    *operators(
        ("changelog",),
        "b.quality.grouping",
        {
            "a group twice in a row": partial(group, "all"),
            "a group once more at the end": partial(group, "heading"),
            "new groups": new_groups,
        },
    ),
    *operators(
        ("changelog",),
        "b.correctness.links",
        {
            "a link to no heading": partial(insert, "See [below](#a-heading-that-is-gone)."),
            "a name that is nowhere": partial(insert, "Thanks to [somebody-else][]."),
            "a label that is nowhere": partial(append, "More in [the issue][issue-of-nobody]."),
            "a definition that is gone": undefine,
        },
    ),
    *operators(
        ("changelog",),
        "b.quality.placeholders",
        {
            "a text to be written": partial(insert, "TODO: write this section."),
            "to be done": partial(insert, "TBD"),
            "a point of a list": partial(append, "* FIXME: say what changed"),
            "pseudo-Latin": partial(insert, "Lorem ipsum dolor sit amet, consectetur elit."),
        },
    ),
)
