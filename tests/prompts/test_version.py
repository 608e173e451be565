"""Golden prompts change only with `VERSION`: recordings are compared by it."""

from __future__ import annotations

import pytest

from tests.prompts.version import RAISE, current, is_raised, kept


def test_the_version_is_that_of_the_golden_prompts() -> None:
    assert is_raised(kept(), current()), RAISE
    assert kept() == current(), "`python -m tests.prompts.write` keeps the version"


@pytest.mark.parametrize(
    ("version", "sha256", "raised"),
    [(3, "a", True), (3, "b", False), (2, "b", False), (4, "b", True), (4, "a", True)],
    ids=["as it was", "another prompt", "a lower version", "a higher version", "no other prompt"],
)
def test_another_prompt_needs_a_higher_version(version: int, sha256: str, raised: bool) -> None:
    now = {"version": version, "sha256": sha256}
    assert is_raised({"version": 3, "sha256": "a"}, now) is raised
