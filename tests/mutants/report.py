"""What a run says: how many were killed, each survivor, and entries out of date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any

from tests.mutants import equivalents
from tests.mutants.core import ROOT
from tests.mutants.equivalents import Equivalent
from tests.mutants.listing import Change, Mutant, Source
from tests.mutants.trial import IMPORT, KILLED, SURVIVED, TIMEOUT

INVALID = "invalid"
"""It does not even compile, and does not count."""

LEAST = 0.95
"""How many of those that are tried have to be killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one mutant: `by` is the test that killed it, `first` the first that ran."""

    outcome: str
    by: str = ""
    first: str = ""
    change: Change | None = None
    tests: int = 0
    seconds: float = 0.0

    @property
    def killer(self) -> str:
        """The test that killed it, or the first of those that could not be run to their end."""
        return self.first if self.by in (IMPORT, TIMEOUT) else self.by

    @property
    def diff(self) -> str:
        if self.change is None:
            return ""
        marked = (("-", self.change.old), ("+", self.change.new))
        return "\n".join(f"{sign} {line}" for sign, text in marked for line in text.splitlines())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, row: dict[str, Any]) -> Result:
        found = row["change"]
        return cls(**{**row, "change": Change(**found) if found else None})


def progress(count: int, total: int, mutant: Mutant, result: Result) -> None:
    """Print one line for a mutant that was tried."""
    by = f" by {result.by}" if result.by else f" of {result.tests} tests"
    place = f"{mutant.module}:{mutant.start[0]}"
    print(f"{count}/{total} {place} {result.outcome}{by} in {result.seconds:.1f} s", flush=True)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of a run against the table of equivalent mutants."""

    mutants: Sequence[Mutant]
    results: Mapping[str, Result]
    table: Sequence[Equivalent]
    every: Sequence[Mutant]

    def _result(self, mutant: Mutant) -> Result:
        return self.results[mutant.job]

    @cached_property
    def tried(self) -> list[Mutant]:
        return [one for one in self.mutants if self._result(one).outcome != INVALID]

    @cached_property
    def killed(self) -> list[Mutant]:
        return [one for one in self.tried if self._result(one).outcome == KILLED]

    @cached_property
    def survivors(self) -> list[Mutant]:
        return [one for one in self.tried if self._result(one).outcome != KILLED]

    @cached_property
    def explained(self) -> dict[str, Equivalent]:
        """The survivors of which the table says why they survive."""
        return {one.job: entry for one in self.survivors if (entry := self._entry(one))}

    @cached_property
    def unexplained(self) -> list[Mutant]:
        return [one for one in self.survivors if one.job not in self.explained]

    @cached_property
    def out_of_date(self) -> list[str]:
        """The entries of the table that fit no mutant, or one that a test kills."""
        gone = equivalents.without_mutant(self.table, self.every)
        by = {entry: self._result(one).by for one in self.killed if (entry := self._entry(one))}
        return [f"{one}: there is no such mutant" for one in gone] + [
            f"{entry}: it is killed by {test}" for entry, test in by.items()
        ]

    def _entry(self, mutant: Mutant) -> Equivalent | None:
        found = self._result(mutant).change
        if found is None:
            return None
        function = _function(mutant.module, found.line)
        return equivalents.of(self.table, mutant.module, function, found)

    @property
    def share(self) -> float:
        return len(self.killed) / len(self.tried) if self.tried else 0.0

    @property
    def passed(self) -> bool:
        return self.share >= LEAST and not self.unexplained and not self.out_of_date

    def lines(self, seed: int | None, seconds: float) -> Iterator[str]:
        """Yield what to print: survivors, entries out of date, each module, the sum."""
        for mutant in self.survivors:
            yield from self._survivor(mutant)
        for row in self.out_of_date:
            yield f"out of date in {equivalents.TABLE.relative_to(ROOT)}: {row}"
        total = Counter(one.module for one in self.tried)
        killed = Counter(one.module for one in self.killed)
        for module in total:
            yield f"{killed[module]:5} of {total[module]:4} killed in {module}"
        of_seed = f"seed {seed}, " if seed is not None else ""
        yield (
            f"killed {len(self.killed)} of {len(self.tried)} ({100 * self.share:.1f} %), {of_seed}"
            f"{len(self.explained)} equivalent, {len(self.unexplained)} to be killed, "
            f"{len(self.out_of_date)} entries out of date; {seconds:.0f} s"
        )

    def _survivor(self, mutant: Mutant) -> Iterator[str]:
        result = self._result(mutant)
        line = result.change.line if result.change else mutant.start[0]
        yield f"{mutant.module}:{line} in {_function(mutant.module, line) or 'the module'}"
        yield from (f"    {row}" for row in result.diff.splitlines())
        if entry := self.explained.get(mutant.job):
            yield f"    equivalent: {entry.reason}"
        elif result.outcome == SURVIVED:
            yield f"    survived {result.tests} tests"
        else:
            yield f"    unknown: {result.by} fails without it, too"


@cache
def _source(module: str) -> Source:
    return Source((ROOT / module).read_text("utf-8"))


def _function(module: str, line: int) -> str:
    return _source(module).function(line)
