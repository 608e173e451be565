"""SHAPE.md: criteria, what must not happen, and how each criterion is verified.

Two forms are read: a fenced block of YAML with the keys `criteria`, `mustNot` and `verification`,
or lists under headings or labels of these names. Everything that is wrong is reported at once, each
with its line and column in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.criteria.diagnostics import Diagnostics, Items, Spot, Table, in_order
from pytest_reflex.criteria.document import display_path, parse_document, read_bytes
from pytest_reflex.criteria.fields import (
    kind_of,
    list_at,
    nonempty_text_at,
    refuse_unknown_keys,
    text_at,
)
from pytest_reflex.drivers.goal.claims import parse_comparison
from pytest_reflex.drivers.goal.model import Criterion, MustNot, Verification, VerificationPlan
from pytest_reflex.drivers.goal.spec import plan_of
from pytest_reflex.errors import CriteriaError, UsageError, did_you_mean
from pytest_reflex.text.outline import outline

LONGEST = 100_000
"""Bytes, as those of a spec."""
KEYS = ("criteria", "mustNot", "verification")
ITEM_KEYS = ("text", "command", "compare", "check", "artifact", "rule", "verification")
MUST_NOT_KEYS = ("text", "command", "check", "artifact", "rule")

_NAMES = {key.lower(): key for key in KEYS} | {
    "must not": "mustNot",
    "must-not": "mustNot",
    "must_not": "mustNot",
    "success criteria": "criteria",
}
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<name>[^:\n]{1,40}?)[ \t#:*_]*\Z")
_LABEL = re.compile(r"[*_]{0,2}(?P<name>[A-Za-z][A-Za-z _-]{1,30})[*_]{0,2}:[*_]{0,2}[ \t]*\Z")
_ITEM = re.compile(r"(?P<mark>[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)(?P<text>.*)")
_FENCES = ("yaml", "yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFile:
    """What a SHAPE.md asks for."""

    criteria: tuple[Criterion, ...] = ()
    must_not: tuple[MustNot, ...] = ()


def read_shape(path: Path) -> ShapeFile:
    """Return what a SHAPE.md asks for; raises CriteriaError with all that is wrong with it."""
    name = display_path(path)
    return parse_shape(read_bytes(path, name), name)


def parse_shape(data: bytes, name: str) -> ShapeFile:
    """Return what the bytes of a SHAPE.md ask for; `name` is how messages name the file."""
    if len(data) > LONGEST:
        message = f"the file is too long: {len(data):,} bytes, the limit is {LONGEST:,}"
        Diagnostics(name).stop(message, (1, 1), hint="name criteria of your own by --criteria")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        Diagnostics(name).stop("the file is not UTF-8 text", (line, 1), hint="save it as UTF-8")
    table, faults = _table(text, name)
    found = _ShapeReader(faults).shape(table)
    if not faults.found and not found.criteria and not found.must_not:
        faults.add("the file has no criteria", (1, 1), hint="list them under `criteria:`")
    if faults.found:
        raise CriteriaError(in_order(faults.found))
    return found


def _table(text: str, name: str) -> tuple[Table, Diagnostics]:
    """Return the keys of the file, from its block of YAML or else from its lists."""
    for fence in outline(text).fences:
        if fence.language not in _FENCES or fence.nested:
            continue
        # Blank lines in front: places are those of the whole file.
        lines = text.split("\n")[fence.first : fence.last]
        padded = "\n" * fence.first + "\n".join(lines) + "\n"
        if any(re.match(rf"[\"']?(?:{'|'.join(KEYS)})[\"']?\s*:", line) for line in lines):
            return parse_document(padded.encode(), name, "`criteria`")
    return _lists(text), Diagnostics(name, text)


def _lists(text: str) -> Table:
    """Return lists under headings or labels as the mapping that YAML would have given."""
    table = Table((1, 1))
    for key, spot, item in _find_items(text):
        if key not in table:
            table[key] = Items(spot)
            table.spots.append((*spot, *spot))
        table[key].append(item)
        table[key].spots.append(spot)
    if "verification" in table:
        table["verification"] = _pairs(table["verification"])
    return table


def _find_items(text: str) -> Iterator[tuple[str, Spot, str]]:
    """Yield the key, place and text of each item under a heading or label that is known."""
    key, fenced = "", False
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced or not bare:
            continue
        elif head := _HEADING.match(bare) or _LABEL.match(bare):
            key = _NAMES.get(head["name"].strip("*_ ").lower(), "")
        elif key and (item := _ITEM.match(line)):
            yield key, (number, len(item["mark"]) + 1), item["text"].strip()


def _pairs(items: Items) -> Table:
    """Return items such as ``tests pass: execution output`` as a mapping."""
    table = Table(items.spot)
    for index, item in enumerate(items):
        # The kind of evidence stands last: the text of a criterion may hold colons.
        text, _, kind = re.sub(r"\s*(?:→|->|=>)\s*", ": ", item).rpartition(":")
        key = _unquote(text) or _unquote(kind)
        table[key] = _unquote(kind) if text else None
        table.spots.append((*items.at(index), *items.at(index)))
    return table


def _unquote(text: str) -> str:
    bare = text.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" else bare


class _ShapeReader:
    """One file that is being read; what is wrong goes to `faults`."""

    def __init__(self, faults: Diagnostics) -> None:
        self._faults = faults

    def shape(self, table: Table) -> ShapeFile:
        refuse_unknown_keys(table, KEYS, self._faults, what="SHAPE.md")
        criteria: dict[str, Criterion] = {}
        for one, spot in self._criteria(table):
            if one.text in criteria:
                self._faults.add(f"the criterion {one.text!r} is there twice", spot)
            criteria[one.text] = one
        for text, kind in self._verification(table, criteria):
            plan = replace(criteria[text].plan, required=kind)
            criteria[text] = replace(criteria[text], plan=plan)
        must_not = tuple(self._must_not(table))
        return ShapeFile(criteria=tuple(criteria.values()), must_not=must_not)

    def _criteria(self, table: Table) -> Iterator[tuple[Criterion, Spot]]:
        items = list_at(table, "criteria", self._faults)
        for index, item in enumerate(items):
            spot = items.at(index)
            if isinstance(item, Table):
                refuse_unknown_keys(item, ITEM_KEYS, self._faults, what="a criterion")
                text = nonempty_text_at(item, "text", self._faults)
                plan = self._plan(item, plan_of(text))
                if "verification" in item:
                    plan = replace(plan, required=self._kind(item, "verification"))
            else:
                text = self._prose(item, spot, "a criterion")
                plan = plan_of(text)
            if text:
                yield Criterion(text=text, plan=plan), spot

    def _must_not(self, table: Table) -> Iterator[MustNot]:
        items = list_at(table, "mustNot", self._faults)
        for index, item in enumerate(items):
            if isinstance(item, Table):
                refuse_unknown_keys(item, MUST_NOT_KEYS, self._faults, what="an item of mustNot")
                text = nonempty_text_at(item, "text", self._faults)
                plan = self._plan(item, VerificationPlan())
            else:
                # A command that stands in prose may be what must not be run.
                text, plan = (
                    self._prose(item, items.at(index), "an item of mustNot"),
                    VerificationPlan(),
                )
            if text:
                yield MustNot(text=text, plan=plan)

    def _plan(self, item: Table, stated: VerificationPlan) -> VerificationPlan:
        """Return how an item is verified; `stated` is what its text says, where no key does."""
        faults = self._faults
        ways = [key for key in ("command", "check") if key in item]
        if len(ways) > 1:
            faults.add("an item has a command or a check, not both", item.at_key("check"))
        for key in ("artifact", "rule"):
            if key in item and "check" not in item:
                faults.add(f"{key} needs a check", item.at_key(key), hint="check: criteria.yaml")
        if not ways and "compare" not in item:
            return stated
        values = {key: nonempty_text_at(item, key, faults) for key in ways}
        given = {key: text_at(item, key, faults) for key in ("compare", "artifact", "rule")}
        compare = given["compare"] if "compare" in item else stated.compare
        if given["compare"]:
            try:
                parse_comparison(compare)
            except UsageError as error:
                problem = error.problems[0]
                faults.add(problem.message, item.at_key("compare"), hint=problem.hint)
        command = values.get("command", "")
        measured = Verification.MEASUREMENT if compare else Verification.EXECUTION_OUTPUT
        return VerificationPlan(
            command=command,
            compare=compare if not values.get("check") else "",
            criteria=values.get("check", ""),
            artifact=given["artifact"],
            rule=given["rule"],
            required=measured if command or compare else Verification.EXECUTION_OUTPUT,
        )

    def _verification(
        self, table: Table, criteria: dict[str, Criterion]
    ) -> Iterator[tuple[str, Verification]]:
        value = table.get("verification")
        if value is None:
            return
        if isinstance(value, Items) and all(isinstance(one, str) for one in value):
            value = _pairs(value)
        if not isinstance(value, Table):
            message = f"verification must be a mapping, not {kind_of(value)}"
            hint = "verification: {tests pass: execution output}"
            self._faults.add(message, table.at("verification"), hint=hint)
            return
        for text in value:
            if text not in criteria:
                message = f"verification names no criterion: {text!r}"
                self._faults.add(message, value.at_key(text), hint=did_you_mean(text, criteria))
            elif kind := self._kind(value, text):
                yield text, kind

    def _kind(self, table: Table, key: str) -> Verification | None:
        kinds = [one.value for one in Verification if one is not Verification.CLAIM]
        value = table.get(key)
        word = " ".join(value.lower().replace("-", " ").split()) if isinstance(value, str) else ""
        if word in kinds:
            return Verification(word)
        message = f"verification of {key!r} must be one of {', '.join(kinds)}, not {kind_of(value)}"
        self._faults.add(message, table.at(key))
        return None

    def _prose(self, item: Any, spot: Spot, what: str) -> str:
        if isinstance(item, str) and item.strip():
            return item.strip()
        hint = 'put a text that holds ": " in quotes' if isinstance(item, dict) else ""
        text = "is empty" if isinstance(item, str) else f"must be a text, not {kind_of(item)}"
        self._faults.add(f"{what} {text}", spot, hint=hint)
        return ""
