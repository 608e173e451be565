"""The document of changes: exact in both directions, and readable by `patch`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.contracts.steps import read_artifact
from pytest_reflex.drivers.pytest_loop.files import TITLE, counts, document, rebuilt
from pytest_reflex.errors import StateError

LINES = (
    *("a", "b", "", "```", "## x", "@@ -1,1 +1,1 @@", TITLE, "--- a", "+++ b"),
    *("\\ No newline at end of file", "c\r", "\u2028", "````diff"),
)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(st.sampled_from(LINES), max_size=20),
    st.sampled_from(["", "\n"]),
)
FILES = st.dictionaries(st.sampled_from(["a.py", "deep/b c.py", "z"]), TEXTS)


@pytest.mark.long
@settings(deadline=None, max_examples=150)
@given(FILES, FILES)
def test_a_document_gives_back_every_file(start: dict[str, str], now: dict[str, str]) -> None:
    assert rebuilt(start, document(start, now)) == now


@pytest.mark.long
@settings(deadline=None, max_examples=50)
@given(FILES, FILES)
def test_a_document_is_an_artifact_as_it_is(start: dict[str, str], now: dict[str, str]) -> None:
    text = document(start, now)
    assert read_artifact(text) == text


def test_nothing_changed_is_a_title() -> None:
    assert document({"a": "x"}, {"a": "x"}) == f"{TITLE}\n"


@pytest.mark.skipif(not shutil.which("patch"), reason="there is no program patch")
def test_patch_applies_a_document(tmp_path: Path) -> None:
    start = {"a.py": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "gone.py": "x\n"}
    now = {"a.py": "1\ntwo\n3\n4\n5\n6\n7\n8\nnine", "deep/new.py": "```\ny\n"}
    for path, text in start.items():
        (tmp_path / path).write_text(text)
    command = ["patch", "-p1", "-s"]
    subprocess.run(command, cwd=tmp_path, input=document(start, now), text=True, check=True)
    found = {path: (tmp_path / path).read_text() for path in now}
    assert found == now
    assert not (tmp_path / "gone.py").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# Other\n", "begins with '# Other'"),
        (document({"a": "x\n"}, {"a": "y\n"}), "does not fit the start of the run at line 9: '-x'"),
        (f"{TITLE}\n\n## a\n\n```diff\n--- a/a\n", "ends inside a"),
        (f"{TITLE}\nmore\n", "at line 2: 'more'"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, told: str) -> None:
    with pytest.raises(StateError, match="document of changes") as caught:
        rebuilt({"a": "another\n"}, text)
    assert told in str(caught.value)


def test_counts_are_of_lines() -> None:
    assert counts({"a": "1\n2\n", "b": "x\n"}, {"a": "1\n3\n4\n"}) == [("a", 2, 1), ("b", 0, 1)]
