"""A project with a goal, and a client that is about to stop in it: payloads as it sends them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_reflex.cli.main import main

PAYLOADS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "payloads.json").read_text()
)
"""What clients sent the first time and after they were held, but for names of a machine."""
RECORDED = PAYLOADS["claude, first"]
MINE = RECORDED["session_id"]
OTHER = "11111111-1111-4111-8111-111111111111"

ANSWER = Draft202012Validator(
    {
        "type": "object",
        "properties": {"decision": {"const": "block"}, "reason": {"type": "string"}},
        "dependentRequired": {"decision": ["reason"], "reason": ["decision"]},
        "additionalProperties": False,
    }
)
"""What Claude Code takes from a Stop hook, and that we say no more than that."""


def goal(status: Any, /, **more: Any) -> dict[str, Any]:
    """Return a state file as another program writes it by hand."""
    return {"spec": "do it", "criteriaStatus": status, "exit_signal": False, **more}


@dataclass
class Desk:
    """One project; `monkeypatch` and `capsys` are those of the test."""

    project: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    told: str = ""
    payload: dict[str, Any] = field(default_factory=lambda: dict(RECORDED))

    @property
    def state_file(self) -> Path:
        return self.project / ".loop" / "state.json"

    def write(self, state: Any) -> None:
        """Write the state file; text and bytes as they are."""
        self.state_file.parent.mkdir(exist_ok=True)
        if isinstance(state, bytes):
            self.state_file.write_bytes(state)
        else:
            text = state if isinstance(state, str) else json.dumps(state)
            self.state_file.write_text(text)

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.state_file.read_text())
        return found

    def run(self, *words: str, stdin: bytes = b"") -> tuple[int, str]:
        """Run the command line in the project; return exit status and standard output."""
        self.monkeypatch.chdir(self.project)
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capsys.readouterr()
        status = main(["hook", *words])
        said = self.capsys.readouterr()
        self.told = said.err
        return status, said.out

    def send(self, data: bytes, *words: str) -> dict[str, Any]:
        """Return the answer to a payload: one document in the client's form, exit status 0."""
        status, out = self.run("stop", *words, stdin=data)
        assert status == 0
        answer: dict[str, Any] = json.loads(out)
        ANSWER.validate(answer)
        return answer

    def stop(self, *words: str, **payload: Any) -> str:
        """Return why a client is held, empty where it may stop."""
        data = {**self.payload, "cwd": str(self.project), **payload}
        sent = {key: value for key, value in data.items() if value is not ...}
        return str(self.send(json.dumps(sent).encode(), *words).get("reason", ""))

    def approve(self, *words: str) -> None:
        """Have a person install the hook, and approve what it runs."""
        assert self.run("install", "--yes", *words)[0] == 0, self.told


def without_hook(state: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if key != "hook"}
