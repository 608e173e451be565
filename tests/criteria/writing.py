"""Criteria files for tests: written to a folder, or read straight from text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.criteria.document import parse_document
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.rules import Criteria

REGISTRY = built_in_registry()


def rule(rule_id: str = "a.docs.title", **keys: Any) -> str:
    """Return a rule of severity fail with one content check, as lines under `rules:`."""
    given = {
        "description": "There is a title",
        "severity": "fail",
        "check": '{type: content, search: "^# "}',
        **keys,
    }
    lines = [f"  - id: {rule_id}"]
    lines += [f"    {key}: {value}" for key, value in given.items() if value is not None]
    return "\n".join(lines) + "\n"


def rules(*texts: str, head: str = "") -> str:
    return head + "rules:\n" + "".join(texts or (rule(),))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def load(folder: Path, text: str, name: str = "rules.yaml", **options: Any) -> Criteria:
    return load_criteria(write(folder, name, text), registry=REGISTRY, **options)


def problems(folder: Path, text: str, name: str = "rules.yaml", **options: Any) -> list[str]:
    """Return what is wrong with criteria, one line for each problem, without the folder."""
    with pytest.raises(CriteriaError) as caught:
        load(folder, text, name, **options)
    assert str(caught.value) == "\n".join(str(problem) for problem in caught.value.problems)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def value(text: str) -> Any:
    """Return what the key `k` of a YAML text holds; raises CriteriaError with what was found."""
    table, faults = parse_document(text.encode(), "k.yaml")
    if faults.found:
        raise CriteriaError(faults.found)
    return table["k"]
