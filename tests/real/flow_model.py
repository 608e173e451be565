"""A small model for the example of a flow: it sees what Claude Code's tools read, and writes files.

Which call is next follows from the results that the conversation has, so nothing is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

Call = tuple[str, Mapping[str, Any]]
# What is wrong in the example, by function: the text as it is, and as it should be.
FIXES: Mapping[str, tuple[str, str]] = {
    "with_tax": ("price * percent / 10\n", "price * percent / 100\n"),
    "discounted": ("if pieces > 10 else", "if pieces >= 10 else"),
}
CODE = "prices.py"
TESTS = "python -m unittest -q check_prices"
_DECIDES = re.compile(r"^# Your answer\n\nWrite (\S+)/controller-output\.md\.", re.MULTILINE)
_ACTS = re.compile(r"^- Write into (\S+)/actuator-output\.md what you have done", re.MULTILINE)
_SENSOR = re.compile(r"^- \S+: (\S+/sensor-\S+-output\.md) \(target: ", re.MULTILINE)


def next_call(
    prompt: str, results: Sequence[str], tools: Collection[str], *, runs_tests: bool = False
) -> Call | str | None:
    """Return the next call of a conversation about a prompt of a flow, None where it is done.

    A controller without the tool Write answers with a text. Where `runs_tests`, an actuator tries
    to run them, as models do whatever they are told.
    """
    if found := _DECIDES.search(prompt):
        reads = [*dict.fromkeys(_SENSOR.findall(prompt)), CODE]
        if len(results) == len(reads):
            text = _decision(results[:-1], results[-1])
            path = f"{found[1]}/controller-output.md"
            return ("Write", {**_file(path), "content": text}) if "Write" in tools else text
        return _read(reads, results)
    if found := _ACTS.search(prompt):
        return _act(found[1], results, runs_tests=runs_tests and "Bash" in tools)
    return None


def _decision(sensors: Sequence[str], code: str) -> str:
    met = all("status: pass" in text for text in sensors)
    wrong = [name for name, (old, _) in FIXES.items() if old in f"{code}\n"]
    return (
        f"---\ntarget-met: {str(met).lower()}\n---\n"
        f"## Gap Analysis\n\nWrong: {', '.join(wrong) or 'nothing'}.\n\n"
        f"## Action Plan\n\n- Correct {[*wrong, 'nothing'][0]} in {CODE}\n\n"
        "Its test says what is right.\n"
    )


def _act(folder: str, results: Sequence[str], *, runs_tests: bool) -> Call | None:
    reads = [f"{folder}/controller-output.md", CODE]
    if len(results) < len(reads):
        return _read(reads, results)
    plan = results[0].partition("## Action Plan")[2]
    name = next(name for name in FIXES if name in plan)
    old, new = FIXES[name]
    done = f"## What Was Done\n\nCorrected {name}.\n\n## Files Changed\n\n- {CODE}\n"
    calls: list[Call] = [
        ("Edit", {**_file(CODE), "old_string": old, "new_string": new}),
        ("Write", {**_file(f"{folder}/actuator-output.md"), "content": done}),
    ]
    if runs_tests:
        calls.append(("Bash", {"command": TESTS, "description": "Run the tests"}))
    made = len(results) - len(reads)
    return calls[made] if made < len(calls) else None


def _read(paths: Sequence[str], results: Sequence[str]) -> Call | None:
    """Return the call that reads the first file which was not read yet."""
    return ("Read", _file(paths[len(results)])) if len(results) < len(paths) else None


def _file(path: str) -> Mapping[str, str]:
    return {"file_path": "{cwd}/" + path}
