"""With --json stdout is one document, and the numbers in it can be used again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.api import evaluate
from pytest_reflex.model.rules import round_down
from pytest_reflex.verdict.formatting import format_score, plain

pytestmark = pytest.mark.long

PRINTS = {
    "print": "print('hello')",
    "sys.stdout": "import sys; sys.stdout.write('hello\\n')",
    "past Python": "import os; os.write(1, b'hello\\n')",
    "a program": "import subprocess; subprocess.run(['echo', 'hello'])",
    "in a hook": "def pytest_reflex_register_checks(register): print('hello')",
    "a deprecation": "import warnings; warnings.warn('hello', DeprecationWarning); print('hello')",
}
RULE = {
    "id": "a.x.r",
    "description": "d",
    "severity": "fail",
    "check": {"type": "content", "search": "x"},
}
VERBS = {
    "evaluate": ["evaluate", "a.md", "--criteria", "c.yaml", "--json"],
    "criteria show": ["criteria", "show", "c.yaml", "--json"],
    "loop new": ["loop", "new", "t", "--criteria", "c.yaml", "--input", "a.md", "--yes", "--json"],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    (tmp_path / "c.yaml").write_text(json.dumps({"name": "c", "rules": [RULE]}))
    (tmp_path / "a.md").write_text("x\n")
    (tmp_path / "pytest-reflex.toml").write_text('plugins = ["talks"]\nunknown = 1\n')
    return tmp_path


def documents(*words: str) -> tuple[Any, str]:
    argv = [sys.executable, "-m", "pytest_reflex", *words]
    done = subprocess.run(argv, capture_output=True, text=True)
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("source", PRINTS.values(), ids=PRINTS.keys())
def test_b094_what_a_plugin_prints_is_not_in_the_document(project: Path, source: str) -> None:
    (project / "talks.py").write_text(f"{source}\n")
    document, told = documents(*VERBS["evaluate"])
    assert "a.x.r" in json.dumps(document)
    assert "hello" in told


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS.keys())
def test_b094_every_verb_prints_one_document(project: Path, words: list[str]) -> None:
    (project / "talks.py").write_text("print('hello')\n")
    document, told = documents(*words)
    assert document
    assert words[0] == "criteria" or "hello" in told


def test_b094_a_full_stdout_is_told_all_the_same(project: Path) -> None:
    (project / "talks.py").write_text("print('hello')\n")
    argv = [sys.executable, "-m", "pytest_reflex", *VERBS["evaluate"]]
    with open("/dev/full", "w") as full:
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, "the verdict keeps its status"
    assert "standard output could not be written" in done.stderr
    assert "Traceback" not in done.stderr


ODD = {"three sevenths": 3, "two thirds of 21": 14, "nearly all": 20}


@pytest.mark.parametrize("passed", ODD.values(), ids=ODD.keys())
def test_b021_a_shown_score_can_be_the_threshold(project: Path, passed: int) -> None:
    def rules(threshold: str) -> None:
        rows = [
            {**RULE, "id": f"a.x.r{n}", "severity": "warn", "check": {**RULE["check"], "search": s}}  # type: ignore[dict-item]
            for n, s in enumerate(["x"] * passed + ["never"] * (21 - passed))
        ]
        head = {"name": "c", "phases": {"A": {"threshold": 0.001}}, "rules": rows}
        (project / "c.yaml").write_text(json.dumps(head).replace("0.001", threshold))

    rules("0.001")
    found = evaluate("a.md", "c.yaml")
    document = found.to_json()
    for score in (str(document["score"]), format_score(found.score)):
        assert Fraction(score) <= found.score
        rules(score)
        assert evaluate("a.md", "c.yaml").passed
    numbers = re.findall(r'(?<![\w"/.])[0-9.]+(?![\w"/])', json.dumps(document))
    assert [one for one in numbers if len(re.sub(r"^0\.|\.", "", one)) > 12] == []


@pytest.mark.parametrize("typed", ["0.85", "0.8785", "0.12345678901234567", "1", "0.3333333333333"])
def test_b021_a_threshold_is_shown_as_it_is_typed(typed: str) -> None:
    assert plain(Fraction(typed)) == typed


@given(st.fractions(0, 1))
def test_b021_no_number_is_above_the_exact_one(value: Fraction) -> None:
    number = str(Fraction(str(round_down(value))))
    assert Fraction(number) <= value
    assert value - Fraction(number) < Fraction(1, 10**11)
    shown = plain(value / 7)
    assert "/" in shown or Fraction(shown) <= value / 7
