"""Known AI tools played by a small program: what each prints when it works, fails, or is refused.

What is printed was seen with the real client (claude, codex) or is what the tool's documentation
shows.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLAN = '{"plan": ["a", "b", "c"]}'

PLAYER = """\
import json, pathlib, sys
here = pathlib.Path(__file__).resolve().parent
play = json.loads((here / "play.json").read_text())
argv = sys.argv[1:]
seen = {"argv": argv, "stdin": sys.stdin.buffer.read().decode()}
for number, word in enumerate(argv):
    if word.endswith("/prompt.md"):
        seen["file"] = pathlib.Path(word).read_text()
    if word.endswith("/answer") and play["file"] is not None:
        pathlib.Path(word).write_text(play["file"])
(here / "seen.json").write_text(json.dumps(seen))
sys.stdout.write(play["stdout"])
sys.stderr.write(play["stderr"])
sys.exit(play["exit"])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One run of a tool: what it writes, and what has to come of it."""

    stdout: str = ""
    stderr: str = ""
    exit: int = 0
    file: str | None = None
    text: str = PLAN
    error: str = ""
    usd: float | None = None
    tokens: int | None = None
    limited: bool = False
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """How a tool is called: its arguments (names in capitals stand for what varies).

    `edits` are those with which it may change files, None where it never can.
    """

    argv: tuple[str, ...]
    edits: tuple[str, ...] | None
    prompt: str = "stdin"
    table: dict[str, Any] = field(default_factory=dict)
    runs: dict[str, Played]


def install(folder: Path, name: str, played: Played) -> None:
    """Put a program of that name into a folder."""
    script = folder / name
    script.write_text(f"#!{sys.executable}\n{PLAYER}", encoding="utf-8")
    script.chmod(0o755)
    keys = ("stdout", "stderr", "exit", "file")
    play = {key: getattr(played, key) for key in keys}
    (folder / "play.json").write_text(json.dumps(play), encoding="utf-8")


def _line(**event: Any) -> str:
    return json.dumps(event) + "\n"


def _claude(**more: Any) -> str:
    known = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": PLAN,
        "total_cost_usd": 0.0125,
        "usage": {
            "input_tokens": 100,
            "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": 4000,
            "output_tokens": 20,
        },
        "modelUsage": {},
    }
    return _line(**{**known, **more})


def _item(kind: str, **more: Any) -> str:
    return _line(type="item.completed", item={"id": "item_0", "type": kind, **more})


CODEX_START = _line(type="thread.started", thread_id="t") + _line(type="turn.started")
CODEX_RETRY = _line(type="error", message="Reconnecting... 1/5 (stream disconnected)")
CODEX_429 = "exceeded retry limit, last status: 429 Too Many Requests"
GEMINI_429 = {"error": {"type": "Error", "message": "Resource exhausted", "code": 429}}
STEP = {
    "type": "step-finish",
    "cost": 0.01,
    "tokens": {"input": 30, "output": 4, "reasoning": 1, "cache": {"read": 200, "write": 5}},
}


def _opencode(*texts: str) -> str:
    return "".join(
        _line(type="step_start", part={"type": "step-start"})
        + _line(type="text", part={"type": "text", "text": text})
        + _line(type="step_finish", part=STEP)
        for text in texts
    )


def _opencode_error(status: int, message: str, **headers: str) -> str:
    data = {"message": message, "statusCode": status, "responseHeaders": headers}
    return _line(type="error", error={"name": "APIError", "data": data})


TOOLS: dict[str, Tool] = {
    "claude": Tool(
        argv=(
            "-p", "--output-format", "stream-json", "--verbose",
            "--tools", "", "--strict-mcp-config", "--no-session-persistence",
        ),
        edits=(
            "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits",
        ),
        runs={
            "works": Played(stdout=_claude(), usd=0.0125, tokens=4123),
            "fails with status 0": Played(
                stdout=_claude(is_error=True, result="Credit card expired", total_cost_usd=0),
                error="it says that it failed (jsonl-last:is_error): Credit card expired",
                usd=0,
                tokens=4123,
            ),
            "is refused": Played(
                stdout=_claude(
                    is_error=True,
                    api_error_status=429,
                    result="API Error: Request rejected (429) · slow down please",
                    total_cost_usd=0,
                ),
                exit=1,
                error="the tool ran into a limit: API Error: Request rejected (429)",
                usd=0,
                tokens=4123,
                limited=True,
            ),
        },
    ),
    "codex": Tool(
        argv=(
            "exec", "--skip-git-repo-check", "--json", "--sandbox", "read-only", "--ephemeral",
            "--output-schema", "SCHEMA", "-o", "ANSWER", "-",
        ),
        edits=(
            "exec", "--skip-git-repo-check", "--json", "--sandbox", "workspace-write",
            "-o", "ANSWER", "-",
        ),
        runs={
            "works, with error items that end nothing": Played(
                stdout=CODEX_START
                + _item("error", message="Model metadata not found, 429 of them")
                + CODEX_RETRY
                + _item("reasoning", text="I think")
                + _item("agent_message", text=PLAN)
                + _line(type="turn.completed", usage={"input_tokens": 7, "output_tokens": 3}),
                file=PLAN,
                tokens=10,
            ),
            "fails": Played(
                stdout=CODEX_START + _line(type="turn.failed", error={"message": "no such model"}),
                exit=1,
                error="it left with exit status 1: no such model",
            ),
            "is refused": Played(
                stdout=CODEX_START
                + _line(type="error", message=CODEX_429)
                + _line(type="turn.failed", error={"message": CODEX_429}),
                exit=1,
                error=f"the tool ran into a limit: {CODEX_429}",
                limited=True,
            ),
        },
    ),
    "gemini": Tool(
        argv=("--output-format", "json"),
        edits=("--output-format", "json", "--approval-mode", "auto_edit"),
        runs={
            "works": Played(
                stdout=json.dumps(
                    {
                        "response": PLAN,
                        "stats": {"models": {"x": {"tokens": {"total": 41}}}},
                    },
                    indent=2,
                ),
                tokens=41,
            ),
            "reaches its turns": Played(
                stderr='warning\n{\n  "error": {"type": "T", "message": "too many", "code": 53}\n}',
                exit=53,
                error="it left with exit status 53 (the limit of turns was reached): too many",
            ),
            "does not take the input": Played(
                exit=42, error="it left with exit status 42 (the input was refused)"
            ),
            "is refused": Played(
                stderr="Attempt 10 failed\n" + json.dumps(GEMINI_429, indent=2) + "\nbye\n",
                exit=1,
                error="the tool ran into a limit: Resource exhausted",
                limited=True,
            ),
        },
    ),
    "cursor-agent": Tool(
        argv=("-p", "--output-format", "json", "--", "PROMPT"),
        edits=("-p", "--output-format", "json", "--force", "--", "PROMPT"),
        prompt="argument",
        runs={
            "works": Played(stdout=_line(type="result", is_error=False, result=PLAN)),
            "fails with status 0": Played(
                stdout=_line(type="result", is_error=True, result="not signed in"),
                error="it says that it failed (json:is_error): not signed in",
            ),
        },
    ),
    "copilot": Tool(
        argv=("-s", "--no-ask-user"),
        edits=("-s", "--no-ask-user", "--allow-tool=write"),
        runs={
            "works": Played(stdout=PLAN),
            "fails": Played(
                stderr="No authentication information found.\n",
                exit=1,
                error="it left with exit status 1: No authentication information found.",
            ),
        },
    ),
    "kiro-cli": Tool(
        argv=("chat", "--no-interactive"),
        edits=("chat", "--no-interactive", "--trust-tools=fs_read,fs_write"),
        runs={
            "works": Played(stdout=PLAN),
            "has no server": Played(
                exit=3, error="it left with exit status 3 (an MCP server did not start)"
            ),
        },
    ),
    "aider": Tool(
        argv=(
            "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-git", "--no-stream",
            "--no-pretty", "--no-suggest-shell-commands", "--no-check-update",
            "--no-show-release-notes", "--map-tokens", "0", "--chat-history-file", "/dev/null",
            "--input-history-file", "/dev/null", "--message-file", "FILE", "--file", "ANSWER",
        ),
        edits=None,
        prompt="file",
        runs={
            "works, with chatter beside": Played(
                stdout="Aider v0.86.1\nModel: x\n\nApplied edit to answer\n", file=PLAN
            ),
            "fails with status 0": Played(
                stdout="litellm.AuthenticationError: no key\n",
                error="it did not write its answer to {answer_file}",
            ),
        },
    ),
    "llm": Tool(
        argv=("--no-stream", "-m", "small"),
        edits=None,
        table={"model": "small"},
        runs={
            "works": Played(stdout=PLAN + "\n", text=PLAN + "\n"),
            "fails": Played(
                stderr="Error: No key found\n",
                exit=1,
                error="it left with exit status 1: Error: No key found",
            ),
        },
    ),
    "ollama": Tool(
        argv=("run", "--hidethinking", "small"),
        edits=None,
        table={"model": "small"},
        runs={
            "works": Played(stdout=PLAN),
            "fails": Played(
                stderr="Error: model 'small' not found\n",
                exit=1,
                error="it left with exit status 1: Error: model 'small' not found",
            ),
        },
    ),
    "opencode": Tool(
        argv=("run", "--format", "json"),
        edits=("run", "--format", "json"),
        runs={
            "works in two steps": Played(
                stdout=_opencode("I look at it first.", PLAN), usd=0.02, tokens=480
            ),
            "fails with status 0": Played(
                stdout=_opencode_error(401, "bad key"),
                error="it says that it failed (jsonl-last:error): bad key",
            ),
            "is refused": Played(
                stdout=_opencode_error(429, "slow down", **{"retry-after": "12"}),
                exit=1,
                error="the tool ran into a limit: slow down",
                limited=True,
                retry_after=12.0,
            ),
        },
    ),
    "qwen": Tool(
        argv=(),
        edits=("--approval-mode", "auto-edit"),
        runs={
            "works": Played(stdout=PLAN),
            "fails": Played(
                stderr="no key\n", exit=1, error="it left with exit status 1: no key"
            ),
        },
    ),
    "droid": Tool(
        argv=("exec", "-o", "json", "-f", "FILE"),
        edits=("exec", "-o", "json", "--auto", "low", "-f", "FILE"),
        prompt="file",
        runs={
            "works": Played(stdout=_line(type="result", is_error=False, result=PLAN)),
            "fails with status 0": Played(
                stdout=_line(type="result", is_error=True, result="insufficient permission"),
                error="it says that it failed (json:is_error): insufficient permission",
            ),
        },
    ),
}  # fmt: skip
