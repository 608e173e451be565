"""P5: executable checks against xargs, and in the pool against one after the other."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from subprocess import DEVNULL
from subprocess import run as start

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.targets import Target

COMMANDS = 500
ROUNDS = 7
SLEEPS = 50


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the two ratios, medians of interleaved runs."""
    with tempfile.TemporaryDirectory() as folder:
        artifact = Path(folder, "artifact.md")
        artifact.write_text("# Title\n")
        trivial = _target(artifact, ["true"], COMMANDS)
        short = _target(artifact, ["sleep", "0.02"], SLEEPS)
        registry = built_in_registry()
        jobs: dict[str, Callable[[], object]] = {
            "xargs": _xargs,
            "checks": lambda: evaluate(trivial, registry, workers=2),
            "one by one": lambda: evaluate(short, registry, workers=1),
            "two at once": lambda: evaluate(short, registry, workers=2),
        }
        seconds: dict[str, list[float]] = {name: [] for name in jobs}
        for _ in range(rounds):
            for name, job in jobs.items():
                began = time.perf_counter()
                job()
                seconds[name].append(time.perf_counter() - began)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return [
        {
            "id": "P5",
            "what": f"{COMMANDS} trivial executable checks / xargs -P2",
            "goal": 1.25,
            "ratio": median["checks"] / median["xargs"],
        },
        {
            "id": "P5",
            "what": f"{SLEEPS} commands of 20 ms, two at once / one by one",
            "goal": 0.6,
            "ratio": median["two at once"] / median["one by one"],
        },
    ]


def _xargs() -> None:
    numbers = "\n".join(map(str, range(COMMANDS))).encode()
    start(["xargs", "-P2", "-n1", "true"], input=numbers, stdout=DEVNULL, check=True)


def _target(artifact: Path, command: list[str], count: int) -> Target:
    rules = tuple(
        Rule(
            id=f"a.bench.rule-{number}",
            description="bench",
            severity=Severity.FAIL,
            weight=Fraction(2),
            level=Level.A,
            checks=(CheckSpec(type="executable", params={"command": command}),),
        )
        for number in range(count)
    )
    criteria = Criteria(name="bench", version=1, thresholds={Level.A: Fraction(1)}, rules=rules)
    return Target(criteria=criteria, level=Level.A, artifact=artifact, root=artifact.parent)


if __name__ == "__main__":
    for row in run():
        print(f"{row['id']}  {row['what']}: {row['ratio']:.3f} (goal {row['goal']})")
