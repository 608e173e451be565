"""Faults of reference pages and of decision records."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from benchmarks.rules.operators import append
from benchmarks.rules.operators.markdown import operators, without_fences
from benchmarks.rules.operators.sections import (
    Section,
    cut,
    empty,
    hide,
    rename,
    sections,
    with_hashes,
)

_ROW_OF_DASHES = re.compile(r"^(?=.*\|)\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *\n", re.MULTILINE)
_SHORT = "| name | means |\n|---|---|\n| `-q` |"
_UNESCAPED = "| name | means |\n|---|---|\n| `a|b` | one of them |"
_FEW_DASHES = "| name | means |\n|---|\n| `-q` | quiet |"
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
DAY = re.compile(
    rf"\b(?:\d{{4}}[-/.]\d\d?[-/.]\d\d?|(?:\d\d?(?:st|nd|rd|th)? )?(?:{_MONTHS})[a-z]*\.? "
    r"(?:\d\d?(?:st|nd|rd|th)?,? )?\d{4}|\d\d?[-/. ]\d\d?[-/. ]\d{4})\b",
    re.IGNORECASE,
)
_DECISION = r"decision(?! driver)|decided|outcome|propos|solution|resolution|conclusion|recommend"
_DECIDES = (
    r"decision:|chosen:|\b(decide|decided|choose|chose|chosen|adopted|agreed)\b|we (will|shall)"
)
_CONTEXT = (
    r"context|problem|background|motivation|rationale|reason|introduction|drivers?|\bwhy|issue"
)
_CONSEQUENCES = (
    r"consequence|implication|impact|\bpros\b|\bcons\b|advantage|trade-?off|drawback|result|effect|"
    r"risk|benefit"
)
_STATUS_LINE = re.compile(r"^([\W_]*?status[\W_]*?[:|])[^\n]*\n", re.IGNORECASE | re.MULTILINE)


def without_code(mark: str, text: str) -> str:
    """Put names between other marks than those of code, and take all blocks out."""
    text = re.sub(r"^(?::::|\.\. \w+::).*\n?", "", without_fences(text), flags=re.MULTILINE)
    return re.sub(r"</?code>", "", text).replace("`", mark)


def a_sentence(text: str) -> str:
    return "# Options\n\nThere are several options, which the help lists with all they take.\n"


def middle(found: list[Section]) -> Section | None:
    return found[len(found) // 2] if found else None


def entries(text: str) -> list[Section]:
    """Return the sections below the title that have none in them."""
    text = hide(text)
    return [
        s
        for s in sections(text)
        if s.level > 1 and text[s.body : s.end].strip() and not sections(text[s.body : s.end])
    ]


def empty_entry(text: str) -> str | None:
    found = middle([s for s in entries(text) if "<" not in text[s.body : s.end]])
    return f"{text[: found.body]}\n{text[found.end :]}" if found else None


def entry_before(text: str) -> str | None:
    found = middle(entries(text))
    new = f"{'#' * found.level} One more entry\n\n" if found else ""
    return f"{text[: found.start]}{new}{text[found.start :]}" if found else None


def repeat_heading(text: str) -> str | None:
    """Put the last heading once more at the end, with another text."""
    found = [s for s in sections(text)[-1:] if s.level > 1]
    return append(f"{text[found[-1].start : found[-1].body]}\nMore on it.", text) if found else None


def repeat_entry(text: str) -> str | None:
    found = middle(entries(text))
    return f"{text[: found.end].rstrip()}\n\n{text[found.start :]}" if found else None


def repeat_first(text: str) -> str | None:
    """Put the first entry's heading at the end of the section that it is in."""
    found = sections(text)
    first = next((s for s in found if s.level > 1), None)
    if not first:
        return None
    around = [s for s in found if s.level < first.level and s.start < first.start < s.end]
    end = around[-1].end if around else len(text)
    if not around and any(s.level < first.level for s in found):
        return None
    new = f"{text[first.start : first.body]}\nMore on it.\n"
    return f"{text[:end].rstrip()}\n\n{new}\n{text[end:]}"


def in_a_row(mark: str, text: str) -> str | None:
    """Put a cell more into the first row of the first table, or (`mark` is empty) take one away."""
    found = _ROW_OF_DASHES.search(hide(text))
    if not found:
        return None
    line, _, rest = text[found.end() :].partition("\n")
    row = line.strip()
    if not (row.startswith("|") and row.endswith("|")) or row.count("|") < 3 or "\\|" in row:
        return None
    row = f"{row} {mark} |" if mark else row[: row.rindex("|", 0, -1) + 1]
    return f"{text[: found.end()]}{row}\n{rest}"


def move_target(text: str) -> str | None:
    """Let the first link to a file of the project lead to where it is not."""
    pattern = re.compile(r"(?<!!)\[[^\]\n]+\]\((?![\w+.-]+:|[#/<])([^)\s#]+\.\w+)")
    found = pattern.search(hide(text))
    return f"{text[: found.start(1)]}gone/{text[found.start(1) :]}" if found else None


def without_examples(text: str) -> str:
    return _ROW_OF_DASHES.sub("", without_fences(text))


def no_decision(change: Callable[[str, str], str | None], text: str) -> str | None:
    """Change the sections that hold the decision, and take out the lines that say it elsewhere."""
    found = change(_DECISION, with_hashes(text))
    if found is None:
        return None
    lines = (
        line
        for line in found.splitlines(True)
        if line.startswith("#") or not re.search(_DECIDES, line, re.IGNORECASE)
    )
    return "".join(lines)


def no_status(left: str, text: str) -> str | None:
    """Take every status away; of lines with it, `left` is what stays."""
    found = cut("status", text)
    changed = _STATUS_LINE.sub(left, found or text)
    return changed if changed != text else None


def status_of_nothing(text: str) -> str | None:
    found = no_status("", text)
    return None if found is None or text.startswith("---") else f"---\nstatus:\n---\n\n{found}"


def no_day(new: str, text: str) -> str | None:
    changed = DAY.sub(new, text)
    return changed if changed != text else None


OPERATORS = (
    *operators(
        ("reference",),
        "a.completeness.entries",
        {
            "names as plain words": partial(without_code, ""),
            "names in bold": partial(without_code, "**"),
            "names in quotes": partial(without_code, '"'),
            "one sentence": a_sentence,
        },
    ),
    *operators(
        ("reference",),
        "a.completeness.filled",
        {
            "a heading at the end": partial(append, "## One more entry"),
            "a heading before another": entry_before,
            "an entry without its text": empty_entry,
        },
    ),
    *operators(
        ("reference",),
        "a.correctness.tables",
        {
            "a cell too many": partial(in_a_row, "more"),
            "a cell too few": partial(in_a_row, ""),
            "a row that is too short": partial(append, _SHORT),
            "a pipe in code": partial(append, _UNESCAPED),
            "too few dashes": partial(append, _FEW_DASHES),
        },
    ),
    *operators(
        ("reference",),
        "b.quality.unique",
        {
            "the last heading twice": repeat_heading,
            "an entry twice in a row": repeat_entry,
            "the first heading once more": repeat_first,
        },
    ),
    *operators(
        ("reference",),
        "b.completeness.cross-refs",
        {
            "a target that has moved": move_target,
            "a reference to no file": partial(append, "[More][m]\n\n[m]: there/is/no-such-file.md"),
        },
    ),
    *operators(
        ("reference",),
        "a.completeness.examples",
        {
            "no code block and no table": without_examples,
            "code blocks with nothing in them": lambda text: append(
                "```sh\n```", without_examples(text)
            ),
            "a table with its head alone": lambda text: append(
                "| name | means |\n|---|---|", without_examples(text)
            ),
        },
    ),
    *operators(
        ("adr",),
        "a.completeness.decision",
        {
            "no decision": partial(no_decision, cut),
            "a decision without text": partial(no_decision, empty),
            "a decision under notes": partial(no_decision, rename),
        },
    ),
    *(
        operator
        for rule, words in (
            ("a.completeness.context", _CONTEXT),
            ("a.completeness.consequences", _CONSEQUENCES),
        )
        for operator in operators(
            ("adr",),
            rule,
            {
                "no such section": partial(cut, words),
                "a section without text": partial(empty, words),
                "a title that does not say it": partial(rename, words),
            },
        )
    ),
    *operators(
        ("adr",),
        "a.completeness.status",
        {
            "no status": partial(no_status, ""),
            "a section without text": partial(empty, "status"),
            "a line without a word": partial(no_status, r"\1\n"),
            "nothing in the front matter": status_of_nothing,
        },
    ),
    *operators(
        ("adr",),
        "b.completeness.date",
        {
            "no day": partial(no_day, ""),
            "a season": partial(no_day, "spring 2020"),
            "a month that is none": partial(no_day, "2020-13-20"),
            "a year alone": partial(no_day, "2020"),
        },
    ),
)
