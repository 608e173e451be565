"""Prompts larger than an argument may be: they arrive whole, or are refused by name."""

from __future__ import annotations

import hashlib
from functools import partial

from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.model.enums import Step
from tests.agents.making import request
from tests.faults.figure import Figure, of_cases

SIZES = {"200 KB": 200_000, "5 MB": 5_000_000}
_CHARACTERS = "aä€😀\n\r\t'\"$`\\\0"
WAYS = {
    "stdin": CommandAgent(name="a", command=("sha256sum",)),
    "file": CommandAgent(name="a", command=("sha256sum", "{prompt_file}"), prompt="file"),
}


def figure(full: bool) -> Figure:
    """Give a tool prompts of every size by every way, and compare what it got."""
    cases = [
        (f"{size}, {way}", partial(_arrived, SIZES[size], WAYS[way]))
        for size in SIZES
        for way in WAYS
    ]
    cases += [(f"{size}, argument", partial(_refused, SIZES[size])) for size in SIZES]
    return of_cases([(name, case()) for name, case in cases])


def _text(size: int) -> str:
    return _CHARACTERS * (size // len(_CHARACTERS.encode()))


def _arrived(size: int, agent: CommandAgent) -> list[str]:
    asked = request(Step.PLAN, task=_text(size))
    expected = hashlib.sha256(prompt_for(asked).encode()).hexdigest()
    reply = agent.respond(asked)
    if reply.error:
        return [reply.error]
    return [] if reply.text.split()[0].lstrip("\\") == expected else ["something else arrived"]


def _refused(size: int) -> list[str]:
    agent = CommandAgent(name="a", command=("echo", "{prompt}"), prompt="argument")
    reply = agent.respond(request(Step.PLAN, task=_text(size).replace("\0", "")))
    return [] if "an argument holds at most" in reply.error else [reply.error or "it was taken"]
