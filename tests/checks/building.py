"""Short ways to a check, an artifact and a target."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from pytest_reflex.checks.content import ContentCheck
from pytest_reflex.checks.executable import ExecutableCheck
from pytest_reflex.checks.registry import Registry
from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.targets import CheckContext, CheckType, Target

PLACE = Place("rules.yaml", 3, 5)


def content(**params: Any) -> CheckSpec:
    return CheckSpec(type="content", params=params, place=PLACE)


def executable(command: str | list[str], **params: Any) -> CheckSpec:
    return CheckSpec(type="executable", params={"command": command, **params}, place=PLACE)


def document(text: str | bytes, name: str = "a.md") -> Artifact:
    data = text.encode() if isinstance(text, str) else text
    return Artifact(path=Path("/nowhere") / name, name=name, data=data)


def folder(**files: str | bytes) -> Artifact:
    """Return a folder artifact; `__` in a name stands for a slash, `_` for a dot."""
    parts = [
        document(text, name.replace("__", "/").replace("_", ".")) for name, text in files.items()
    ]
    return Artifact(path=Path("/nowhere"), name="docs", files=tuple(parts))


def search(artifact: Artifact | str | bytes, **params: Any) -> CheckResult:
    """Run one content check on a text."""
    found = artifact if isinstance(artifact, Artifact) else document(artifact)
    check = ContentCheck().compile(content(**params), {})
    return check(found, CheckContext(root=Path("/")))


def execute(command: str | list[str], root: Path, **params: Any) -> CheckResult:
    """Run one executable check in `root` on the file `a.md` there."""
    path = root / "a.md"
    if not path.exists():
        path.write_text("# Title\n")
    artifact = Artifact(path=path, name="a.md", data=path.read_bytes())
    check = ExecutableCheck().compile(executable(command, **params), {})
    return check(artifact, CheckContext(root=root))


def registry(*more: CheckType) -> Registry:
    found = Registry()
    known: tuple[CheckType, ...] = (ContentCheck(), ExecutableCheck(), *more)
    for check_type in known:
        found.register(check_type)
    return found


def rule(rule_id: str, *specs: CheckSpec, severity: Severity = Severity.FAIL) -> Rule:
    return Rule(
        id=rule_id,
        description=rule_id,
        severity=severity,
        weight=Fraction(1),
        level=Level.A,
        checks=specs,
    )


def target(
    artifact: Path, *rules: Rule, variables: Mapping[str, Any] | None = None, source: str = ""
) -> Target:
    criteria = Criteria(
        name="test",
        version=1,
        thresholds={Level.A: Fraction(4, 5)},
        rules=rules,
        vars=variables or {},
        source=source,
    )
    return Target(criteria=criteria, level=Level.A, artifact=artifact, root=artifact.parent)
