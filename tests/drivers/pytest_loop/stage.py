"""A project whose tests are red, and loops over its session whose agent is a script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.storage.journal import read_journal

CODE = "def add(a, b):\n    return a - b\n\n\ndef half(a):\n    return a\n"
RIGHT = CODE.replace("a - b", "a + b").replace("return a\n", "return a / 2\n")
TESTS = """\
import pytest
from sums import add, half

@pytest.mark.reflex_rule(id="a.sums.add")
def test_add():
    assert add(1, 2) == 3

@pytest.mark.reflex_rule(id="b.sums.half", severity="warn")
def test_half():
    assert half(4) == 2

def test_without_a_mark():
    assert add(0, 0) == 0
"""
CONFIG = """\
agent = "script"
[agents.script]
command = [{python!r}, "agent.py"]
timeout = 60
"""
START = """\
import json, os, pathlib, sys, time
prompt = sys.stdin.read()
log = pathlib.Path({log!r})
with log.open("a") as file:
    file.write("call\\n")
calls = log.read_text().count("call")
code = pathlib.Path("sums.py")
def fix():
    text = code.read_text().replace("a - b", "a + b")
    code.write_text(text.replace("return a\\n", "return a / 2\\n"))
"""


class Project:
    """A folder with two rules that fail; `agent` is what its scripted agent does at each call.

    The agent counts its calls in `log`, beside the folder: in it nothing but artifacts may change.
    """

    alias = "make-the-tests-pass"

    def __init__(self, folder: Path, agent: str = "fix()") -> None:
        self.folder = folder
        self.log = folder.with_name(f"{folder.name}.calls")
        self.write("sums.py", CODE)
        self.write("test_sums.py", TESTS)
        self.write("pytest.ini", "[pytest]\n")
        self.write("pytest-reflex.toml", CONFIG.format(python=sys.executable))
        self.agent(agent)

    def agent(self, acts: str) -> None:
        """Have the agent do something else."""
        self.write("agent.py", f"{START.format(log=str(self.log))}{acts}\n")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name: str = "sums.py") -> str:
        return (self.folder / name).read_text("utf-8")

    def arguments(self, *arguments: str) -> list[str]:
        return ["-p", "pytest_reflex.plugin", "-p", "no:cacheprovider", *arguments]

    def new(self, *arguments: str) -> list[str]:
        named = ("--reflex-loop", "--reflex-artifact=sums.py", "--reflex-yes")
        return self.arguments(*named, *arguments)

    def play(self, *arguments: str) -> int:
        """Run a new loop with its driver in this process; its sessions have their own."""
        return self.run(*self.new(*arguments))

    def run(self, *arguments: str) -> int:
        with chdir(self.folder):
            return int(pytest.main(list(arguments)))

    def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start a new loop in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *self.new(*arguments)],
            cwd=self.folder,
            env={**(environment or os.environ), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def run_folder(self) -> Path:
        return self.folder / ".ai-factory/evolution" / self.alias

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run_folder / "run.json").read_text("utf-8"))
        return found

    def stop(self) -> tuple[str, str]:
        stop = self.state()["stop"]
        return stop["reason"], stop.get("detail", "")

    def events(self, kind: str = "") -> Iterator[dict[str, Any]]:
        """Yield the events, or what the events of one kind say."""
        for event in read_journal(self.run_folder / "history.jsonl").records:
            if not kind:
                yield event
            elif event["event"] == kind:
                yield event["payload"]

    def calls(self) -> int:
        return self.log.read_text("utf-8").count("call") if self.log.exists() else 0


def wait_for_change(project: Project) -> None:
    """Wait until an agent has changed the code."""
    deadline = time.monotonic() + 60
    while project.read() == CODE:
        assert time.monotonic() < deadline, "the agent did not come to it"
        time.sleep(0.05)
