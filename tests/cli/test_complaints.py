"""What the command line reports is made visible before a terminal sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

WORDS = {
    "a file": ["evaluate", "no\x1b[2J.md", "--criteria", "documentation"],
    "an option": ["loop", "status", "--no\x1b[2J"],
    "a verb": ["loop", "no\x1b[2J"],
    "an alias": ["loop", "status", "no\x1b[2J"],
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_t06_a_word_in_an_error_moves_no_cursor(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 4
    said = capsys.readouterr().err
    assert "no\\x1b[2J" in said
    assert "\x1b" not in said


def test_t06_nor_does_a_path_that_is_told_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "a.md", "--criteria", "no\x1b[2J.yaml"]) == 4
    assert "tried no\\x1b[2J.yaml" in capsys.readouterr().err
