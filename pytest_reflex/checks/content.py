"""Checks of type `content`: a text or pattern that must, or must not, be in the artifact."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pytest_reflex.checks.finding import MOST_FINDINGS, Finding, locate_findings, unread
from pytest_reflex.checks.options import FLAG, REQUIRED, TEXT, problems_of, settle, whole_number
from pytest_reflex.checks.regions import MissingPart, Region, lines_at, parts_of
from pytest_reflex.checks.selection import ACROSS, FILE_KINDS, as_one, file_globs, for_each_file
from pytest_reflex.errors import ArtifactError, CriteriaError, Place, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext, CompiledCheck, TextSearch, plainly
from pytest_reflex.search.patterns import (
    Pattern,
    SearchError,
    Spans,
    compile_pattern,
    compile_text,
    pattern_problems,
)

MOST = 1_000_000
MATCHES = whole_number(0, MOST)
KINDS = {
    "search": TEXT.means("a pattern of Python's `re`; `^` and `$` match at every line", REQUIRED),
    "literal": FLAG.means(
        "take `search` as it stands; one newline at its end is dropped", "`false`"
    ),
    "ignore_case": FLAG.means("case does not count", "`false`"),
    "negate": FLAG.means("it must not be there", "`false`"),
    "min_count": MATCHES.means("how often it has to be there", "1"),
    "max_count": MATCHES.means("how often it may be there", "any number"),
    "section": TEXT.means(
        "look only under this Markdown heading; `## Usage` asks for the level too", "all of it"
    ),
    "block": TEXT.means(
        "look only in fenced blocks of this language, or with `front-matter` in that", "all of it"
    ),
    "raw": FLAG.means(
        "keep the byte-order mark and line ends, which are else dropped and made `\\n`", "`false`"
    ),
    "across": ACROSS,
    **FILE_KINDS,
}
TOGETHER = "what is counted are the matches in all files"

# Counting goes a little beyond what decides, so that the message can give the true number.
_COUNTED_BEYOND = 1000


class ContentCheck:
    """Search the text of the artifact; see SPEC section 2 for the parameters."""

    name = "content"
    parameters = KINDS

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield from problems_of(spec, KINDS)
        if {"min_count", "max_count", "across", "block"} & spec.params.keys():
            yield from _contradictions(spec, spec.params)
        if not spec.params.get("literal"):
            search = spec.params.get("search")
            yield from pattern_problems(search, key="search", place=spec.place)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        params = resolve_params(spec, variables)
        pattern, wanted = pattern_of(spec, params), _search_text(params)
        search = _Search(
            pattern=pattern,
            shown=f"'{one_line(wanted, 80)}'" if params["literal"] else "pattern",
            source="" if params["literal"] else wanted,
            least=params.get("min_count", 1),
            most=0 if params["negate"] else params.get("max_count"),
            section=params.get("section", ""),
            block=params.get("block", ""),
            raw=params["raw"],
        )
        patterns = file_globs(params)
        each, negative = params["each"], search.most is not None

        def run(artifact: Artifact, context: CheckContext) -> CheckResult:
            if params["across"]:
                together = partial(search.together, artifact, context=context)
                return as_one(artifact, patterns, together)
            judge = partial(search.judge, context=context)
            return for_each_file(artifact, patterns, judge, each=each, negative=negative)

        return CompiledCheck(
            spec,
            run,
            describe=lambda: _describe(spec.params),
            is_pattern=not params["literal"],
            preview=lambda rule, judge: _preview(params, pattern),
            search=_text_search(params, pattern),
            forbids=negative,
        )


def resolve_params(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that count, defaults included; raises CriteriaError."""
    params = settle(spec, KINDS, variables)
    if found := list(_contradictions(spec, params)):
        raise CriteriaError(found)
    counted = {} if params.get("negate") else {"min_count": 0 if "max_count" in params else 1}
    flags = dict.fromkeys(("literal", "negate", "ignore_case", "raw", "each", "across"), False)
    return {**flags, **counted, **params}


def _text_search(params: Mapping[str, Any], pattern: Pattern) -> TextSearch:
    return TextSearch(
        source=params["search"],
        literal=params["literal"],
        ignore_case=params["ignore_case"],
        raw=params["raw"],
        least=params.get("min_count", 1),
        most=0 if params["negate"] else params.get("max_count"),
        spans=pattern.spans,
    )


def _preview(params: Mapping[str, Any], pattern: Pattern) -> dict[str, Any]:
    from pytest_reflex.checks.preview import describe_search, without

    return {**describe_search(pattern), "options": without(params, ("search",))}


def _describe(params: Mapping[str, Any]) -> str:
    wanted = f"/{params.get('search')}/"
    if params.get("literal"):
        wanted = f"the text {params.get('search')!r}"
    where = "the artifact"
    if params.get("block"):
        where = f"the fenced blocks of {plainly(params['block'])}"
    if params.get("section"):
        where += f" under the heading {plainly(params['section'])}"
    if params.get("files"):
        which = "every file of" if params.get("each") else "one of the files"
        where += f" ({which} {plainly(params['files'])})"
    if params.get("across"):
        where += ", all files taken together"
    notes = [
        words
        for key, words in (("ignore_case", "whatever its case"), ("raw", "line ends as they are"))
        if params.get(key)
    ]
    return ", ".join([f"{wanted} is {_how_often(params)} in {where}", *notes])


def _how_often(params: Mapping[str, Any]) -> str:
    least, most = params.get("min_count"), params.get("max_count")
    if params.get("negate") is True or most == 0:
        return "nowhere"
    if least is None:
        return "somewhere" if most is None else f"at most {_times(most)}"
    return f"at least {_times(least)}" + ("" if most is None else f" and at most {_times(most)}")


def _times(count: Any) -> str:
    return "once" if count == 1 else f"{plainly(count)} times"


_Owners = Mapping[int, str]
_Hits = list[tuple[Region, Spans]]
"""The file of a folder in which a part is, by the part's id; empty where all are one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What is looked for; `source` is the pattern, empty for a text, which `shown` quotes."""

    pattern: Pattern
    shown: str
    source: str
    least: int
    most: int | None
    section: str
    block: str
    raw: bool

    def judge(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        return self.together(artifact, (artifact,), context)

    def together(
        self, folder: Artifact, files: Sequence[Artifact], context: CheckContext
    ) -> CheckResult:
        """Judge the matches in all the files, which are one or lie in the folder."""
        parts: list[Region] = []
        owners: dict[int, str] = {}
        absent, at = "", folder
        try:
            for at in files:
                try:
                    text = at.raw_text if self.raw else at.text
                    own = parts_of(text, self.section, self.block)
                except MissingPart as missing:
                    absent = str(missing)
                    continue
                parts += own
                owners |= {id(part): at.name for part in own}
            found = list(self._hits(parts, context.pattern_seconds))
        except (ArtifactError, SearchError) as error:
            return unread(error, at)
        if not parts:
            # Nothing can be said to be absent from a place that is not there.
            outcome = Outcome.FAIL if self.most is None else Outcome.ERROR
            return CheckResult(outcome=outcome, message=absent)
        return self._verdict(folder, parts, found, {} if files == (folder,) else owners)

    @property
    def _limit(self) -> int:
        """How many matches are looked for: one where their number does not matter."""
        if self.least == 1 and self.most is None:
            return 1
        return max(self.least, (self.most or 0) + 1) + _COUNTED_BEYOND

    def _hits(self, parts: list[Region], seconds: float) -> Iterator[tuple[Region, Spans]]:
        left = self._limit
        deadline = time.monotonic() + seconds
        for part in parts:
            remaining = max(deadline - time.monotonic(), 0.01)
            spans = self.pattern.spans(part.text, limit=left, seconds=remaining)
            if spans:
                yield part, spans
            left -= len(spans)
            if left <= 0:
                return

    def _verdict(
        self, folder: Artifact, parts: list[Region], found: _Hits, owners: _Owners
    ) -> CheckResult:
        count = sum(len(spans) for _, spans in found)
        passed = self.least <= count or self.most == 0
        passed = passed and (self.most is None or count <= self.most)
        outcome = Outcome.PASS if passed else Outcome.FAIL
        if not found:
            return CheckResult(
                outcome=outcome,
                message=f"{self.shown} not found{self._where()}",
                pattern=self.source,
                evidence="" if passed else self._near_miss(parts),
            )
        part, spans = found[0]
        line, column = part.position(spans[0][0])
        name = owners.get(id(part), "")
        text = self._count_text(count, line) + ("" if passed else self._limit_text())
        result = CheckResult(
            outcome=outcome,
            message=f"{name}: {text}" if name else text,
            pattern=self.source,
            evidence=lines_at(part, [start for start, _ in spans]),
            location=Place(f"{folder.name}/{name}" if name else folder.name, line, column),
        )
        too_many = not passed and self.most is not None and count > self.most
        return replace(result, **self._each(folder, found, owners)) if too_many else result

    def _each(self, folder: Artifact, found: _Hits, owners: _Owners) -> dict[str, Any]:
        """Return a finding for each match that is one too many, as parts of a result."""
        hits = [(part, start) for part, spans in found for start, _ in spans][self.most :]
        message, pattern = f"{self.shown} found{self._limit_text()}", self.source
        findings = [
            Finding(message, *part.position(start), "", owners.get(id(part), ""), pattern)
            for part, start in hits[:MOST_FINDINGS]
        ]
        return locate_findings(findings, folder) | {"more_findings": len(hits) - len(findings)}

    def _count_text(self, count: int, line: int) -> str:
        if count == 1:
            return f"{self.shown} found at line {line}"
        least = "at least " if count >= self._limit else ""
        return f"{self.shown} found {least}{count} times, first at line {line}"

    def _limit_text(self) -> str:
        if self.most == 0:
            return "; it must not be there"
        if self.most is None:
            return f"; at least {self.least} are wanted"
        if self.least == 0:
            return f"; at most {self.most} are wanted"
        return f"; {self.least} to {self.most} are wanted"

    def _where(self) -> str:
        where = f" in section '{one_line(self.section, 60)}'" if self.section else ""
        return where + (f" in blocks of {one_line(self.block, 60)}" if self.block else "")

    def _near_miss(self, parts: list[Region]) -> str:
        """Return the first line that would match if case did not count, for plain texts."""
        wanted = self.pattern.plain
        if not wanted:
            return ""
        relaxed = compile_text(wanted, ignore_case=True)
        for part in parts:
            if len(part.text) > MOST:
                continue
            try:
                spans = relaxed.spans(part.text, limit=1, seconds=0.1)
            except SearchError:  # a hint is not worth more time
                continue
            if spans:
                return "nearest: " + lines_at(part, [spans[0][0]])
        return ""


def _contradictions(spec: CheckSpec, params: Mapping[str, Any]) -> Iterator[Problem]:
    least, most = params.get("min_count"), params.get("max_count")
    if params.get("negate") is True and (least is not None or most is not None):
        yield Problem(
            message="negate cannot be combined with min_count and max_count",
            place=spec.place,
            path=("negate",),
            hint="negate means that it is not there at all",
        )
    if isinstance(least, int) and isinstance(most, int) and least > most:
        message = f"min_count is {least}, more than max_count, which is {most}"
        yield Problem(message=message, place=spec.place, path=("min_count",))
    if params.get("block") == "front-matter" and "section" in params:
        message = "section cannot be combined with block: front-matter, which has no sections"
        yield Problem(message=message, place=spec.place, path=("section",))
    if params.get("across") is True and params.get("each") is True:
        message = "each cannot be combined with across: true"
        yield Problem(message=message, place=spec.place, path=("each",))
    if least == 0 and most is None:
        message = "min_count 0 holds for every text, so that the check cannot fail"
        yield Problem(message=message, place=spec.place, path=("min_count",))


def _search_text(params: Mapping[str, Any]) -> str:
    search: str = params["search"]
    # A YAML block scalar ends with a newline that is not part of the searched text.
    return search.removesuffix("\n") or search if params.get("literal") else search


def pattern_of(spec: CheckSpec, params: Mapping[str, Any]) -> Pattern:
    """Return what a check with settled parameters looks for; raises CriteriaError."""
    wanted, ignore_case = _search_text(params), params.get("ignore_case", False)
    if not params.get("literal"):
        return compile_pattern(wanted, ignore_case=ignore_case, place=spec.place)
    if not params.get("raw"):
        wanted = wanted.replace("\r\n", "\n").replace("\r", "\n")
    return compile_text(wanted, ignore_case=ignore_case)
