"""Judged rules in pytest: plain, with workers, in the fork of a loop; the same votes everywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.suite import load_suite
from tests.judged.jurors import configured, judge
from tests.plugin.conftest import project, run, run_workers

pytestmark = pytest.mark.long

__all__ = ["project", "run", "run_workers"]

SUITE = """\
criteria: {name: tone}
artifacts: [a.md]
rules:
  - id: a.tone.polite
    description: The text is polite
    severity: fail
    check: {type: judged, rubric: No insults., votes: 3}
  - {id: a.tone.kind, description: The text is kind, severity: warn, check: It reads kind.}
  - {id: a.tone.text, description: There is text, severity: warn, check: {type: content, search: .}}
"""
JUDGED = ("--reflex-judge=jury", "--reflex-json=out.json")


@pytest.fixture
def suite(project: pytest.Pytester) -> Path:
    folder = project.path
    (folder / "mini.reflex.yaml").unlink()
    (folder / "tone.reflex.yaml").write_text(SUITE)
    (folder / "a.md").write_text("A polite text.\n")
    configured(folder, "polite")
    return folder


def document(folder: Path) -> Any:
    """Return the votes and outcomes in the report, without what the clock says."""
    (found,) = json.loads((folder / "out.json").read_text())["evaluations"]
    return [
        (row["id"], row["outcome"], row["details"], [b["cast"][0]["verdict"] for c in row["checks"]
         for b in c.get("ballots", ())])
        for row in found["rule_results"]
    ]  # fmt: skip


def test_a_session_asks_the_judge_that_it_is_given(suite: Path, run: Any) -> None:
    result = run(*JUDGED)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["JUDGED *2 of 3 rules by an agent (jury), 3 votes*"])
    assert document(suite)[0][1:] == (
        "pass", "judged: 2 of 3 pass, 2 needed, 2 asked: I looked for it", ["pass"]
    )  # fmt: skip


def test_the_one_line_of_a_quiet_session_says_that_agents_voted(suite: Path, run: Any) -> None:
    result = run("-q", *JUDGED)
    result.stdout.fnmatch_lines(
        ["reflex PASSED a.md (tone, A): 1.000/*; judged: 2 of 3 rules by an agent (jury), 3 votes*"]
    )


def test_a_rule_without_a_check_names_every_way_to_name_a_judge(suite: Path, run: Any) -> None:
    told = " ".join(run().stdout.str().split())
    way = "name one with --judge, in pytest with --reflex-judge, or as `judge` in"
    for what in ("it needs an LLM judge and none is", "it has no check, and no LLM judge is"):
        assert re.search(f"{what} configured[^:]*: {way} pytest-reflex.toml", told)


def test_a_vote_against_it_is_a_failed_item_that_says_why(suite: Path, run: Any) -> None:
    configured(suite, "fail")
    result = run(*JUDGED)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*judged: 0 of 3 pass, 2 needed, 2 asked: line 1 is rude*"])


def test_without_the_option_nobody_is_asked(suite: Path, run: Any) -> None:
    configured(suite, "counts")
    file = suite / "pytest-reflex.toml"
    file.write_text('judge = "jury"\n' + file.read_text())
    result = run()
    assert result.ret == 1
    assert not (suite / "asked").exists()
    result.stdout.fnmatch_lines(["*--reflex-judge*"])


def test_the_ini_file_may_name_the_judge(suite: Path, run: Any) -> None:
    (suite / "pytest.ini").write_text("[pytest]\nreflex_judge = jury\n")
    run().assert_outcomes(passed=3)


def test_workers_come_to_the_same_votes(suite: Path, run: Any, run_workers: Any) -> None:
    run(*JUDGED)
    alone = document(suite)
    assert run_workers(*JUDGED).ret == 0
    assert document(suite) == alone


def test_the_fork_of_a_loop_comes_to_the_same_votes(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_reflex.session.fork import evaluate_by_pytest

    monkeypatch.chdir(suite)
    registry = built_in_registry()
    registry.judge = judge(suite, "polite")
    (target,) = load_suite(suite / "tone.reflex.yaml", registry=registry, root=suite)
    forked, core = evaluate_by_pytest(target, registry), evaluate(target, registry)
    assert forked.passed
    told = [[vote.ruling for b in found.ballots for vote in b.votes] for found in (forked, core)]
    assert told[0] == told[1]
    assert [row.message for row in forked.results] == [row.message for row in core.results]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("offline", "*agent 'offline' cannot be an LLM judge*"),
        ("jurry", "*no agent named 'jurry'*"),
    ],
)
def test_who_cannot_judge_is_a_usage_error(suite: Path, run: Any, name: str, told: str) -> None:
    result = run(f"--reflex-judge={name}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*--reflex-judge: {told[1:]}"])
