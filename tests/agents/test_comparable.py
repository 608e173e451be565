"""What two runs may differ in is taken out openly; everything else is a difference."""

from __future__ import annotations

import pytest

from pytest_reflex.agents.replay import first_difference, normalize

SAME = {
    "the id of the run": ("for run x-20260101-000000,", "for run {run},"),
    "the id of the other run": ("as x-20250101-000000 said", "as {run} said"),
    "the folder of the run": ("a/x/artifact.md:3: no", "a/{run}/artifact.md:3: no"),
    "the project": ("in /home/me/project/a.md", "in {project}/a.md"),
    "the other project": ("(/other/place)", "({project})"),
    "blocks of an artifact": ("/tmp/reflex-blocks-ab12cd_f/1.py", "{temporary}/1.py"),
    "a folder of ours": ("/var/tmp/x/reflex-ab12cd_f/answer", "{temporary}/answer"),
    "a measured time": ("1 failed in 0.12s", "1 failed in {time}"),
    "the same in words": ("took 1.5 seconds", "took {time}"),
    "an address": ("<object at 0x7f12ab34cd56>", "<object at {address}>"),
    "two of them": ("/other/place in 0.1s", "{project} in {time}"),
}  # fmt: skip
KEPT = (
    "/home/me/project2/a.md",
    "/home/me/project.old",
    "reflex-blocks-short",
    "wait for 5 s at most",
    "version 1.2.3",
    "0x1F",
    "x/other.md",
    "x-20260101-000001",
)
IDS, FOLDERS = ("x-20260101-000000", "x-20250101-000000"), ("/other/place", "/home/me/project", "/")


@pytest.mark.parametrize(("text", "expected"), SAME.values(), ids=SAME.keys())
def test_what_may_differ_is_a_word(text: str, expected: str) -> None:
    assert normalize(text, run_ids=IDS, folders=FOLDERS) == expected


@pytest.mark.parametrize("text", KEPT)
def test_nothing_else_is_touched(text: str) -> None:
    assert normalize(text, run_ids=IDS, folders=FOLDERS) == text


DIFFERENCES = {
    "a changed line": ("a\nb\nc", "a\nB\nc", (2, "'b'", "'B'")),
    "a line more": ("a\nb", "a\nb\nc", (3, "no line", "'c'")),
    "a line less": ("a\nb\n", "a\nb", (3, "''", "no line")),
    "the middle of a long line": (
        "x" * 200 + "old" + "y" * 200,
        "x" * 200 + "new" + "y" * 200,
        (1, f"'…{'x' * 30}old{'y' * 67}…'", f"'…{'x' * 30}new{'y' * 67}…'"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("was", "now", "expected"), DIFFERENCES.values(), ids=DIFFERENCES.keys())
def test_the_first_difference_is_named(was: str, now: str, expected: tuple[int, str, str]) -> None:
    assert first_difference(was, now) == expected
