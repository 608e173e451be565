"""The projects in which runs of earlier code were made, and where what they left is kept.

The agents write nothing into a project. They note their calls in the file that CALLS names, and
end the driver (by KILL_BY, which is KILL) at the call whose number KILL_AT has; FAIL names
iterations that fail.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest_reflex
from pytest_reflex.store.lines import NO_LINE, digest_of, encode

HOME = "/earlier"
"""What the folder of a project is called in what is kept; snapshots get the real one again."""
NOTHING = {"CALLS": "", "KILL_AT": "", "KILL_BY": "", "FAIL": ""}
DATA = Path(__file__).parent / "data"
_COUNTED = """\
prompt=$(cat)
[ -z "$CALLS" ] || echo "${PYTEST_REFLEX_STEP:-$PYTEST_REFLEX_ITERATION}" >> "$CALLS"
if [ -n "$KILL_AT" ] && [ "$(wc -l < "$CALLS")" -eq "$KILL_AT" ]; then
    kill "-${KILL_BY:-KILL}" $PPID
    exec sleep 30
fi
"""
_LOOP_AGENT = """\
issue() {
    printf '{"issues": [{"rule_id": "%s", "problem": "p",' "$1"
    printf ' "fix_instruction": "f", "expected_effect": "e"}]}\\n'
}
case $prompt in
*"Uno. Dos."*) text="Uno. Dos." better="Uno. Dos." ;;
*"Uno."*) text="Uno." better="Uno. Dos." ;;
*) text="Nothing yet." better="Uno." ;;
esac
case $prompt in *a.x.one*) rule=a.x.one ;; *) rule=b.x.two ;; esac
case $PYTEST_REFLEX_STEP in
PLAN) echo '{"plan": ["say one", "say two", "look again"]}' ;;
PRODUCE) echo "$text" ;;
CRITIQUE) issue $rule ;;
REFINE) echo "$better" ;;
esac
"""
_CRITERIA = """\
name: words
rules:
  - {id: a.x.one, description: says it, severity: fail, check: {type: content, search: "^Uno[.]"}}
  - {id: b.x.two, description: says that, severity: fail, check: {type: content, search: "Dos[.]"}}
"""
_SCRIPT = """\
[agents.script]
command = ["sh", "agent.sh"]
timeout = 60
env = ["CALLS", "KILL_AT", "KILL_BY", "FAIL"]
"""
_LOOP_CONFIG = f'agent = "script"\n[loop]\nevaluator = "core"\n{_SCRIPT}'
_ITERATE_CONFIG = (
    '[iterate]\nagent = "script"\nunchanged = 0\n'
    f'[iterate.gates.there]\ncommand = "test -e kept.txt"\n{_SCRIPT}'
)
_ITERATE_AGENT = """\
case "$FAIL" in *"$PYTEST_REFLEX_ITERATION"*) echo boom >&2; exit 1 ;; esac
echo "did it"
"""
_SESSION_CONFIG = f'agent = "script"\n[loop]\nrecord = "calls.jsonl"\n{_SCRIPT}'
CODE = "def add(a, b):\n    return a - b\n"
RIGHT = CODE.replace("-", "+")
_TESTS = """\
import pytest
from sums import add

@pytest.mark.reflex_rule(id="a.sums.add")
def test_add():
    assert add(1, 2) == 3
"""
# The second answer is right.
_SESSION_AGENT = """\
case $prompt in
*"return a * b"*) sign="+" ;;
*) sign="*" ;;
esac
printf '{"files": [{"path": "sums.py", \
"text": "def add(a, b):\\\\n    return a %s b\\\\n"}]}\\n' "$sign"
"""
INPUTS = {
    "loop": {
        "agent.sh": _COUNTED + _LOOP_AGENT,
        "words.yaml": _CRITERIA,
        "pytest-reflex.toml": _LOOP_CONFIG,
    },
    "iterate": {
        "agent.sh": _COUNTED + _ITERATE_AGENT,
        "pytest-reflex.toml": _ITERATE_CONFIG,
        "kept.txt": "kept\n",
    },
    "session": {
        "agent.sh": _COUNTED + _SESSION_AGENT,
        "pytest-reflex.toml": _SESSION_CONFIG,
        "pytest.ini": "[pytest]\n",
        "sums.py": CODE,
        "test_sums.py": _TESTS,
    },
}
# Kept under names that no tool takes for its own.
_KEPT_AS = {".ai-factory": "ai-factory", ".rooda": "rooda", "sums.py": "sums.py.txt"}
_NOT_KEPT = (".gitignore", "__pycache__", ".pytest_cache")


def write_inputs(kind: str, folder: Path) -> None:
    """Make the project of a kind of driver, without any run."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in INPUTS[kind].items():
        (folder / name).write_text(text, encoding="utf-8")


def keep(project: Path, kept: Path) -> None:
    """Copy what a run has left in a project, and what it has changed there."""
    shutil.rmtree(kept, ignore_errors=True)
    for path in _files(project):
        name = path.relative_to(project)
        if str(name) not in set().union(*INPUTS.values()) - {"sums.py"}:
            to = kept / _KEPT_AS.get(name.parts[0], name.parts[0]) / Path(*name.parts[1:])
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())


def bring_back(kind: str, kept: Path, project: Path) -> Path:
    """Make a project in which a run has been; return it."""
    names = {name: original for original, name in _KEPT_AS.items()}
    write_inputs(kind, project)
    for path in _files(kept):
        name = path.relative_to(kept)
        to = project / names.get(name.parts[0], name.parts[0]) / Path(*name.parts[1:])
        to.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes()
        if to.match(".rooda/state/*.json"):
            data = data.replace(HOME.encode(), str(project.parent).encode())
        to.write_bytes(data)
    if kind == "session":
        # Held are files outside the project that are no installed packages: with an editable
        # installation our own are.
        ours = sorted(map(str, Path(pytest_reflex.__file__).parent.rglob("*.py")))
        for history in project.rglob("history.jsonl"):
            rewrite(history, lambda value: _with_ours(value, ours))
    return project


def rewrite(journal: Path, change: Callable[[Any], Any]) -> None:
    """Write a journal with other values, and with sums and links that fit."""
    last, lines = NO_LINE, list[bytes]()
    for line in journal.read_text("utf-8").splitlines():
        record = json.loads(line)
        kept = {key: change(record[key]) for key in record if key not in ("seq", "prev", "crc")}
        lines.append(encode(kept, record["seq"], last))
        last = digest_of(lines[-1][:-1])
    journal.write_bytes(b"".join(lines))


def _with_ours(value: Any, ours: list[str]) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        key: [*one, *ours] if key == "read" else _with_ours(one, ours) for key, one in value.items()
    }


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not set(path.parts) & set(_NOT_KEPT):
            yield path
