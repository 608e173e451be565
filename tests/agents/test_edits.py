"""Edits of files are counted in the stream of a tool that tells of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.stream import EDITS, EditWatch, LineReader
from pytest_reflex.model.steps import Question


def used(name: str, **given: object) -> str:
    content = [{"type": "text", "text": "now"}, {"type": "tool_use", "name": name, "input": given}]
    return json.dumps({"type": "assistant", "message": {"content": content}})


STREAM = "\n".join(
    [
        json.dumps({"type": "system", "subtype": "init"}),
        used("Edit", file_path="a.py", old_string="x", new_string="y" * 100_000),
        used("Read", file_path="a.py"),
        used("Write", file_path="b.py", content="z"),
        used("MultiEdit", file_path="a.py"),
        used("NotebookEdit", notebook_path="c.ipynb"),
        used("Edit", file_path=5),
        '{"type": "assistant", "message": "odd"}',
        '{"type": "assistant"',
        json.dumps({"type": "result", "result": 'said {"type": "assistant"}'}),
        "",
    ]
)


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 7, 4096, 10_000_000])
def test_edits_are_counted_by_file_however_the_stream_is_cut(size: int) -> None:
    watch, data = EditWatch(), STREAM.encode()
    for at in range(0, len(data), size):
        watch(data[at : at + size]) if size > 1 or at < 2000 else watch(data[at:])
        if size == 1 and at >= 2000:
            break
    assert watch.edits == {"a.py": 2, "b.py": 1, "c.ipynb": 1}


@pytest.mark.parametrize("text", ["", "done\n", '{"result": "done"}\n', '"assistant"\n'])
def test_a_stream_that_tells_of_nothing_is_not_monitored(text: str) -> None:
    watch = EditWatch()
    watch(text.encode())
    assert watch.edits is None


def test_a_line_that_is_too_long_is_left_out() -> None:
    watch = EditWatch()
    watch(used("Edit", file_path="a.py", new_string="y" * 5_000_000).encode())
    watch(b"\n" + used("Edit", file_path="b.py").encode() + b"\n")
    assert watch.edits == {"b.py": 1}


def test_an_answer_has_the_edits_of_its_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stream").write_text(STREAM)
    agent = CommandAgent(name="tool", command=("cat", "stream"))
    reply = agent.ask(Question(prompt="go"))
    assert reply.details[EDITS] == {"a.py": 2, "b.py": 1, "c.ipynb": 1}


def test_short_lines_of_no_interest_are_passed_over_at_once() -> None:
    """A flood of them took a minute of a processor, beyond every time limit."""
    given: list[bytes] = []
    read = LineReader(100, given.append, wanted=b"wanted")
    for chunk in (b"y\n" * 9_000 + b"begun and wan", b"ted here\nno\n", b"no\n" * 9_000):
        read(chunk)
    assert given == [b"begun and wanted here", b"no"]


@pytest.mark.parametrize("wanted", [b"", b"wanted"])
def test_a_line_that_is_too_long_is_skipped_whatever_is_wanted(wanted: bytes) -> None:
    given: list[bytes] = []
    read = LineReader(10, given.append, wanted=wanted)
    for chunk in (b"x" * 20, b"x" * 20, b"xx\nno\n", b"a wanted\n", b"wanted" * 9, b"wanted\n"):
        read(chunk)
    assert b"a wanted" in given
    assert not [line for line in given if line.startswith((b"x", b"wanted"))]
