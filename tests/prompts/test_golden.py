"""The prompts of every step of every driver are those that somebody has read."""

from __future__ import annotations

import pytest

from tests.prompts.stories import Golden, all_prompts
from tests.prompts.version import GOLDEN

ADVICE = "read it, then `python -m tests.prompts.write` keeps what is asked now"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))
MOST_TOKENS = 1_600
"""Of a prompt whose artifact is a few lines."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Golden]:
    return all_prompts(tmp_path_factory.mktemp("prompts"))


def test_every_prompt_is_kept(asked: dict[str, Golden]) -> None:
    assert sorted(asked) == NAMES, ADVICE


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_the_one_that_is_kept(asked: dict[str, Golden], name: str) -> None:
    kept = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert asked[name].text == kept, ADVICE


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_a_prompt_are_all_of_it(asked: dict[str, Golden], name: str) -> None:
    golden = asked[name]
    for title, text in golden.parts:
        assert text.strip() in golden.prompt, title
    whole = sum(len(text.strip()) for _, text in golden.parts)
    assert whole <= len(golden.prompt) < whole + 3 * len(golden.parts) + 3
    assert len(golden.prompt) < 4 * MOST_TOKENS
