"""Fenced blocks parse in the language they name."""

from __future__ import annotations

import pytest

from pytest_reflex.model.words import Outcome
from tests.structure.judging import judge

GOOD = [
    ("python", "x = ...\nawait go(...)\nreturn x\n"),
    ("python", "    indented = 1\n    more = 2\n"),
    ("python", ">>> 1 +\n... broken\n"),
    ("py", "%pip install x\n"),
    ("pycon", "not python\n"),
    ("json", '{"a": [1, null]}\n'),
    ("jsonc", "{} // comment\n"),
    ("yaml", "a: [http://x.y]\nb: !Ref c\n"),
    ("toml", "[a]\nb = 1\n"),
    ("text", "{\n"),
    ("", "{\n"),
]


@pytest.mark.parametrize(("language", "code"), GOOD)
def test_block_that_parses_or_is_of_another_language_passes(language: str, code: str) -> None:
    text = f"# T\n\n```{language}\n{code}```\n"
    assert judge(text, {"code_blocks": {"parse": True}}).outcome is Outcome.PASS


BAD = [
    ("python", "x = 1\nprint 'a'\n", "a python block does not parse: Missing parentheses", 5),
    ("python", "(" * 5000 + "\n", "a python block does not parse: too many nested", 4),
    ("json", "{'a': 1}\n", "a json block does not parse: Expecting property name", 4),
    ("json", "[,\n", "a json block does not parse: Expecting value", 4),
    ("yml", "a: 1\na: 2\n", "a yml block does not parse: duplicate key 'a', first in line 4", 5),
    ("yaml", "a:\n- [b\nc: d\n", "a yaml block does not parse: did not find expected", 6),
    ("toml", "a = 1\nb =\n", "a toml block does not parse: Invalid value", 5),
]


@pytest.mark.parametrize(("language", "code", "message", "line"), BAD, ids=[m for *_, m, _ in BAD])
def test_block_that_does_not_parse_fails_at_its_line(
    language: str, code: str, message: str, line: int
) -> None:
    result = judge(f"# T\n\n```{language}\n{code}```\n", {"code_blocks": {"parse": True}})
    assert result.message.startswith(message)
    assert result.location
    assert result.location.line == line


def test_fence_that_is_never_closed_is_found() -> None:
    result = judge("# T\n\n```sh\nmake\n\n## Usage\n", {"code_blocks": {"parse": True}})
    assert result.message == "a fence is never closed"
    assert result.location
    assert result.location.line == 3


def test_fence_that_only_looks_closed_is_found() -> None:
    result = judge("```sh\nmake\n```text\n", {"code_blocks": {"parse": True}})
    assert result.message == "a fence is never closed"


def test_fence_in_a_list_ends_with_it() -> None:
    text = "- a\n\n  ```sh\n  make\n\nafter\n"
    assert judge(text, {"code_blocks": {"parse": True}}).outcome is Outcome.PASS


def test_empty_blocks_do_not_count() -> None:
    result = judge("```sh\n```\n\n```sh\nmake\n```\n", {"code_blocks": {"min_count": 2}})
    assert result.message == "1 fenced blocks with content, at least 2 are wanted"


def test_language_narrows_what_is_counted() -> None:
    text = "```sh\nmake\n```\n\n```JSON\n{}\n```\n"
    asked = {"language": "json", "min_count": 1}
    assert judge(text, {"code_blocks": asked}).outcome is Outcome.PASS
    assert judge(text, {"code_blocks": asked | {"min_count": 2}}).outcome is Outcome.FAIL


def test_fence_without_language_is_named_with_its_line() -> None:
    result = judge("a\n\n```\nmake\n```\n", {"code_blocks": {"tagged": True}})
    assert result.evidence == "line 3: a fenced block names no language"
