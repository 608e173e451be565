"""What the model server asks a client to do, by mode: one tool call after the other, then words.

How many results a conversation has tells which call is next, so the server remembers nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.real.flow_model import Call, next_call

Item = dict[str, Any]
NOTES = "Read the tests first.\n"
DONE = "Nothing is left to do.\n\n<promise>SUCCESS</promise>"
OUTSIDE = "../outside.md"
ELSEWHERE = "/outside-of-every-project.md"  # in a sandbox of codex, /tmp may be written
RUN = "pytest --junitxml=ran.xml"
_RIGHT, _WRONG = "    return 2 * n\n", "    return n\n"
_CWD = re.compile(r"(?:[Ww]orking directory: |<cwd>)([^\\\"<]+)")
_RESULTS = ("tool_result", "function_call_output", "custom_tool_call_output")

# By mode: the calls of Claude Code's tools, and what codex is given: a patch or a command.
CLAUDE: Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]] = {
    "writes": (("Write", {"file_path": "{cwd}/notes.md", "content": NOTES}),),
    "mends": (
        ("Read", {"file_path": "{cwd}/twice.py"}),
        (
            "Edit",
            {"file_path": "{cwd}/twice.py", "old_string": _WRONG, "new_string": _RIGHT},
        ),
    ),
    "structured": (("StructuredOutput", {"plan": ["a", "b", "c"]}),),
    "outside": (("Write", {"file_path": "{cwd}/" + OUTSIDE, "content": NOTES}),),
    "runs": (("Bash", {"command": RUN, "description": "Run the tests"}),),
}
PATCHES: Mapping[str, str] = {
    "writes": f"*** Begin Patch\n*** Add File: notes.md\n+{NOTES}*** End Patch",
    "mends": f"*** Begin Patch\n*** Update File: twice.py\n@@\n-{_WRONG}+{_RIGHT}*** End Patch",
    "outside": f"*** Begin Patch\n*** Add File: {ELSEWHERE}\n+{NOTES}*** End Patch",
}
COMMANDS: Mapping[str, str] = {"runs": RUN}
FLOWS = ("flow", "flow-runs")  # Claude Code in a flow; in the second mode it tries to run tests

HELD = ("never-done", "done-when-told-twice")  # a client that wants to stop, and a Stop hook
_DONE_FILE = "*** Begin Patch\n*** Add File: done.txt\n+done\n*** End Patch"
CLAIM = "All of it is done."
_TOLD = re.compile(r"\(held \d+ of at most \d+ times\)")


def claude_call(mode: str, body: Item) -> Item | None:
    """Return the next tool use of a conversation or its text, None where nothing is left to say."""
    turns = body.get("messages", [])
    calls, made = CLAUDE.get(mode, ()), _results(turns)
    call: Call | str | None = calls[made] if made < len(calls) else None
    if mode in FLOWS:
        tools = {tool.get("name") for tool in body.get("tools", [])}
        runs = mode == "flow-runs"
        call = next_call(_told(turns), _read(turns), tools, runs_tests=runs)
    if mode in HELD:
        call = _held(mode, body, "messages")
    if call is None:
        return None
    if isinstance(call, str):
        return {"type": "text", "text": call}
    name, given = call
    folder = _folder(body)
    values = {
        key: value.replace("{cwd}", folder) if isinstance(value, str) else value
        for key, value in given.items()
    }
    return {"type": "tool_use", "id": f"toolu_{made}", "name": name, "input": values}


def _held(mode: str, body: Item, key: str) -> Call | str:
    """Return what a model says that takes everything for done until it was told twice."""
    told = len(_TOLD.findall(json.dumps(body[key])))
    if mode == "never-done" or told < 2 or _results(body[key]):
        return CLAIM
    return ("Write", {"file_path": "{cwd}/done.txt", "content": "done\n"})


def codex_call(mode: str, body: Item) -> Item | None:
    """Return the next call of a conversation, None where only words are left."""
    if _results(body.get("input", [])):
        return None
    if mode in HELD:
        return _patch(_DONE_FILE, body) if _held(mode, body, "input") != CLAIM else None
    if patch := PATCHES.get(mode):
        return _patch(patch, body)
    command = COMMANDS.get(mode)
    return _command(command, body) if command else None


def _patch(patch: str, body: Item) -> Item:
    if any(tool.get("name") == "apply_patch" for tool in body.get("tools", [])):
        called = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
        return {"id": "ctc_0", "call_id": "call_0", "status": "completed", **called}
    return _command(f"apply_patch <<'EOF'\n{patch}\nEOF", body)


def _command(command: str, body: Item) -> Item:
    names = [tool.get("name") for tool in body.get("tools", [])]
    if "exec_command" in names:
        name, given = "exec_command", {"cmd": command}
    else:
        name, given = "shell_command", {"command": command}
    called = {"type": "function_call", "name": name, "arguments": json.dumps(given)}
    return {"id": "fc_0", "call_id": "call_0", "status": "completed", **called}


def _results(turns: list[Item]) -> int:
    """Return how many calls of a conversation were answered."""
    return sum(one.get("type") in _RESULTS for one in _items(turns))


def _told(turns: list[Item]) -> str:
    """Return what a person has told in a conversation."""
    first = turns[0]["content"] if turns else ""
    if isinstance(first, str):
        return first
    return "\n\n".join(part["text"] for part in first if part.get("type") == "text")


def _read(turns: list[Item]) -> list[str]:
    """Return the texts of the results of a conversation's calls."""
    found = [one["content"] for one in _items(turns) if one.get("type") == "tool_result"]
    return [
        text if isinstance(text, str) else "".join(part.get("text", "") for part in text)
        for text in found
    ]


def _items(turns: list[Item]) -> Iterator[Item]:
    for turn in turns:
        yield turn
        content = turn.get("content")
        if isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))


def _folder(body: Item) -> str:
    """Return the folder in which the client says that it works."""
    found = _CWD.search(json.dumps(body))
    return found[1].removesuffix("\\n") if found else "/"
