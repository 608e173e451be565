"""Mutants that no test can kill, with the reason: the table in equivalent.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.core import ROOT
from tests.mutants.listing import Change, Mutant, Source, change, mutated

TABLE = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalent:
    """One change of a function's line that changes nothing which anyone could notice."""

    module: str
    function: str
    old: str
    new: str
    reason: str

    def __str__(self) -> str:
        return f"{self.module}, {self.function}: {self.old!r} to {self.new!r}"


def table(path: Path = TABLE) -> tuple[Equivalent, ...]:
    rows = tomllib.loads(path.read_text("utf-8")).get("equivalent", [])
    return tuple(Equivalent(**row) for row in rows)


def of(
    known: Iterable[Equivalent], module: str, function: str, changed: Change
) -> Equivalent | None:
    """Return the entry for a change, None where there is none."""
    for one in known:
        if (one.module, one.function) == (module, function) and (one.old, one.new) == (
            changed.old,
            changed.new,
        ):
            return one
    return None


def without_mutant(
    known: Iterable[Equivalent], mutants: Iterable[Mutant], root: Path = ROOT
) -> list[Equivalent]:
    """Return the entries that no mutant of today's sources fits."""
    every = list(mutants)
    return [one for one in known if not _fits(one, every, root)]


def _fits(one: Equivalent, mutants: list[Mutant], root: Path) -> bool:
    if not (root / one.module).is_file():
        return False
    text = (root / one.module).read_text("utf-8")
    lines, source = text.splitlines(), Source(text)
    first = one.old.split("\n")[0]
    places = {n for n, line in enumerate(lines, 1) if " ".join(line.split()) == first}
    for mutant in mutants:
        around = range(mutant.start[0] - one.old.count("\n"), mutant.end[0] + 1)
        if mutant.module != one.module or places.isdisjoint(around):
            continue
        new = mutated(mutant, text)
        found = change(text, new) if new is not None else None
        if found and of([one], one.module, source.function(found.line), found):
            return True
    return False
