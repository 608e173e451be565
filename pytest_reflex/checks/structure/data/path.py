"""`path`: a value in JSON, YAML or TOML is there, and is what it should be."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from pytest_reflex.checks.finding import MOST_FINDINGS, Finding, Report
from pytest_reflex.checks.options import (
    COUNT,
    FLAG,
    REQUIRED,
    TEXT,
    ParameterType,
    nearest_of,
    word_of,
)
from pytest_reflex.checks.selection import ACROSS
from pytest_reflex.checks.structure.check import Judge, JudgeTogether, ParameterError, StructureKind
from pytest_reflex.checks.structure.data.source import (
    FRONT_MATTER,
    data_in,
    finding_at,
    nothing_found,
)
from pytest_reflex.checks.structure.names import LIST_KINDS, Item, list_findings
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import as_text
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.search.patterns import Pattern, compile_pattern
from pytest_reflex.text import paths
from pytest_reflex.text.data import Data

TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_LANGUAGES = ("json", "yaml", "toml", FRONT_MATTER)
LANGUAGE = ParameterType(
    "json, yaml, toml or front-matter",
    lambda value: value in _LANGUAGES,
    schema={"enum": list(_LANGUAGES)},
).means("look in fenced blocks of this language, or in the front matter", "by the file's ending")
_OTHER_WORDS = {
    **dict.fromkeys(("object", "dict", "mapping", "table"), "map"),
    **dict.fromkeys(("array", "sequence", "tuple"), "list"),
    **dict.fromkeys(("float", "decimal"), "number"),
    **dict.fromkeys(("str", "text"), "string"),
}
"""What other languages call the types."""


def _suggest_type(value: Any) -> str:
    other = _OTHER_WORDS.get(value) if isinstance(value, str) else None
    return f"did you mean {other}?" if other else nearest_of(TYPES)(value)


TYPE = word_of(TYPES, instead=_suggest_type)
ANYTHING = ParameterType("any value", lambda value: True)
MAX_VALUES = 100_000


@dataclass(frozen=True, slots=True)
class _PathConditions:
    """What is asked of the values at a path; a predicate that is not asked for is None."""

    path: str
    steps: paths.Path
    language: str | None
    exists: bool
    least: int
    every: bool
    some: bool
    type: str | None
    pattern: Pattern | None
    equals: tuple[Any, ...]
    list_params: Mapping[str, Any]

    def judge(self, artifact: Artifact, context: CheckContext) -> Report:
        source = data_in(artifact, self.language)
        absent_is_fine = self.language == FRONT_MATTER and not self.exists
        if absent_is_fine and not (source.documents or source.faults):
            return Report((), nothing_found(self.language).message)
        if not source.documents or (not self.exists and source.faults):
            return source.nothing(self.language)
        reports = [self._in(document, artifact.text, context) for document in source.documents]
        if not self.exists:
            return next((r for r in reports if r.findings), reports[0])
        return next((r for r in reports if not r.findings), reports[0])

    def together(
        self, folder: Artifact, files: Sequence[Artifact], context: CheckContext
    ) -> Report:
        """Judge the values in all files as one list."""
        values: list[Item] = []
        findings: list[Finding] = []
        fitting = 0
        for file in files:
            name = file.name if folder.is_folder else ""
            source = data_in(file, self.language)
            faults = list(source.faults)
            found = [(document, f) for document in source.documents for f in self._find(document)]
            if not self.exists:
                faults += self._forbidden(found, file.text)
            elif self.every and not found:
                few = [self._too_few(one, file.text, 0) for one in source.documents[:1]]
                faults += few or ([] if faults else [nothing_found(self.language)])
            elif self.every:
                faults += [gap for one in source.documents for gap in self._gaps(one, file.text)]
            for document, f in found if self.exists else ():
                values.append(_item(f, document, file.text, name))
                if fault := self._mismatch(f, context):
                    faults.append(self._at(document, fault, f.path, file.text, len(faults)))
                else:
                    fitting += 1
            findings += [replace(fault, file=name) for fault in faults]
            self._check_count(len(values))
        findings = [] if self.some and fitting >= self.least else findings
        if self.exists and len(values) < self.least and not findings:
            findings.append(Finding(self._few(len(values))))
        findings += list_findings(values, self.list_params)
        return Report(findings, f"{self.path} leads to {len(values)} values")

    def _find(self, document: Data) -> list[paths.PathMatch]:
        return list(islice(paths.find(document.value, self.steps), MAX_VALUES + 1))

    def _forbidden(
        self, found: Sequence[tuple[Data, paths.PathMatch]], whole: str
    ) -> list[Finding]:
        return [
            finding_at(document, f"{_where(f)} must not be there", f.path, whole=whole)
            for document, f in found[: MOST_FINDINGS + 1]
        ]

    def _at(
        self, document: Data, fault: Finding, path: paths.Path, whole: str, number: int
    ) -> Finding:
        """Return a finding, with its place where it is one of the first."""
        if number >= MOST_FINDINGS:
            return fault
        placed = finding_at(document, fault.message, path, whole=whole)
        return replace(placed, pattern=fault.pattern)

    def _check_count(self, count: int) -> None:
        if count > MAX_VALUES:
            raise ArtifactError(
                f"{self.path or 'the document'} leads to more than {MAX_VALUES:,} values: "
                "too many to look at each",
                hint="ask for a part of them, or use json_schema",
            )

    def _in(self, document: Data, whole: str, context: CheckContext) -> Report:
        found = self._find(document)
        shown = self.path or "the document"
        if not self.exists:
            forbidden = self._forbidden([(document, f) for f in found], whole)
            return Report(forbidden, f"{shown} is not there")
        if len(found) < self.least:
            return Report([self._too_few(document, whole, len(found))])
        wrong: list[Finding] = list(self._gaps(document, whole)) if self.every else []
        fitting = 0
        for f in found[:MAX_VALUES]:
            if fault := self._mismatch(f, context):
                wrong.append(self._at(document, fault, f.path, whole, len(wrong)))
            else:
                fitting += 1
        if self.some and fitting >= self.least:
            return Report((), f"{fitting} of {len(found)} values at {shown} are as wanted")
        if not wrong:
            self._check_count(len(found))
        wrong.sort(key=lambda finding: finding.line or sys.maxsize)
        if any(self.list_params.values()):
            values = [_item(f, document, whole) for f in found]
            wrong += list_findings(values, self.list_params)
        return Report(wrong, self._summary(found))

    def _too_few(self, document: Data, whole: str, count: int) -> Finding:
        is_one = not any(isinstance(step, paths.Wildcard) for step in self.steps)
        return finding_at(document, self._few(count), self.steps, whole=whole, given=is_one)

    def _few(self, count: int) -> str:
        if count or self.least > 1:
            return f"{self.path} leads to {count} values, at least {self.least} are wanted"
        return f"{self.path or 'the document'} is not there"

    def _gaps(self, document: Data, whole: str) -> Iterator[Finding]:
        """Yield what `*` stands for and has no value where the path leads on."""
        for path in islice(paths.gaps(document.value, self.steps), MOST_FINDINGS):
            message = f"{paths.render(path)} is not there"
            yield finding_at(document, message, path, whole=whole)

    def _mismatch(self, found: paths.PathMatch, context: CheckContext) -> Finding | None:
        is_so = f"{_where(found)} is {_format_value(found.value)}"
        if self.type and not TYPES[self.type](found.value):
            return Finding(f"{is_so}, not of type {self.type}")
        if self.equals and not same(found.value, self.equals[0]):
            return Finding(f"{is_so}, not {_format_value(self.equals[0])}")
        if self.pattern:
            spans = self.pattern.spans(
                as_text(found.value), limit=1, seconds=context.pattern_seconds
            )
            if not spans:
                return Finding(f"{is_so}: pattern not found", pattern=self.pattern.source)
        return None

    def _summary(self, found: Sequence[paths.PathMatch]) -> str:
        if len(found) == 1:
            return f"{_where(found[0])} is {_format_value(found[0].value)}"
        return f"{self.path} leads to {len(found)} values"


def _make(params: Mapping[str, Any]) -> Judge:
    return _parse_conditions(params).judge


def _together(params: Mapping[str, Any]) -> JudgeTogether:
    return _parse_conditions(params).together


def _parse_conditions(params: Mapping[str, Any]) -> _PathConditions:
    try:
        steps = paths.parse(params["path"])
    except paths.PathSyntaxError as error:
        raise ValueError(str(error)) from None
    if steps and steps[0] == "$" and params["path"][0] == "$":
        raise ValueError('a path starts in the document: leave out $; a key of that name is "$"')
    exists = params.get("exists", True)
    others = ("equals", "matches", "value_type", "min_count", "some", *LIST_KINDS)
    asked = [key for key in others if key in params]
    if not exists and asked:
        raise ParameterError("exists", f"exists: false cannot be combined with {asked[0]}")
    if params.get("min_count") == 0:
        raise ParameterError(
            "min_count", "min_count 0 holds always; to forbid a value write exists: false"
        )
    matches = params.get("matches")
    return _PathConditions(
        path=params["path"],
        steps=steps,
        language=params.get("block"),
        exists=exists,
        least=params.get("min_count", 1),
        every="min_count" not in params and not params.get("some"),
        some=params.get("some", False),
        type=params.get("value_type"),
        pattern=compile_pattern(matches, key="matches") if matches is not None else None,
        equals=(params["equals"],) if "equals" in params else (),
        list_params={key: params.get(key, False) for key in LIST_KINDS},
    )


def same(found: Any, wanted: Any) -> bool:
    """Return whether two values are equal and no boolean passes for a number."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, list) and isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(found, dict) and isinstance(wanted, Mapping):
        return found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in found)
    return bool(found == wanted)


def _item(found: paths.PathMatch, document: Data, whole: str, file: str = "") -> Item:
    spot = partial(finding_at, document, "", found.path, whole=whole)
    return Item(found.value, file, document.line(found.path), spot)


def _where(found: paths.PathMatch) -> str:
    return paths.render(found.path) or "the document"


def _format_value(value: Any) -> str:
    if isinstance(value, dict | list):
        kind = "a map" if isinstance(value, dict) else "a list"
        return f"{kind} of {len(value)}"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


KIND = StructureKind(
    key="path",
    make=_make,
    forbids=lambda params: params.get("exists") is False,
    value=ParameterType(
        "a path such as info.title or /info/title",
        lambda value: isinstance(value, str),
        schema={"type": "string"},
    ).means("where the value is; the empty path is the whole document", REQUIRED),
    beside={
        "some": FLAG.means(
            "with `true`: one value has to be as wanted, not every one that `*` stands for",
            "`false`",
        ),
        "equals": ANYTHING.means('every value is this one; `true` is not `1`, `"1"` is not `1`'),
        "matches": TEXT.means(
            "this pattern is in every value; one that is not text is written as JSON first"
        ),
        "exists": FLAG.means("with `false`: there is no value", "`true`"),
        # `type` is the type of the check itself.
        "value_type": TYPE.means("every value is of this type"),
        "min_count": COUNT.means(
            "there are at least so many values, of all that `*` stands for", "1"
        ),
        **LIST_KINDS,
        "across": ACROSS,
        "block": LANGUAGE,
    },
    together="the values of all files are one list, and each file has one; with `min_count` or "
    "`some` it is enough that there are so many in all",
    make_together=_together,
)
