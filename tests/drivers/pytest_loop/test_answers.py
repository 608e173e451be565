"""What an agent is told about files, and what it may answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.contracts.steps import ContractError, read_files
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Files
from tests.agents.making import request


def answer(*files: Any) -> str:
    return json.dumps({"files": list(files)})


def allowed(path: str) -> bool:
    return path == "a.py"


def test_texts_come_out_of_chatter() -> None:
    text = f"Done:\n```json\n{answer({'path': 'a.py', 'text': 'x = 1'})}\n```\nBye."
    assert read_files(text, allowed) == {"a.py": "x = 1"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I fixed it.", "no JSON object"),
        (answer(), "/files: has 0 items, at least 1"),
        (answer({"path": "b.py", "text": ""}), "/files/0/path: 'b.py' may not be changed"),
        (answer(*[{"path": "a.py", "text": ""}] * 2), "'a.py' is there twice"),
        (answer({"path": "a.py", "text": "\0"}), "/files/0/text: holds a NUL"),
        (answer({"path": "a.py"}), "'text' is a required property"),
    ],
)
def test_what_is_no_answer_is_refused(text: str, told: str) -> None:
    with pytest.raises(ContractError) as caught:
        read_files(text, allowed)
    assert told in str(caught.value)


def test_a_prompt_holds_the_files_and_what_may_be_changed() -> None:
    files = Files(patterns=("src/**",), texts={"src/a.py": "x = 1\n"}, left_out=("src/b.py",))
    prompt = prompt_for(request(Step.REFINE, artifact="# Changes\n", files=files))
    assert "Files that may be changed: src/**" in prompt
    assert "Too long to be shown here: src/b.py" in prompt
    assert "## src/a.py" in prompt
    assert "x = 1" in prompt
    assert prompt.count('{ "files": [ { "path": "src/a.py"') == 1
    assert "write no files" not in prompt
