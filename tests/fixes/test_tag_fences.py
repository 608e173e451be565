"""The fix that names the language of fenced blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.fixes.kind import FixError
from pytest_reflex.fixes.registry import apply
from pytest_reflex.model.rules import Fix
from pytest_reflex.text.outline import block_tokens


def tagged(text: str, language: str = "text") -> str:
    return apply(Fix(kind="tag_fences", params={"language": language}), text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```\na\n```\n", "```text\na\n```\n"),
        ("~~~~  \r\na\r\n~~~~\r\n", "~~~~text\r\na\r\n~~~~\r\n"),
        ("```sh\na\n```\n\nb\n\n```\nc\n```\n", "```sh\na\n```\n\nb\n\n```text\nc\n```\n"),
        ("- ```\n  a\n  ```\n> ```\n> b\n", "- ```text\n  a\n  ```\n> ```text\n> b\n"),
        ("````\n```\na\n```\n````\n", "````text\n```\na\n```\n````\n"),
        ("\ufeff---\na: ```\n---\n```\nb", "\ufeff---\na: ```\n---\n```text\nb"),
        ("```", "```text"),
        ("    ```\n    a\n", "    ```\n    a\n"),
        ("```sh\na\n```\n", "```sh\na\n```\n"),
    ],
)
def test_untagged_fence_gets_the_language(before: str, after: str) -> None:
    assert tagged(before) == after
    assert tagged(after) == after


def test_language_is_one_word() -> None:
    with pytest.raises(FixError, match="language must be one word, not 'a b'"):
        tagged("```\n", "a b")


@settings(deadline=None, max_examples=60)
@given(st.text("`~a>- \n\r", max_size=60))
def test_no_fence_is_left_and_no_other_line_is_touched(text: str) -> None:
    mended = tagged(text)
    fences = [token for token in block_tokens(mended).blocks if token.type == "fence"]
    assert all(token.info.strip() for token in fences)
    assert tagged(mended) == mended
    assert mended.replace("text", "").split() == text.split()
