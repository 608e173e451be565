"""An agent that does to the letter what it is told does nothing twice.

It knows nothing but its prompts. REFINE adds what was missing; the next iteration plans and writes
before anything is evaluated again.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import StepRequest
from tests.drivers.reflex.stage import Script, Stage

pytestmark = pytest.mark.variants

CRITERIA = """\
name: readme
rules:
  - id: a.x.title
    description: It begins with a title
    severity: fail
    check: {type: content, search: '\\A# '}
  - id: a.x.part
    description: It has the part
    severity: fail
    hint: "Add `PART`"
    check: {type: content, search: 'PART', literal: true}
  - id: a.x.words
    description: It has the words
    severity: fail
    hint: Add `sort them`
    check: {type: content, search: 'sort them', literal: true}
"""
PARTS = ("## Usage", "License: MIT", "- `tidy .` sorts", "$ tidy --help")
_DATA = re.compile(r"^----- BEGIN (\w{16}) -----\n(.*)^----- END \1 -----$", re.M | re.S)
_QUOTED = re.compile(r"`([^\n]+)`")
_FILLER = ["Keep what is there", "Read it once more", "Give it whole"]


def section(prompt: str, title: str) -> str:
    found = re.search(rf"^## {title}[^\n]*\n\n(.*?)(?=^## [A-Z]|\Z)", prompt, re.M | re.S)
    return found[1] if found else ""


def shown(prompt: str) -> str:
    found = _DATA.search(prompt)
    return found[2] if found else ""


class LiteralWriter(Script):
    """Plans an addition for each finding, and writes each addition of its plan.

    `looks` says where it looks for what is there already: in PLAN at the artifact, or in PRODUCE at
    what REFINE has done.
    """

    def __init__(self, looks: Step) -> None:
        super().__init__(
            plan=self.plan, produce=self.produce, critique=self.critique, refine=self.refine
        )
        self.looks = looks

    def plan(self, request: StepRequest) -> str:
        prompt = prompt_for(request)
        findings = json.loads(section(prompt, "What the last evaluation found") or "[]")
        wanted = [found["hint"] for found in findings if "hint" in found]
        if self.looks is Step.PLAN:
            there = shown(prompt)
            wanted = [hint for hint in wanted if _QUOTED.findall(hint)[0] not in there]
        return json.dumps({"plan": [*wanted, *_FILLER][:5]})

    def produce(self, request: StepRequest) -> str:
        prompt = prompt_for(request)
        text = shown(prompt) or "# tidy\n"
        done = section(prompt, "What REFINE has done already") if self.looks is Step.PRODUCE else ""
        for words in _QUOTED.findall(section(prompt, "Plan")):
            text += "" if words in done else f"\n{words}\n"
        return text

    def critique(self, request: StepRequest) -> str:
        findings = json.loads(section(prompt_for(request), "What the evaluation found"))
        rows = [
            {
                "rule_id": found["rule_id"],
                "problem": "it is missing",
                "fix_instruction": found["hint"],
                "expected_effect": "it passes",
            }
            for found in findings
        ]
        return json.dumps({"issues": rows})

    def refine(self, request: StepRequest) -> str:
        prompt = prompt_for(request)
        words = _QUOTED.findall(section(prompt, "Issues to"))
        return shown(prompt) + "".join(f"\n{one}\n" for one in words)


@pytest.mark.parametrize("looks", [Step.PLAN, Step.PRODUCE])
@pytest.mark.parametrize("part", PARTS)
def test_what_refine_has_added_is_not_added_again(tmp_path: Path, part: str, looks: Step) -> None:
    part = part.replace("`", "")
    stage, script = Stage(tmp_path, CRITERIA.replace("PART", part)), LiteralWriter(looks)
    events = stage.play(script, sequential=True)
    assert events[-1].payload["reason"] == "threshold_reached"
    assert script.asked() == ["PLAN", "PRODUCE", "CRITIQUE", "REFINE", "PLAN", "PRODUCE"]
    text = stage.artifact()
    assert (text.count(part), text.count("sort them")) == (1, 1)
