"""Requests, rules and small tools for the tests of agents."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import DEFAULT_WEIGHT, Level, Outcome, Severity, Step
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.model.rules import CheckSpec, Criteria, Fix, Rule
from pytest_reflex.model.steps import Agent, Reply, StepRequest
from pytest_reflex.model.targets import Target
from pytest_reflex.verdict.score import judge


def rule(name: str, severity: str = "fail", **more: Any) -> Rule:
    word = Severity(severity)
    known: dict[str, Any] = {
        "id": name,
        "description": f"what {name} wants",
        "severity": word,
        "weight": Fraction(DEFAULT_WEIGHT[word]),
        "level": Level(name[0].upper()),
        "checks": (CheckSpec(type="content", params={"search": "x"}, expected=f"{name} holds"),),
    }
    return Rule(**{**known, **more})


def section(heading: str, **more: Any) -> Fix:
    return Fix(kind="insert_section", params={"heading": heading}, **more)


def criteria(*rules: Rule, **more: Any) -> Criteria:
    thresholds = {Level.A: Fraction(4, 5), Level.B: Fraction(9, 10)}
    return Criteria(name="c", version=1, thresholds=thresholds, rules=rules, **more)


def request(step: Step, *rules: Rule, **more: Any) -> StepRequest:
    known: dict[str, Any] = {
        "step": step,
        "run_id": "task-20260101-000000",
        "iteration": 1,
        "level": Level.B,
        "task": "Write a courses API",
        "ideal_result": "passes phase B of c",
        "criteria": criteria(*rules),
        "artifact_path": "artifact.md",
        "rules": rules,
    }
    return StepRequest(**{**known, **more})


def evaluation(failed: dict[str, str], *rules: Rule) -> Evaluation:
    """An evaluation in which the rules in `failed` did not pass, with that message."""
    results = {
        (r.id, n): CheckResult(
            outcome=Outcome.FAIL if r.id in failed else Outcome.PASS,
            message=failed.get(r.id, ""),
            expected=check.expected,
            evidence="line of evidence" if r.id in failed else "",
            location=Place("artifact.md", 3, 1) if r.id in failed else None,
        )
        for r in rules
        for n, check in enumerate(r.checks)
    }
    target = Target(
        criteria=criteria(*rules), level=Level.B, artifact=Path("artifact.md"), root=Path()
    )
    return judge(target, results, sha256="0" * 64)


def tool(folder: Path, program: str, **table: Any) -> Agent:
    """An agent whose tool is a Python program; at a limit it is not asked again by default."""
    script = folder / "tool.py"
    script.write_text(program, encoding="utf-8")
    command = table.pop("command", [])
    command = [sys.executable, str(script), *command]
    return agent_from_table("tool", {"command": command, "tries": 1, **table})


def answer(agent: Agent, **more: Any) -> Reply:
    return agent.respond(request(Step.PLAN, rule("a.x.y"), **more))
