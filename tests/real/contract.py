"""How often a small model keeps the contract: ``python -m tests.real.contract --tries 10``.

Asks SmolLM2 the kept prompts of PLAN, CRITIQUE and a judge's vote, each so many times, and counts
the answers that could be used at the first try: by the prompt alone, and held to the form of the
contract as a client's option for a schema does it. ``--prompts tests/real/earlier-prompts`` asks
those of version 1.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_reflex.agents.judge import read_judgement
from pytest_reflex.contracts.steps import read_issues, read_plan
from pytest_reflex.contracts.validate import ContractError, plain_schema
from tests.prompts.version import GOLDEN
from tests.real.smollm import PYTHON, TOOL

FAILED = ("a.completeness.usage", "a.quality.plain")
_CASE = re.compile(r"^Case number: ([0-9a-f]{16})$", re.MULTILINE)


def _critique(answer: str, prompt: str) -> object:
    return read_issues(answer, FAILED)


def _vote(answer: str, prompt: str) -> object:
    found = _CASE.search(prompt)
    assert found
    return read_judgement(answer, found[1])


READERS: Mapping[str, Callable[[str, str], object]] = {
    "loop-plan-1a": lambda answer, prompt: read_plan(answer),
    "loop-critique-1a": _critique,
    "judge-try1": _vote,
}
CONTRACTS = {"loop-plan-1a": "plan", "loop-critique-1a": "critique", "judge-try1": "judgement"}


def kept(name: str, prompt: str, answers: Sequence[str]) -> int:
    """Return how many answers keep the contract; tell of each that does not."""
    good = 0
    for number, answer in enumerate(answers, 1):
        try:
            READERS[name](answer, prompt)
        except ContractError as error:
            print(f"  {name} {number}: {error}", flush=True)
        else:
            good += 1
            print(f"  {name} {number}: kept", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--prompts", type=Path, default=GOLDEN, metavar="FOLDER")
    options = parser.parse_args()
    if not PYTHON.with_name("llm").exists():
        print("llm is not installed in .real/llm: make real-model")
        return 1
    command = [str(PYTHON), str(TOOL), "--tries", str(options.tries)]
    for name, contract in CONTRACTS.items():
        prompt = (options.prompts / f"{name}.txt").read_text("utf-8").partition("=" * 80 + "\n")[2]
        schemas = {"by the prompt alone": (), "by a schema": (json.dumps(plain_schema(contract)),)}
        for how, schema in schemas.items():
            done = subprocess.run(
                [*command, *schema], input=prompt, stdout=subprocess.PIPE, text=True, check=False
            )
            if done.returncode:
                print(f"the model ended with {done.returncode}, before it had answered {name}")
                return 1
            good = kept(name, prompt, json.loads(done.stdout))
            print(f"{name}, {how}: {good} of {options.tries} answers keep the contract", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
