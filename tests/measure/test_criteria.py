"""Criteria as a measurement: the gate is the status, the lowest score the value."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from pytest_reflex.agents.judge import AgentJudge
from pytest_reflex.drivers.common.measure import Attempt, Measurement, run_measure
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.errors import ReflexError
from pytest_reflex.host import open_host
from pytest_reflex.model.steps import Question, Reply

CRITERIA = """\
name: words
version: 1
phases: {A: {threshold: 0.5}, B: {threshold: 0.9}}
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: b.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
"""
JUDGED = """\
name: judged
version: 1
rules:
  - {id: a.x.kind, description: is kind, severity: fail, check: {type: judged}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "judged.yaml").write_text(JUDGED)
    (tmp_path / "mild.yaml").write_text(CRITERIA.replace("severity: fail", "severity: warn"))
    (tmp_path / "good.md").write_text("alpha beta\n")
    (tmp_path / "weak.md").write_text("alpha\n")
    (tmp_path / "bad.md").write_text("nothing\n")
    return tmp_path


def measure(project: Path, *artifacts: str, criteria: str = "words.yaml", **more: Any) -> Any:
    registry = open_host().registry
    return CriteriaMeasure(criteria, artifacts, project=project, registry=registry, **more)


def found(project: Path, *artifacts: str, **more: Any) -> Measurement:
    return run_measure(measure(project, *artifacts, **more), Attempt())


@pytest.mark.parametrize(
    ("artifacts", "more", "status", "value", "summary"),
    [
        (["good.md"], {}, "passed", Fraction(1), "score 1.000, needs 0.9"),
        (["weak.md"], {}, "failed", Fraction(2, 3), "weak.md: score 0.666 is below 0.9"),
        (["weak.md"], {"phase": "A"}, "passed", Fraction(1), "score 1.000, needs 0.5"),
        (["weak.md"], {"threshold": "0.6"}, "passed", Fraction(2, 3), "score 0.666, needs 0.6"),
        (["bad.md"], {}, "failed", Fraction(0), "bad.md: failed rules: a.x.alpha"),
        (["[gw]*.md"], {"threshold": "0.5"}, "passed", Fraction(2, 3), "all 2 artifacts, weak.md"),
        (["none/*.md"], {}, "error", None, "'none/*.md' matches no artifact in"),
    ],
)
def test_the_gate_is_the_status_and_the_lowest_score_the_value(
    project: Path,
    artifacts: list[str],
    more: dict[str, str],
    status: str,
    value: Fraction | None,
    summary: str,
) -> None:
    one = found(project, *artifacts, **more)
    assert (one.status, one.value) == (status, value)
    assert one.summary.startswith(summary)
    assert one.cost is None


def test_the_report_is_the_evidence(project: Path) -> None:
    assert "ARTIFACT    weak.md" in found(project, "weak.md").evidence


def test_a_suite_measures_its_own_artifacts(project: Path) -> None:
    (project / "docs.reflex.yaml").write_text("criteria: words.yaml\nartifacts: ['*d.md']\n")
    suite = measure(project, criteria="docs.reflex.yaml")
    assert sorted(path.name for path in suite.find_artifacts()) == ["bad.md", "good.md"]
    assert run_measure(suite, Attempt()).summary.startswith("bad.md: failed rules: ")
    (project / "bad.md").unlink()
    assert run_measure(suite, Attempt()).passed


@pytest.mark.parametrize(
    ("criteria", "artifacts", "more", "why"),
    [
        ("words.yaml", (), {}, "its criteria have nothing to check"),
        ("none.yaml", ("good.md",), {}, "none.yaml"),
        ("words.yaml", ("good.md",), {"phase": "C"}, "there is no phase 'C'"),
        ("words.yaml", ("good.md",), {"threshold": "high"}, "high"),
        ("mild.yaml", ("good.md",), {"threshold": "0"}, "no rule is of severity fail"),
    ],
)
def test_criteria_that_cannot_measure_are_refused_at_once(
    project: Path, criteria: str, artifacts: tuple[str, ...], more: dict[str, str], why: str
) -> None:
    with pytest.raises(ReflexError, match=why):
        measure(project, *artifacts, criteria=criteria, **more)


def test_what_nobody_judges_is_not_measured(project: Path) -> None:
    one = found(project, "good.md", criteria="judged.yaml")
    assert (one.status, one.passed, one.value) == ("not_measured", False, None)
    assert one.summary == "nothing was measured"


class Judge:
    """Votes pass, at a price."""

    name = "judge"

    def ask(self, question: Question) -> Reply:
        case = question.prompt.partition("Case number: ")[2][:16]
        text = f'{{"case": "{case}", "reasons": ["kind words"], "verdict": "pass"}}'
        return Reply(text=text, agent=self.name, seconds=1.5, usd=0.25, tokens=7)


def test_what_the_judge_costs_is_in_the_measurement(project: Path) -> None:
    registry = open_host().registry
    registry.judge = AgentJudge(Judge())
    look = CriteriaMeasure("judged.yaml", ["good.md"], project=project, registry=registry)
    one = run_measure(look, Attempt())
    assert one.status == "passed"
    assert one.cost is not None
    assert (one.cost["calls"], one.cost["usd"], one.cost["tokens"]) == (1, 0.25, 7)


def test_criteria_are_read_once(project: Path) -> None:
    look = measure(project, "weak.md")
    (project / "words.yaml").write_text(CRITERIA.replace("0.9", "0.1").replace("beta", "alpha"))
    assert run_measure(look, Attempt()).status == "failed"


SLOW = """\
name: slow
version: 1
rules:
  - {id: a.x.slow, description: d, severity: fail,
     check: {type: executable, command: touch begun; sleep 60}}
"""


def test_what_a_check_runs_is_ended_once_the_run_is_stopped(project: Path) -> None:
    (project / "slow.yaml").write_text(SLOW)
    stop = Event()

    def stop_once_begun() -> None:
        while not (project / "begun").exists():
            time.sleep(0.01)
        stop.set()

    look = measure(project, "good.md", criteria="slow.yaml")
    Thread(target=stop_once_begun, daemon=True).start()
    one = run_measure(look, Attempt(cancel=stop))
    assert one.status == "not_measured"
    assert one.seconds < 50
