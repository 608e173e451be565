"""T10: secrets of our environment and configuration, echoed by a tool, are kept nowhere.

Forty are planted: five kinds, in eight ways that a tool may write them. All files that a run
leaves (a recording too) and all output are searched for any ten characters of a value, plain and in
base64, hexadecimal or percent-encoded. Left out are the configuration, which holds one, and the
artifact with its changes, which keeps its bytes: a secret there is for rules to find.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import random
import string
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock
from urllib.parse import quote

from pytest_reflex.cli.main import main
from tests.faults.figure import Figure, of_cases

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
NAMED = ("PLANTED_API_KEY", "PLANTED_TOKEN", "PLANTED_PASSWORD")
TOOL = """\
import base64, json, os, sys, time, urllib.parse
sys.stdin.buffer.read()
step = os.environ["PYTEST_REFLEX_STEP"]
values = [os.environ[n] for n in ("PLANTED_API_KEY", "PLANTED_TOKEN", "PLANTED_PASSWORD")]
values += [sys.argv[2], sys.argv[4]]
issue = {"rule_id": "a.x.alpha", "fix_instruction": "f", "expected_effect": "e"}
def answer(plan="a", artifact="beta", problem="p"):
    print({
        "PLAN": json.dumps({"plan": [plan, "b", "c"]}),
        "PRODUCE": artifact,
        "CRITIQUE": json.dumps({"issues": [{**issue, "problem": problem}]}),
        "REFINE": artifact + " more",
    }[step])
all_of_them = " | ".join(values)
"""
WAYS = {
    "in its answers": "answer(all_of_them, all_of_them, all_of_them)",
    "on stderr": "sys.stderr.write(all_of_them); answer()",
    "in an error that is cut": "sys.stderr.write('y' * 270 + all_of_them); sys.exit(1)",
    "in an answer that is refused and cut": "print('z' * 1980 + all_of_them)",
    "in base64": (
        "b = lambda t: base64.b64encode(t.encode()).decode()\n"
        "t = ' '.join(b(p + v + 'x') for v in values for p in ('', 'u:', 'us:'))\n"
        "answer(t, t, t)"
    ),
    "in a structured error": (
        "print(json.dumps({'error': {'message': 'bad key ' + all_of_them}})); sys.exit(2)"
    ),
    "cut off by a time-out": (
        "sys.stdout.write('partly ' + values[0][:12]); sys.stdout.flush()\n"
        "sys.stderr.write(all_of_them); sys.stderr.flush(); time.sleep(60)"
    ),
    "percent-encoded and in hexadecimal": (
        "t = ' '.join(urllib.parse.quote(v, safe='') + ' ' + v.encode().hex() for v in values)\n"
        "answer(t, t, t)"
    ),
}
NEW = ("loop", "new", "say", "--criteria", "words.yaml", "--yes")
WINDOW = 10
SAMPLE = ("in base64",)


def figure(full: bool) -> Figure:
    """Run a loop for each way; a case is one value in one way."""
    chosen = WAYS if full else {name: WAYS[name] for name in SAMPLE}
    return of_cases(case for number, name in enumerate(chosen) for case in _cases(number, name))


def _cases(number: int, way: str) -> Iterator[tuple[str, list[str]]]:
    values = _values(random.Random(number))
    with tempfile.TemporaryDirectory(prefix="reflex-planted-") as folder:
        written = _everything_written(Path(folder), WAYS[way], values)
    for kind, value in values.items():
        found = [place for place, text in written.items() if _shows(text, value)]
        yield f"{kind} {way}", [f"found in {place}" for place in found]


def _values(choice: random.Random) -> dict[str, str]:
    letters = string.ascii_letters + string.digits
    tail = ["".join(choice.choices(letters, k=24)) for _ in range(5)]
    return {
        "a known prefix": f"sk-ant-api03-{tail[0]}",
        "an unknown prefix": tail[1],
        "quotes and signs": f"p\"w'\\{tail[2]}/+=é",
        "a reference in the command": f"ref-{tail[3]}",
        "a value in the command": f"lit-{tail[4]}",
    }


def _everything_written(project: Path, body: str, values: Mapping[str, str]) -> dict[str, str]:
    """Drive a loop, look at it, and return all that was written, by where it stands."""
    first, second, third, referred, literal = values.values()
    (project / "words.yaml").write_text(CRITERIA)
    (project / "tool.py").write_text(TOOL + body + "\n")
    command = [sys.executable, "tool.py", "--key", "$PLANTED_REFERENCE", "--token", literal]
    (project / "pytest-reflex.toml").write_text(
        'agent = "tool"\n[loop]\nevaluator = "core"\nmax_iterations = 2\n'
        f"[agents.tool]\ncommand = {json.dumps(command)}\nenv = {json.dumps(NAMED)}\n"
        'failure = "json:error"\ntimeout = 1\ngrace = 0.2\n'
    )
    planted = dict(zip(NAMED, (first, second, third), strict=True))
    output = io.StringIO()
    with (
        contextlib.chdir(project),
        mock.patch.dict(os.environ, {**planted, "PLANTED_REFERENCE": referred}),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        main([*NEW, "--record", "calls.jsonl"])
        for command_line in ("loop status", "loop status --json", "doctor", "config --json"):
            main(command_line.split())
    found = {
        path.name: path.read_text("utf-8", "backslashreplace")
        for path in project.rglob("*")
        if path.is_file() and path.name != "pytest-reflex.toml"
    }
    artifact = found.pop("artifact.md", "")
    said = output.getvalue().replace(artifact, "") if artifact else output.getvalue()
    return {**found, "history.jsonl": _no_deltas(found["history.jsonl"]), "the output": said}


def _no_deltas(history: str) -> str:
    events = [json.loads(line) for line in history.splitlines()]
    for event in events:
        event["payload"].pop("delta", None)
    return "\n".join(json.dumps(event, ensure_ascii=False) for event in events)


def _shows(text: str, value: str) -> bool:
    """Return whether a part of a value is in a text, plain or encoded."""
    data = value.encode()
    forms = [value, json.dumps(value)[1:-1], quote(value, safe=""), data.hex()]
    for shift in range(3):
        first, end = -(-shift * 4 // 3), (shift + len(data)) * 4 // 3
        forms.append(base64.b64encode(b"\0" * shift + data).decode()[first:end])
    return any(
        form[at : at + WINDOW] in text
        for form in forms
        for at in range(max(len(form) - WINDOW, 0) + 1)
    )
