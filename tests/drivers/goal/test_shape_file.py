"""SHAPE.md is read in both of its forms, and what is wrong has its line and column."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.goal.model import Criterion, MustNot, Verification, VerificationPlan
from pytest_reflex.drivers.goal.shape_file import ShapeFile, parse_shape, read_shape
from pytest_reflex.errors import CriteriaError

FENCED = """\
# Shape

Some words.

```yaml
criteria:
  - tests pass
  - API returns 200
  - {text: p95 is low, command: ./bench.sh, compare: p95 < 100 ms}
  - {text: docs hold, check: docs.yaml, artifact: README.md, rule: docs.title}
mustNot:
  - secrets are printed
  - {text: main is touched, command: git diff --quiet main}
verification:
  tests pass: execution output
  API returns 200: Observation
```
"""
LISTS = """\
# Shape

## Criteria
- tests pass
- [ ] API returns 200

**mustNot:**
* secrets are printed

## Verification
1. tests pass: execution output
2. "API returns 200" -> code review
"""
RUN = Verification.EXECUTION_OUTPUT


def shape(text: str) -> ShapeFile:
    return parse_shape(text.encode(), "SHAPE.md")


def test_a_block_of_yaml_is_read(tmp_path: Path) -> None:
    (tmp_path / "SHAPE.md").write_text(FENCED)
    measured = Verification.MEASUREMENT
    assert read_shape(tmp_path / "SHAPE.md") == ShapeFile(
        criteria=(
            Criterion(text="tests pass", plan=VerificationPlan(required=RUN)),
            Criterion(
                text="API returns 200", plan=VerificationPlan(required=Verification.OBSERVATION)
            ),
            Criterion(
                text="p95 is low",
                plan=VerificationPlan(
                    command="./bench.sh", compare="p95 < 100 ms", required=measured
                ),
            ),
            Criterion(
                text="docs hold",
                plan=VerificationPlan(
                    criteria="docs.yaml", artifact="README.md", rule="docs.title", required=RUN
                ),
            ),
        ),
        must_not=(
            MustNot(text="secrets are printed"),
            MustNot(
                text="main is touched",
                plan=VerificationPlan(command="git diff --quiet main", required=RUN),
            ),
        ),
    )


def test_lists_are_read() -> None:
    assert shape(LISTS) == ShapeFile(
        criteria=(
            Criterion(text="tests pass", plan=VerificationPlan(required=RUN)),
            Criterion(
                text="API returns 200", plan=VerificationPlan(required=Verification.CODE_REVIEW)
            ),
        ),
        must_not=(MustNot(text="secrets are printed"),),
    )


def test_yaml_without_a_fence_is_read_as_lists() -> None:
    text = "criteria:\n- `pytest -q` passes\n- size < 3 MB\nmustNot:\n- never run `rm -rf`\n"
    found = shape(text)
    assert [one.plan.command for one in found.criteria] == ["pytest -q", ""]
    assert [one.plan.compare for one in found.criteria] == ["", "size < 3 MB"]
    assert found.must_not == (MustNot(text="never run `rm -rf`"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# Shape\n", "SHAPE.md:1:1: the file has no criteria"),
        ("```yaml\ncriteria: [a, a]\n```\n", "SHAPE.md:2:15: the criterion 'a' is there twice"),
        ("```yaml\ncriteria: [a]\nmustnot: [b]\n```\n", "SHAPE.md:3:1: SHAPE.md has no key"),
        ("text\n```yml\ncriteria: a\n```\n", "SHAPE.md:3:11: criteria must be a list"),
        ("```yaml\ncriteria:\n  - [\n```\n", "this is not valid YAML"),
        ("```yaml\ncriteria:\n  - a: b\n```\n", "SHAPE.md:3:5: a criterion has no key 'a'"),
        ("```yaml\ncriteria: [1]\n```\n", "SHAPE.md:2:12: a criterion must be a text"),
        (
            "```yaml\ncriteria: [tests pass]\nverification: {tests pas: observation}\n```\n",
            "3:16: verification names no criterion: 'tests pas' (did you mean tests pass?)",
        ),
        (
            "## Criteria\n- a\n## Verification\n- a: guess\n",
            "SHAPE.md:4:3: verification of 'a' must be one of execution output",
        ),
        ("## Criteria\n- a\n## Verification\n- a\n", "SHAPE.md:4:3: verification of 'a' must be"),
        (
            "```yaml\nmustNot:\n  - {text: x, command: a, check: b}\n```\n",
            "SHAPE.md:3:27: an item has a command or a check, not both",
        ),
        ("```yaml\nmustNot:\n  - {text: x, rule: b}\n```\n", "SHAPE.md:3:15: rule needs a check"),
        ("```yaml\nmustNot:\n  - {command: a}\n```\n", "SHAPE.md:3:5: text is missing"),
        *(
            (
                f"```yaml\ncriteria:\n  - {{text: x, command: a, compare: {said!r}}}\n```\n",
                f"SHAPE.md:3:27: {said!r} is not a comparison (such as: p95 < 100 ms",
            )
            for said in ("fast", "< many", "1 < 2 < 3")
        ),
        ("# Criteria\n" + "- a\n" * 25_000, "SHAPE.md:1:1: the file is too long: 100,011 bytes"),
    ],
)
def test_what_is_wrong_has_its_place(text: str, message: str) -> None:
    with pytest.raises(CriteriaError) as caught:
        shape(text)
    assert message in str(caught.value)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(CriteriaError, match=r"SHAPE.md:2:1: the file is not UTF-8 text"):
        parse_shape(b"a\n\xff", "SHAPE.md")


@given(st.text() | st.lists(st.sampled_from(LISTS.split("\n") + FENCED.split("\n"))).map("\n".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    found: ShapeFile | None = None
    with suppress(CriteriaError):
        found = shape(text.encode("utf-8", "replace").decode())
    assert found is None or found.criteria or found.must_not
