"""Judge a text by one structure check, the way the core does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_reflex.checks.structure.check import StructureCheck
from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext


def judge(
    text: str | bytes,
    params: dict[str, Any],
    name: str = "a.md",
    base: Path | None = None,
    expected: str = "",
) -> CheckResult:
    """Return what a structure check with `params` says of a text in a file called `name`."""
    data = text.encode() if isinstance(text, str) else text
    folder = base or Path("no-such-folder")
    artifact = Artifact(path=folder / name, name=name, data=data, base=base)
    spec = CheckSpec(type="structure", params=params, expected=expected)
    return StructureCheck().compile(spec, {})(artifact, CheckContext(root=Path()))


def problems(params: dict[str, Any]) -> list[Problem]:
    """Return what is wrong with the parameters of a structure check."""
    return list(StructureCheck().problems(CheckSpec(type="structure", params=params)))
