"""Judges for tests: small programs that read a prompt and vote, and cases for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.agents.judge import AgentJudge
from pytest_reflex.model.judged import Ballot, Case, Ruling, Vote
from tests.slim import slim_python

HEAD = """\
import json, re, sys, time
prompt = sys.stdin.read()
mark = re.search(r"Case number: (\\w+)", prompt)[1]
text = prompt.rpartition(f"BEGIN {mark} -----")[2].partition(f"----- END {mark}")[0]
def say(verdict, *reasons, case=mark, **more):
    print(json.dumps({"case": case, "reasons": list(reasons), "verdict": verdict, **more}))
def counted():
    with open("asked", "a+") as file:
        file.write("x")
        file.seek(0)
        return len(file.read())
"""
# What judges leave beside the artifact, and who listens to a loop.
WRITTEN = ("after", "asked", "open", "prompts", "pid", "told")
BODIES = {
    "pass": 'say("pass", "line 1 is polite")',
    "fail": 'say("fail", "line 1 is rude")',
    "polite": 'say("pass" if "polite" in text else "fail", "I looked for it")',
    "undecided": 'say("undecided", "it does not say")',
    "chatty": 'print("Well."); say("pass", "line 1 is polite"); print("That is all.")',
    "malformed": 'print("pass")',
    "verdict first": 'print(json.dumps({"case": mark, "verdict": "pass", "reasons": ["x"]}))',
    "no reasons": 'say("pass")',
    "another case": 'say("pass", "x", case="0" * 16)',
    "two answers": 'say("pass", "x"); say("fail", "y")',
    "crash": 'sys.exit("out of order")',
    "votes and crashes": 'say("pass", "line 1 is polite"); sys.exit(3)',
    "silent": "",
    "echo": "print(prompt)",
    "echo of the text": "print(text)",
    "second try": 'print("hm") if counted() == 1 else say("pass", "after all")',
    "turns": 'say(["pass", "fail", "pass"][(counted() - 1) % 3], "by turns")',
    "counts": 'counted(); say("pass", "line 1 is polite")',
    "hang": "time.sleep(600)",
}


def program(folder: Path, body: str) -> list[str]:
    """Return the command of a judge; `body` is one of BODIES, or Python."""
    path = folder / "judge.py"
    path.write_text(HEAD + BODIES.get(body, body) + "\n")
    return [slim_python(), "-I", "-S", str(path)]  # it starts sooner so


def judge(folder: Path, body: str, **table: Any) -> AgentJudge:
    return AgentJudge(
        agent_from_table("jury", {"command": program(folder, body), "tries": 1, **table})
    )


def configured(folder: Path, body: str, **table: str) -> None:
    """Write a configuration that has the judge as the agent `jury`."""
    more = "".join(f"{key} = {value}\n" for key, value in table.items())
    command = [word.replace("\\", "/") for word in program(folder, body)]
    loop = f"[loop]\nmay_change = {list(WRITTEN)}\n"
    (folder / "pytest-reflex.toml").write_text(f"{loop}[agents.jury]\ncommand = {command}\n{more}")


def case(text: str = "A polite text.\n", **more: Any) -> Case:
    known: Mapping[str, Any] = {
        "rule_id": "a.tone.polite",
        "description": "The text is polite",
        "rubric": "No insults.",
        "texts": {"a.md": text},
    }
    return Case(**{**known, **more})


def ballot(*words: str, size: int, quorum: int) -> Ballot:
    votes = tuple(Vote(ruling=Ruling(word), agent="jury") for word in words)
    return Ballot(size=size, quorum=quorum, votes=votes)
