"""`python -m benchmarks.rules`: plant faults, print the table, write it into the page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.corpus.fetch import bring
from benchmarks.corpus.packages import LIST, CorpusError, documents, read_packages
from benchmarks.rules.mutants import kinds, measured
from benchmarks.rules.sources import Source, sources
from benchmarks.rules.table import put, rendered, tallied
from pytest_reflex.criteria.templates import stock_names

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "templates.md"
CACHE = ROOT / ".corpus"
LEAST = 3  # of each rule and format
LEAST_IN_ALL = 200
LEAST_CAUGHT = 97  # of 100


def main() -> int:
    """Return 0 where enough faults were planted and nearly all were caught."""
    options = _options()
    corpus = read_packages(LIST.read_text("utf-8"))
    found: list[Source] = []
    for package in corpus.packages:
        found += sources(documents(package, bring(package, CACHE)))
    wanted = [kind for kind in kinds() if all(word in " ".join(kind) for word in options.only)]
    mutants = measured(wanted, found, jobs=options.jobs)
    if options.all:
        for one in mutants:
            print(f"planted: {one.package} {one.path}, {one.operator}, {one.kind}: {one.message}")
    for one in mutants:
        if not one.caught:
            place = f"{one.package} {one.path} ({one.kind.format})"
            print(f"missed: {place}, {one.operator}, {one.kind.rule}: {one.message}")
    few = [kind for kind in wanted if sum(one.kind == kind for one in mutants) < LEAST]
    for kind in few:
        number = sum(one.kind == kind for one in mutants)
        print(f"planted only {number}: {kind.template} {kind.rule} {kind.format}")
    table = tallied((*one.kind, one.caught) for one in mutants)
    planted = {kind.template for kind in kinds()}
    without = [name for name in stock_names() if name not in planted and name != "base"]
    text = rendered(table, without)
    print(text)
    if not options.only:
        PAGE.write_text(put(PAGE.read_text("utf-8"), text), "utf-8")
    caught = sum(one.caught for one in mutants)
    too_few = bool(few) or (not options.only and len(mutants) < LEAST_IN_ALL)
    return int(too_few or 100 * caught < LEAST_CAUGHT * len(mutants))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rules", description=__doc__)
    parser.add_argument(
        "only", nargs="*", metavar="WORD", help="rules with these words in template, id or format"
    )
    parser.add_argument("--all", action="store_true", help="print each fault that is planted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CorpusError as error:
        sys.exit(f"corpus: {error}")
