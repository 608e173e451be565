"""Evaluate a file by a stock template, through the core."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.model.enums import Level
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.targets import Target


def evaluated(template: str, artifact: Path, level: Level = Level.B) -> Evaluation:
    registry = built_in_registry()
    criteria = load_criteria(template, registry=registry)
    target = Target(criteria=criteria, level=level, artifact=artifact, root=artifact.parent)
    return evaluate(target, registry)
