"""`python -m benchmarks.corpus`: judge the corpus, print table and changes, write the page."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.corpus.fetch import bring
from benchmarks.corpus.judge import judge_all
from benchmarks.corpus.judgements import (
    FILE,
    Judgement,
    accepted,
    compare,
    read_answers,
    read_judgements,
    with_readings,
    write_judgements,
)
from benchmarks.corpus.packages import LIST, Corpus, CorpusError, Document, documents, read_packages
from benchmarks.corpus.sheets import chosen, write_sheets
from benchmarks.corpus.table import differences, false_ones, rendered, rows, share_false
from benchmarks.rules.table import put

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "corpus.md"
CACHE = ROOT / ".corpus"
MOST_FALSE = 5  # of 100 findings of severity fail


def main() -> int:
    """Return 0 where each finding has its line and few of those that block are false."""
    options = _options()
    corpus = read_packages(LIST.read_text("utf-8"))
    judgements = read_judgements(FILE.read_text("utf-8")) if FILE.exists() else {}
    judged = judge_all(_documents(corpus, options.only), jobs=options.jobs)
    findings = [finding for one in judged for finding in one.findings]
    if options.only:
        names = {one.document.package for one in judged}
        judgements = {key: value for key, value in judgements.items() if key.package in names}
    difference = compare(findings, judgements)
    for line in differences(difference):
        print(line)
    if options.accept and not options.only:
        judgements = accepted(findings, judgements)
        if options.readings:
            answers = [read_answers(options.readings, reader) for reader in (1, 2)]
            judgements = with_readings(judgements, *answers)
        FILE.write_text(write_judgements(judgements.values()), "utf-8")
    if options.sheets:
        files = {(one.document.package, one.document.path): one.document.file for one in judged}
        number = write_sheets(chosen(judged, judgements), files, options.sheets)
        print(f"{number} sheets in {options.sheets}")
    table = rows(judged, judgements)
    text = rendered(
        corpus.version, len({one.document.package for one in judged}), len(judged), table
    )
    print(text)
    for one in judged:
        for rule, why in one.unmeasured.items():
            print(f"not measured: {one.document.package} {one.document.path} {rule}: {why}")
    if not options.only:
        _publish(text, judgements.values())
    false, read = share_false(table, "fail")
    changed = not options.accept and (difference.new or difference.gone)
    return int(bool(changed) or 100 * false > MOST_FALSE * read)


def _documents(corpus: Corpus, only: list[str]) -> list[Document]:
    found: list[Document] = []
    for package in corpus.packages:
        if not only or package.name in only:
            print(f"{package.name} {package.version}", file=sys.stderr)
            found += documents(package, bring(package, CACHE))
    return found


def _publish(text: str, judgements: Iterable[Judgement]) -> None:
    page = put(PAGE.read_text("utf-8"), text, "corpus")
    PAGE.write_text(put(page, false_ones(judgements), "corpus-false"), "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="PACKAGE", help="look at these packages only")
    parser.add_argument("--accept", action="store_true", help="write judgements.jsonl anew")
    parser.add_argument("--readings", type=Path, metavar="FOLDER", help="take up readers' answers")
    parser.add_argument("--sheets", type=Path, metavar="FOLDER", help="write sheets for readers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CorpusError as error:
        sys.exit(f"corpus: {error}")
