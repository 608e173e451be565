"""The examples pass their gate, and do not when a rule is broken or left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.sessions import EXAMPLES, copy_examples, run_pytest

pytestmark = pytest.mark.variants

BROKEN = {
    "guide": ("guide/guide.md", "tidy undo\n", "tidy back\n", "a.completeness.undo"),
    "api": ("api/loans.yaml", "security:\n  - readerCard: []\n", "", "b.completeness.auth"),
    "marked": ("marked/temperature.py", "-273.15", "-999", "a.correctness.limits"),
    "ruff": ("linters/shop.py", "RATE = 19", "import os", "a.style.python"),
    "spectral": ("linters/reports/spectral.json", '"severity": 1', '"severity": 0', "a.style.api"),
    "hadolint": ("linters/reports/hadolint.sarif", "2.1.0", "2.0.0", "a.style.container"),
}


@pytest.mark.long
def test_the_examples_pass_their_gate_inside_the_checkout() -> None:
    ended = run_pytest(EXAMPLES, "-p", "no:cacheprovider")
    assert ended.status == 0, ended.output
    assert ended.output.count("PASSED") == 6, "five evaluations and the gate"


@pytest.mark.long
@pytest.mark.parametrize(("file", "good", "bad", "rule"), BROKEN.values(), ids=BROKEN)
def test_a_broken_blocking_rule_fails_the_gate_and_is_named(
    tmp_path: Path, file: str, good: str, bad: str, rule: str
) -> None:
    path = copy_examples(tmp_path) / file
    text = path.read_text(encoding="utf-8")
    assert good in text
    path.write_text(text.replace(good, bad), encoding="utf-8")
    ended = run_pytest(tmp_path, file.partition("/")[0])
    assert ended.status == 1, ended.output
    assert f"failed rules: {rule}" in " ".join(ended.output.split())


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [("-k", "nothing"), ("guide", "-k", "undo"), ("guide", "-k", "nothing", "-n", "2")],
    ids=["none", "one", "none-workers"],
)
def test_leaving_rules_out_does_not_pass(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = run_pytest(copy_examples(tmp_path), *arguments)
    assert ended.status == 1, ended.output
    assert "GATE        INCOMPLETE" in ended.output
