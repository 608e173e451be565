"""The runner of examples notices when a page is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.compare import matches
from tests.docs.running import run_page
from tests.docs.write import rewritten

DEVIATING = {
    "output": ("```console\n$ echo one\ntwo\n```\n", "it printed:\none"),
    "more-output": ("```console\n$ echo one; echo two\none\n```\n", "it printed:\none\ntwo"),
    "no-output": ("```console\n$ true\none\n```\n", "the page says:\none"),
    "silent-failure": ("```console\n$ false\n```\n", "exit status 1; add `$ echo $?`"),
    "wrong-status": ("```console\n$ false\n$ echo $?\n4\n```\n", "it printed:\n1"),
    "python": ("```python\nassert 1 == 2, 'no'\n```\n", "AssertionError: no"),
    "doctest": ("```python\n>>> 1 + 1\n3\n```\n", "1 examples failed"),
}
HOLDING = {
    "file-and-output": '```text title="a/b"\nhello\n```\n\n```console\n$ cat a/b\nhello\n```',
    "session": "```console\n$ export A=1; cd /\n$ echo $A $PWD\n1 /\n```\n",
    "status": "```console\n$ (exit 3)\n$ echo $?\n3\n```\n",
    "standard-error": "```console\n$ echo oops >&2\noops\n```\n",
    "long-command": "```console\n$ echo one \\\n    two\none two\n```\n",
    "python": "```python\nx = 1\n```\n\n```python\nassert x == 1\n```\n",
    "doctest": "```python\n>>> 1 + 1\n2\n```\n",
    "excused": "<!-- not run: for a test of the runner -->\n```console\n$ false\n```\n",
}
MATCHING = {
    "any-lines": ("a\n...\nz", "a\nb\nc\nz", True),
    "any-lines-none": ("a\n...\nz", "a\nz", True),
    "any-text": ("at [...] now", "at 12:30 now", True),
    "time": ("done in 0.12s", "done in 3.50s", True),
    "clock": ("[10:05:12] done", "[23:59:59] done", True),
    "duration": ("completed in 45.2s (total: 2m16s)", "completed in 0.1s (total: 0.3s)", True),
    "cap": ("ends after 8h0m0s", "ends after 8h0m1s", False),
    "bars": ("===== 1 passed in 0.12s =====", "==== 1 passed in 10.12s ====", True),
    "other-text": ("a\n...\nz", "a\nb", False),
    "nothing-said": ("", "a", False),
    "nothing-printed": ("a", "", False),
}


def deviations(page: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (home / "project").mkdir()
    monkeypatch.chdir(home / "project")
    return [str(deviation) for deviation in run_page(page, home)]


@pytest.mark.parametrize(("page", "message"), DEVIATING.values(), ids=DEVIATING)
def test_a_wrong_example_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, message: str
) -> None:
    (found,) = deviations(page, tmp_path, monkeypatch)
    assert message in found


@pytest.mark.parametrize("page", HOLDING.values(), ids=HOLDING)
def test_a_right_example_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    assert deviations(page, tmp_path, monkeypatch) == []


@pytest.mark.parametrize(("expected", "output", "same"), MATCHING.values(), ids=MATCHING)
def test_dots_stand_for_what_is_left_out(expected: str, output: str, same: bool) -> None:
    assert matches(expected, output) is same


def test_real_output_is_put_in_the_place_of_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    page = "# T\n\n```console\n$ echo one\n$ echo two\n2\n$ echo three\nthree\n```\n\nEnd.\n"
    mended = rewritten(page, list(run_page(page, tmp_path)))
    right = "```console\n$ echo one\none\n$ echo two\ntwo\n$ echo three\nthree\n```"
    assert mended == f"# T\n\n{right}\n\nEnd.\n"
