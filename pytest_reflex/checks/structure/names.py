"""`names`: files are named as they should be; values of one file or several as one list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import PurePath
from typing import Any

from pytest_reflex.checks.finding import MOST_FINDINGS, Finding, Report
from pytest_reflex.checks.options import FLAG, REQUIRED, TEXT, ParameterType
from pytest_reflex.checks.selection import ACROSS
from pytest_reflex.checks.structure.check import Judge, JudgeTogether, ParameterError, StructureKind
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.search.patterns import compile_pattern

LIST_KINDS: dict[str, ParameterType] = {
    "unique": FLAG.means("no value is there twice; `007` is `7`", "`false`"),
    "consecutive": FLAG.means("the values are whole numbers without a gap", "`false`"),
}
"""What may be asked of a list, with its meaning."""
_MOST_DIGITS = 1000
"""What has more of them is compared as a text: Python makes no number of some thousands."""


@dataclass(frozen=True, slots=True)
class Item:
    """One value and where it stands; `file` is the one of a folder, or empty.

    `spot` returns its exact place, which costs more than its line.
    """

    value: Any
    file: str = ""
    line: int = 0
    spot: Callable[[], Finding] | None = None

    @property
    def number(self) -> int | None:
        """The whole number that the value is, or is written as."""
        if isinstance(self.value, str):
            digits = self.value.isascii() and self.value.isdigit()
            return int(self.value) if digits and len(self.value) <= _MOST_DIGITS else None
        whole = isinstance(self.value, int) and not isinstance(self.value, bool)
        return self.value if whole else None

    @property
    def place(self) -> str:
        """Where the value stands, for a message about another one."""
        line = f"line {self.line}" if self.line else ""
        return f"{self.file}:{self.line}" if self.file and line else self.file or line

    def finding(self, message: str, *, exact: bool) -> Finding:
        found = self.spot() if self.spot and exact else Finding("", self.line)
        return replace(found, message=message, file=self.file)


def list_findings(items: Sequence[Item], params: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what is not as the parameters of LIST_KINDS ask for."""
    found = [_find_repeated(items)] if params.get("unique") else []
    found += [_gaps(items)] if params.get("consecutive") else []
    for number, (item, message) in enumerate(chain.from_iterable(found)):
        yield item.finding(message, exact=number < MOST_FINDINGS)


def _find_repeated(items: Sequence[Item]) -> Iterator[tuple[Item, str]]:
    first: dict[Any, Item] = {}
    for item in items:
        # true is not 1, and 1 is 01.
        known = first.setdefault(_key(item), item)
        if known is not item:
            yield item, f"{_quote(item)} is there twice, first in {known.place}"


def _gaps(items: Sequence[Item]) -> Iterator[tuple[Item, str]]:
    numbers = [(item.number, item) for item in items]
    for number, item in numbers:
        if number is None:
            yield item, f"{_quote(item)} is not a whole number"
    placed = {number: item for number, item in reversed(numbers) if number is not None}
    for before, after in pairwise(sorted(placed)):
        if after - before > 1:
            missing = f"{before + 1}" if after - before == 2 else f"{before + 1} to {after - 1}"
            where = f"between {_quote(placed[before])} in {placed[before].place} and "
            yield placed[after], f"{missing} is missing, {where}{_quote(placed[after])}"


def _key(item: Item) -> Any:
    number = item.number
    return ("number", number) if number is not None else (type(item.value).__name__, _text(item))


def _quote(item: Item) -> str:
    text = _text(item)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(item: Item) -> str:
    if isinstance(item.value, str):
        return item.value
    return json.dumps(item.value, ensure_ascii=False, default=str)


def _make(params: Mapping[str, Any]) -> Judge:
    for key in LIST_KINDS:
        if params.get(key):
            raise ParameterError(key, f"{key} is about several files: add across: true")
    together = _together(params)
    return lambda artifact, context: together(artifact, (artifact,), context)


def _together(params: Mapping[str, Any]) -> JudgeTogether:
    if "matches" not in params:
        raise ValueError("it needs matches, a pattern for each name")
    pattern = compile_pattern(params["matches"], key="matches")
    listed = any(params.get(key) for key in LIST_KINDS)
    value = r"\1" if re.compile(params["matches"]).groups else r"\g<0>"

    def judge(folder: Artifact, files: Sequence[Artifact], context: CheckContext) -> Report:
        items: list[Item] = []
        findings: list[Finding] = []
        for file in files:
            inside = file.name if folder.is_folder else ""
            name = PurePath(file.name).name
            found = pattern.expand(name, value, limit=1, seconds=context.pattern_seconds)
            if found and (found[0][2] or not listed):
                items.append(Item(found[0][2], inside))
            else:
                what = "the first group of the pattern is empty" if found else "pattern not found"
                finding = Finding(f"{name}: {what}", file=inside, pattern=pattern.source)
                findings.append(finding)
        findings += list_findings(items, params)
        return Report(findings, "called as it should be" if len(files) == 1 else "")

    return judge


KIND = StructureKind(
    key="names",
    make=_make,
    make_together=_together,
    together="the names of all files are one list, for `unique` and `consecutive`",
    forbids=lambda params: True,
    inside={
        "matches": TEXT.means(
            "this pattern is in every name; its first group, or all of it, is the value", REQUIRED
        ),
        **LIST_KINDS,
    },
    beside={"across": ACROSS},
)
