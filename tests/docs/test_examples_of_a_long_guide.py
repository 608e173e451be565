"""Every example in the longest guide does what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.examples import pages_of, run_examples

pytestmark = pytest.mark.long


@pages_of("a_long_guide")
def test_examples_do_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_examples(page, tmp_path, monkeypatch)
