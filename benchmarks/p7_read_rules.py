"""P7: reading and validating 10,000 rules, positions kept, against PyYAML's C loader alone.

Both sides only compute, in one thread: the time of the processor counts, and of that the least of
all rounds, since other work on the machine can only add to it.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

RULES = 10_000
ROUNDS = 9

RULE = """\
  - id: a.area-{area}.rule-{number:05d}
    description: The document mentions item {number} somewhere
    severity: {severity}
    weight: 2
    check:
      type: content
      search: "{search}"
      expected: item {number} is there
"""
SEARCHES = ("item {number}", "^## Item {number}$", "(?i)item +{number}", "[Ii]tem {number}")


def run(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """Return the ratio of the least times, both sides interleaved in this process."""
    import yaml

    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.criteria.load import load_criteria

    registry = built_in_registry()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.yaml"
        path.write_text(criteria(RULES), encoding="utf-8")
        data = path.read_bytes()
        sides: dict[str, Callable[[], object]] = {
            "ours": lambda: load_criteria(path, registry=registry),
            "theirs": lambda: yaml.load(data, Loader=yaml.CSafeLoader),
        }
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, read in sides.items():
                seconds[name].append(_seconds(read))
    least = {name: min(values) for name, values in seconds.items()}
    return [
        {
            "id": "P7",
            "what": f"{RULES} rules read and validated / PyYAML CSafeLoader alone",
            "goal": "<= 0.35",
            "ratio": least["ours"] / least["theirs"],
        }
    ]


def criteria(count: int) -> str:
    """Return a template with `count` rules of eight lines and one content check each."""
    rules = (
        RULE.format(
            area=number % 50,
            number=number,
            severity="warn" if number % 3 == 0 else "fail",
            search=SEARCHES[number % len(SEARCHES)].format(number=number),
        )
        for number in range(count)
    )
    return "name: many\nrules:\n" + "".join(rules)


def _seconds(read: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    kept = read()
    seconds = time.process_time() - start
    del kept
    return seconds


if __name__ == "__main__":
    print(*run(), sep="\n")
