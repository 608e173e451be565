"""The published tables are those of the corpus and of the real documents as they are now.

That every planted fault is caught and no rule accuses wrongly is tested fault by fault, in
test_corpus.py; so the table has to be that of rules which do.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rules.measure import wanted
from benchmarks.rules.table import BEGIN, Tally, put, real_documents, rendered
from pytest_reflex.model.words import Level
from tests.templates.test_real_documents import MISSING, PASSED

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "templates.md"


def test_table_of_the_corpus_is_published() -> None:
    assert rendered(wanted()) in PAGE.read_text("utf-8")


def test_table_of_the_real_documents_is_published() -> None:
    passed = {name: (PASSED[name, Level.A], PASSED[name, Level.B]) for name in MISSING}
    assert real_documents(MISSING, passed) in PAGE.read_text("utf-8")


def test_table_counts_what_was_missed_and_what_was_wrong() -> None:
    tally = Tally(template="t", rule="a.b.c", planted=3, caught=2, wrong=1, others=9)
    assert "| t | `a.b.c` | 3 | 2 | 1 of 9 |" in rendered([tally])


def test_table_takes_the_place_of_the_old_one() -> None:
    page = PAGE.read_text("utf-8")
    assert put(put(page, "old\n"), rendered(wanted())) == page
    with pytest.raises(ValueError, match=BEGIN.strip()):
        put("# no marks\n", "table\n")
