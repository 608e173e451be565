"""P4: an evaluation made durable, and one as a pytest session in a fork, against a fresh pytest."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.p4_core import _fresh, _suite, _target, _text
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.drivers.reflex.run_integrity import rules_hash
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import Limits
from pytest_reflex.model.targets import Target
from pytest_reflex.session.fork import evaluate_by_pytest

ROUNDS = 11


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the two ratios, medians of interleaved runs."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        artifact = root / "artifact.md"
        (root / "bench.reflex.yaml").write_text(_suite())
        target, registry = _target(artifact), built_in_registry()
        files = _started(root, target)
        seconds: dict[str, list[float]] = {"fresh": [], "durable": [], "fork": []}
        for number in range(rounds):
            artifact.write_text(_text(number))
            seconds["fresh"].append(_fresh(root))
            began = time.perf_counter()
            evaluation = evaluate(target, registry)
            files.commit(
                StepOutcome(
                    kind=EventKind.EVALUATION_DONE,
                    step=Step.EVALUATE,
                    payload={"evaluation": evaluation.to_json()},
                )
            )
            seconds["durable"].append(time.perf_counter() - began)
            began = time.perf_counter()
            assert evaluate_by_pytest(target, registry).passed
            seconds["fork"].append(time.perf_counter() - began)
        files.close()
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return [
        {
            "id": "P4",
            "what": "50 content checks again, core and durable state / fresh python -m pytest",
            "goal": 1 / 40,
            "ratio": median["durable"] / median["fresh"],
        },
        {
            "id": "P4",
            "what": "50 content checks again, pytest in a fork / fresh python -m pytest",
            "goal": 1 / 4,
            "ratio": median["fork"] / median["fresh"],
        },
    ]


def _started(root: Path, target: Target) -> RunFiles:
    """Return the files of a run that has begun."""
    files = RunFiles.create(root / "evolution", "bench", None)
    payload = {
        "task_alias": files.alias,
        "task": {"prompt": "bench", "ideal_result": "bench"},
        "criteria": target.criteria.to_json(),
        "limits": Limits().to_json(),
        "level": Level.A.value,
        "seal": rules_hash(target.criteria),
        "setup": {},
    }
    files.commit(StepOutcome(kind=EventKind.RUN_STARTED, step=Step.PLAN, payload=payload))
    return files


if __name__ == "__main__":
    for figure in run():
        print(figure)
