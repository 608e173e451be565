"""Judge code by one check of type `code`, the way the core does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_reflex.checks.code.check import CodeCheck
from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext


def judge(
    text: str | Path, aspect: str, name: str = "a.py", *, root: Path | None = None, **params: Any
) -> CheckResult:
    """Return what a check says of a text in a file called `name`, or of a folder."""
    if isinstance(text, Path):
        artifact = read_artifact(text, name=text.name)
    else:
        artifact = Artifact(path=Path("no-such-folder") / name, name=name, data=text.encode())
    variables = params.pop("variables", {})
    spec = CheckSpec(type="code", params={"aspect": aspect, **params})
    return CodeCheck().compile(spec, variables)(artifact, CheckContext(root=root or Path()))


def problems(**params: Any) -> list[Problem]:
    return list(CodeCheck().problems(CheckSpec(type="code", params=params)))
