"""P4: evaluating 50 content checks again through the core against a fresh ``python -m pytest``."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from subprocess import DEVNULL
from subprocess import run as start

from pytest_reflex.checks.registry import Registry, built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.targets import Target

ROUNDS = 11
GROWTH_ROUNDS = 400
REPEATS = 20  # evaluations of a changed artifact in one measurement

# What rules ask for: texts, patterns, counts, absences; each ten times with another number.
FORMS = (
    {"search": "section {n} of the handbook", "literal": True},
    {"search": r"^## Section {n}$"},
    {"search": r"^\s*-\s+item {n}\b", "min_count": 1},
    {"search": r"TODO|FIXME {n}", "negate": True},
    {"search": r"https?://\S+/page-{n}\b", "max_count": 3},
)


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the ratio of the times (medians of interleaved runs) and the growth of memory."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        artifact = root / "artifact.md"
        artifact.write_text(_text(0))
        (root / "bench.reflex.yaml").write_text(_suite())
        target, registry = _target(artifact), built_in_registry()
        seconds: dict[str, list[float]] = {"core": [], "pytest": []}
        for number in range(rounds):
            seconds["pytest"].append(_fresh(root))
            seconds["core"].append(_again(target, registry, number))
        before = _memory()
        for number in range(GROWTH_ROUNDS // REPEATS):
            _again(target, registry, rounds + number)
        growth = _memory() / before
    ratio = statistics.median(seconds["core"]) / statistics.median(seconds["pytest"])
    what = "50 content checks again, core / fresh python -m pytest"
    grown = f"memory after {GROWTH_ROUNDS} more rounds / before"
    return [
        {"id": "P4", "what": what, "goal": 0.01, "ratio": ratio},
        {"id": "P4", "what": grown, "goal": 1.05, "ratio": growth},
    ]


def _again(target: Target, registry: Registry, number: int) -> float:
    """Return the seconds of one evaluation of an artifact that has changed each time."""
    spent = 0.0
    for repeat in range(REPEATS):
        target.artifact.write_text(_text(number * REPEATS + repeat))
        began = time.perf_counter()
        evaluation = evaluate(target, registry)
        spent += time.perf_counter() - began
        assert evaluation.passed
    return spent / REPEATS


def _fresh(root: Path) -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    began = time.perf_counter()
    session = [*command, "-p", "pytest_reflex.plugin"]
    start(session, cwd=root, env=environment, stdout=DEVNULL, check=True)
    return time.perf_counter() - began


def _checks() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for number in range(10):
        for form in FORMS:
            search = str(form["search"]).replace("{n}", str(number))
            found.append({"type": "content", **form, "search": search})
    return found


def _target(artifact: Path) -> Target:
    rules = tuple(
        Rule(
            id=f"a.bench.rule-{number}",
            description="bench",
            severity=Severity.FAIL,
            weight=Fraction(2),
            level=Level.A,
            checks=(CheckSpec.from_json(check),),
        )
        for number, check in enumerate(_checks())
    )
    criteria = Criteria(name="bench", version=1, thresholds={Level.A: Fraction(1)}, rules=rules)
    return Target(criteria=criteria, level=Level.A, artifact=artifact, root=artifact.parent)


def _suite() -> str:
    lines = ["criteria: {name: bench, version: 1}", "artifacts: [artifact.md]", "rules:"]
    for number, check in enumerate(_checks()):
        told = ", ".join(f"{key}: {_yaml(value)}" for key, value in check.items())
        lines += [
            f"  - id: a.bench.rule-{number}",
            "    description: bench",
            "    severity: fail",
            f"    check: {{{told}}}",
        ]
    return "\n".join(lines) + "\n"


def _yaml(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def _text(number: int) -> str:
    """Return a document of about 20 KB, another one for each number."""
    lines = [f"# Handbook {number}", ""]
    for section in range(40):
        lines += [f"## Section {section}", "", f"This is section {section} of the handbook.", ""]
        lines += [f"- item {section}, see https://example.org/page-{section} for more"] * 2
        lines += ["", "Some more words that stand here for the reader's benefit. " * 5, ""]
    return "\n".join(lines)


def _memory() -> int:
    """Return the resident memory of this process in pages; 1 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 1


if __name__ == "__main__":
    for row in run():
        print(f"{row['id']}  {row['what']}: {row['ratio']:.4f} (goal {row['goal']})")
