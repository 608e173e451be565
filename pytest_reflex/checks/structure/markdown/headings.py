"""`headings`: a Markdown text has the headings it should, in a sound order of levels."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any
from urllib.parse import urlsplit

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, FALSE, FLAG, TEXTS
from pytest_reflex.checks.structure.check import Judge, ParameterError, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.markdown.readme import (
    SHELLS,
    install_lines,
    pages_lines,
    usage_lines,
)
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.search.patterns import Pattern, compile_pattern

_BETWEEN_WORDS = re.compile(r"[/_.-]+")
_HEADING_LINE = re.compile(r" {0,3}#{1,6}(?:\s|$)")

Candidate = tuple[str, int]
"""(text on one line, line of the artifact): a title, or what counts as one."""

_STAND_FOR: dict[str, tuple[str, Callable[[model.Markdown], Iterator[int]]]] = {
    "used": ("a code block", usage_lines),
    "installed": ("how to install it", install_lines),
    "documented": ("a link to documentation", pages_lines),
}
"""What may stand in place of a heading: its key, what messages call it, and who finds it."""


@dataclass(frozen=True, slots=True)
class _Required:
    """One heading that has to be there: a title as it is `shown`, or a pattern between slashes."""

    shown: str
    title: str
    pattern: Pattern | None

    def first_in(self, candidates: Sequence[Candidate], context: CheckContext) -> Candidate | None:
        """Return the first candidate that it fits; case does not count."""
        if self.pattern is None:
            return next((c for c in candidates if _fold(c[0]) == self.title), None)
        text = "\n".join(words for words, _ in candidates)
        spans = self.pattern.spans(text, limit=1, seconds=context.pattern_seconds)
        return candidates[text.count("\n", 0, spans[0][0])] if spans and candidates else None

    def missing_finding(self, params: Mapping[str, Any]) -> Finding:
        """Return the finding that it is not there; a pattern is described by what is expected."""
        what = "missing or empty section" if params.get("filled") else "missing section"
        if self.pattern is None:
            return Finding(f"{what}: {self.shown}")
        expected = params.get("expected")
        message = f"{what}: {expected}" if expected else f"{what} (pattern not found)"
        return Finding(message, 1, pattern=self.pattern.source)


def _make(params: Mapping[str, Any]) -> Judge:
    written = params.get("required", ())
    required = [_read(entry) for entry in ([written] if isinstance(written, str) else written)]
    if params.get("order") and len(required) < 2:
        raise ParameterError("order", "order needs two or more headings under required")
    if params.get("front_matter") and not params.get("single_title"):
        raise ParameterError("front_matter", "front_matter needs single_title: true")
    for key in ("filled", "leads", "linked", *_STAND_FOR):
        if params.get(key) and not required:
            raise ParameterError(key, f"{key} needs headings under required")
    asked = any(params.get(key) for key in ("required", "min_count", *_FLAGS))
    if not asked and "empty" not in params:
        raise ValueError("it asks for nothing, so that it cannot fail")

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        document = model.of(artifact)
        visible = [h for h in document.headings if not h.nested] + document.html_headings
        visible.sort(key=lambda heading: heading.line)
        reports = [_check_required(required, document, params, context)] if required else []
        if params.get("single_title"):
            titled = params.get("front_matter", False) and _has_title(artifact)
            reports.append(Report(list(_titles(visible, titled=titled)), "one title"))
        if params.get("levels"):
            reports.append(Report(list(_find_skipped_levels(visible)), "no level is skipped"))
        if params.get("unique"):
            reports.append(Report(list(find_repeated(visible)), "no heading is there twice"))
        if params.get("empty") is False:
            reports.append(Report(list(_empty(document, visible)), "no heading is empty"))
        if least := params.get("min_count"):
            few = [Finding(f"{len(visible)} headings, at least {least} are wanted")]
            shown = f"{len(visible)} headings"
            reports.append(Report(few if len(visible) < least else [], shown))
        findings = [finding for report in reports for finding in report.findings]
        return Report(findings, "; ".join(report.summary for report in reports))

    return judge


def _read(entry: str) -> _Required:
    if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
        pattern = compile_pattern(entry[1:-1], ignore_case=True, key="required")
        return _Required("", "", pattern)
    title = entry.lstrip("#").strip() or entry
    return _Required(f"'{title}'", _fold(title), None)


def _fold(title: str) -> str:
    return " ".join(title.split()).casefold()


def _check_required(
    required: Sequence[_Required],
    document: model.Markdown,
    params: Mapping[str, Any],
    context: CheckContext,
) -> Report:
    candidates = _candidates(document, params)
    instead = _instead(document, params)
    empty = [(title, line) for title, line, _ in _sections(document)] if instead else []
    findings: list[Finding] = []
    last: tuple[int, str] = (0, "")
    there = []
    for wanted in required:
        found = wanted.first_in(candidates, context)
        if found is None and wanted.first_in(empty, context) is None:
            found = instead  # a section that is there and empty has to be filled
        if found is None:
            findings.append(wanted.missing_finding(params))
            continue
        shown = repr(one_line(found[0], 40))
        there.append(f"{shown} in line {found[1]}")
        if params.get("order") and found[1] < last[0]:
            message = f"the heading {shown} comes before {last[1]}"
            findings.append(Finding(message, found[1]))
        last = max(last, (found[1], shown))
    return Report(findings, ", ".join(there))


def _instead(document: model.Markdown, params: Mapping[str, Any]) -> Candidate | None:
    """Return what stands for each heading that is not there, if there is such a thing."""
    for key, (what, lines) in _STAND_FOR.items():
        if params.get(key) and (line := next(lines(document), 0)):
            return what, line
    return None


def _candidates(document: model.Markdown, params: Mapping[str, Any]) -> list[Candidate]:
    found = [
        (title, line)
        for title, line, body in (*_sections(document), *_html_sections(document))
        if not params.get("filled") or _has_text(body)
    ]
    if params.get("leads"):
        found += _leads(document)
    if params.get("linked"):
        found += _link_candidates(document)
    return sorted(((" ".join(text.split()), line) for text, line in found), key=lambda c: c[1])


def _sections(document: model.Markdown) -> Iterator[tuple[str, int, str]]:
    for section in document.sections:
        yield section.title, section.line, document.text[section.start : section.end]


def _html_sections(document: model.Markdown) -> Iterator[tuple[str, int, str]]:
    """Yield the headings that are raw HTML, each with what stands below it up to the next one."""
    lines = document.text.split("\n")
    ends = sorted(h.line for h in (*document.headings, *document.html_headings))
    for heading in document.html_headings:
        end = next((line for line in ends if line > heading.line), len(lines) + 1)
        yield heading.anchor_text.strip(), heading.line, "\n".join(lines[heading.line : end - 1])


def _has_text(body: str) -> bool:
    shown = model.without_comments(body)
    return any(line.strip() and not _HEADING_LINE.match(line) for line in shown.split("\n"))


def _leads(document: model.Markdown) -> Iterator[Candidate]:
    """Yield the paragraph before each fenced block, and the block if it is for a shell."""
    paragraphs = document.paragraphs
    starts = [paragraph.line for paragraph in paragraphs]
    for block in document.blocks:
        before = bisect_left(starts, block.line)
        if before:
            yield paragraphs[before - 1].text, paragraphs[before - 1].line
        if block.language in SHELLS:
            yield block.text, block.line


def _link_candidates(document: model.Markdown) -> Iterator[Candidate]:
    """Yield the words of each link that leads out of the document, and those of its path."""
    for link in document.links:
        if not link.image and link.target and link.target[0] != "#":
            path = urlsplit(link.target).path if "://" in link.target else link.target
            yield f"{link.text} | {_BETWEEN_WORDS.sub(' ', path)}", link.line


def _has_title(artifact: Artifact) -> bool:
    """Return whether the front matter has a title that says something."""
    from pytest_reflex.checks.structure.data.source import FRONT_MATTER, data_in

    documents = data_in(artifact, FRONT_MATTER).documents
    tables = [one.value for one in documents if isinstance(one.value, dict)]
    titles = [table.get("title") for table in tables]
    return any(isinstance(title, str) and title.strip() for title in titles)


def _titles(found: Sequence[model.MarkdownHeading], *, titled: bool) -> Iterator[Finding]:
    titles = [heading for heading in found if heading.level == 1]
    if not titles and not titled:
        yield Finding("there is no title: no heading of level 1", found[0].line if found else 1)
    for extra in titles[1:]:
        yield Finding(
            f"a second title {extra.title!r}, the first is in line {titles[0].line}", extra.line
        )


def _find_skipped_levels(found: Sequence[model.MarkdownHeading]) -> Iterator[Finding]:
    for above, heading in pairwise(found):
        if heading.level > above.level + 1:
            yield Finding(
                f"the heading {heading.title!r} of level {heading.level} "
                f"follows one of level {above.level}",
                heading.line,
            )


def find_repeated(found: Sequence[model.MarkdownHeading | model.Section]) -> Iterator[Finding]:
    """Find a heading that says the same as another one beside it; raw HTML has no title here."""
    above: list[tuple[int, dict[str, int]]] = [(0, {})]
    for heading in found:
        while above[-1][0] >= heading.level:
            above.pop()
        beside, title = above[-1][1], " ".join(heading.title.split())
        if title and title in beside:
            message = f"a second heading {one_line(heading.title, 60)!r}, "
            yield Finding(f"{message}the first is in line {beside[title]}", heading.line)
        beside.setdefault(title, heading.line)
        above.append((heading.level, {}))


def _empty(document: model.Markdown, found: Sequence[model.MarkdownHeading]) -> Iterator[Finding]:
    """Find a heading under which there is neither a text nor a deeper heading."""
    lines = document.text.split("\n")
    for heading, below in zip_longest(found, found[1:]):
        rest = lines[heading.line + heading.setext : below.line - 1 if below else None]
        if (below is None or below.level <= heading.level) and not any(map(str.strip, rest)):
            title = one_line(heading.title, 60)
            yield Finding(f"there is nothing under the heading {title!r}", heading.line)


_FLAGS = ("single_title", "levels", "unique")

KIND = StructureKind(
    key="headings",
    make=_make,
    forbids=lambda params: "empty" in params or any(params.get(key) for key in _FLAGS),
    inside={
        "required": TEXTS.means(
            "these headings are there: a title, or a pattern between slashes; case does not count"
        ),
        "order": FLAG.means("those that are required come in this order", "`false`"),
        "filled": FLAG.means("there is text under those that are required", "`false`"),
        "leads": FLAG.means(
            "the paragraph before a fenced block counts too, and so do the lines of a shell block",
            "`false`",
        ),
        "linked": FLAG.means(
            "a link to another page counts too, by its words and its path", "`false`"
        ),
        "used": FLAG.means(
            "a code block that is neither an installation nor for contributors counts for each of "
            "them",
            "`false`",
        ),
        "installed": FLAG.means(
            "a command that installs, a dependency that is declared, or a sentence about it counts "
            "for each of them",
            "`false`",
        ),
        "documented": FLAG.means(
            "a link to documentation or a website, by its words or target, counts for each of them",
            "`false`",
        ),
        "single_title": FLAG.means("there is exactly one heading of level 1", "`false`"),
        "front_matter": FLAG.means(
            "with `single_title`: a `title` in the front matter counts where there is no heading "
            "of level 1",
            "`false`",
        ),
        "levels": FLAG.means(
            "no heading is more than one level below the one before it", "`false`"
        ),
        "unique": FLAG.means(
            "no two headings under the same heading say the same; case counts", "`false`"
        ),
        "empty": FALSE.means("`false`: there is text or a deeper heading under each of them"),
        "min_count": COUNT.means("there are at least so many headings", "0"),
    },
)
