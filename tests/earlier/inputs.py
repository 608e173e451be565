"""The projects in which runs of earlier code were made: the files of each kind.

The agents note their calls in the file that CALLS names, and end the driver (by KILL_BY, which is
KILL) at the call whose number KILL_AT has; FAIL names iterations that fail. What is here is part of
what was recorded: hashes and prompts of runs that are kept depend on it.
"""

from __future__ import annotations

import json
from pathlib import Path

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
_ENV = 'timeout = 60\nenv = ["CALLS", "KILL_AT", "KILL_BY", "FAIL"]\n'
_SCRIPT = f'[agents.script]\ncommand = ["sh", "agent.sh"]\n{_ENV}'
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

# A flow of two levels: the controller names a point that is open, the actuator closes it.
_FLOW_AGENT = """\
prompt=$(cat)
place=$(printf '%s' "$prompt" | sed -n 's/^.*Write \\([^ ]*controller-output[.]md\\).*$/\\1/p')
plan=$(printf '%s' "$prompt" | sed -n 's/^- Do what the action plan in \\([^ ]*\\) says.*$/\\1/p')
node=${place:-$plan}
node=${node#*/nodes/}
[ -n "$place" ] && role=decide || role=act
[ -z "$CALLS" ] || echo "$role:${node%/*}" >> "$CALLS"
if [ -n "$KILL_AT" ] && [ "$(wc -l < "$CALLS")" -eq "$KILL_AT" ]; then
    kill "-${KILL_BY:-KILL}" $PPID
    exec sleep 30
fi
if [ $role = decide ]; then
    grep -q OPEN note.txt && met=false || met=true
    point=$(grep -m 1 OPEN note.txt)
    form='---\\ntarget-met: %s\\n---\\n## Action Plan\\n\\nClose %s\\n'
    printf -- "$form" $met "${point:-nothing}" > "$place"
else
    point=$(grep -o 'OPEN [0-9]' "$plan")
    sed -i "s/$point/DONE ${point#OPEN }/" note.txt
fi
echo done
"""
_SENSORS = [{"name": "open", "command": "! grep OPEN note.txt"}]
_PLAN, _ACT = ".claude/agents/plan.md", ".claude/agents/act.md"
_NODE = {"type": "loop", "controller": _PLAN, "sensors": _SENSORS}
_INNER = {
    **_NODE,
    "id": "inner",
    "actuator": {"strategy": "direct", "agent": _ACT},
    "termination": {"max_iterations": 1},
}
_FLOW = {
    **_NODE,
    "id": "outer",
    "actuator": {"strategy": "composite", "child": _INNER},
    "termination": {"max_iterations": 2},
}
FLOW = {
    "agent.sh": _FLOW_AGENT,
    "note.txt": "OPEN 1\n",
    "pytest-reflex.toml": f'agent = "script"\n{_SCRIPT}',
    _PLAN: "---\nname: plan\n---\nDecide.\n",
    _ACT: "---\nname: act\n---\nAct.\n",
    ".ai-loop/flow.yaml": json.dumps({"version": 1, "flow": _FLOW}, indent=1) + "\n",
}

# A goal in two steps. Where FAIL is set, all of it is claimed and nothing done.
SPEC = """\
Add the words alpha and beta to notes.txt: `grep alpha notes.txt` finds a line.
Scope: `notes.txt`
Constraints: at most 10 lines; no other file changes.
Steps:
1. add alpha
2. add beta
Success:
- `grep -q alpha notes.txt` exits 0
- `grep -q beta notes.txt` exits 0
Done: `grep -q beta notes.txt` exits 0
"""
_GOAL_AGENT = """\
import json, os, pathlib, re, signal, sys, time

step = re.findall(r"^Now: (.*)$", sys.stdin.read(), re.MULTILINE)[-1]
calls = pathlib.Path(os.environ["CALLS"])
with calls.open("a") as file:
    file.write(step.replace(" ", "-") + "\\n")
if os.environ.get("KILL_AT") == str(len(calls.read_text().splitlines())):
    os.kill(os.getppid(), getattr(signal, "SIG" + (os.environ.get("KILL_BY") or "KILL")))
    time.sleep(30)
path = pathlib.Path(".loop/state.json")
state = json.loads(path.read_text("utf-8"))
lies = bool(os.environ.get("FAIL"))
if not lies:
    pathlib.Path("search.md").write_text("Nothing fits.\\n", "utf-8")
    with open("notes.txt", "a") as file:
        file.write(step.split()[-1] + "\\n")
    state["completedSteps"] = [*state["completedSteps"], step]
    state["remainingSteps"] = [one for one in state["remainingSteps"] if one != step]
done = lies or not state["remainingSteps"]
for criterion in state["criteria"]:
    if "libraries" in criterion:
        seen = {"verification": "observation", "evidence": "search.md says what was found"}
        state["criteriaStatus"][criterion] = {"met": True, **seen}
    elif done:
        state["criteriaStatus"][criterion] = True
state["exit_signal"] = done
path.write_text(json.dumps(state), "utf-8")
print("Done: " + step)
"""
_GOAL = {
    "agent.py": _GOAL_AGENT,
    "notes.txt": "some\n",
    "spec.md": SPEC,
    "pytest-reflex.toml": (
        f'agent = "script"\n[agents.script]\ncommand = ["python3", "agent.py"]\n{_ENV}'
    ),
}
PAYLOAD = '{"session_id": "7f2c", "cwd": ".", "hook_event_name": "Stop"}'
"""What a client sends to the Stop hook."""

# A driver of somebody's own.
_OWN_AGENT = """\
cat > /dev/null
echo fix >> "$CALLS"
if [ -n "$KILL_AT" ] && [ "$(wc -l < "$CALLS")" -eq "$KILL_AT" ]; then
    kill "-${KILL_BY:-KILL}" $PPID
    exec sleep 30
fi
sed -i '0,/OPEN/{/OPEN/d}' note.txt
echo done
"""
_OWN = {
    "agent.sh": _OWN_AGENT,
    "note.txt": "OPEN one\nOPEN two\nOPEN three\nA note.\n",
    "own.py": Path(__file__).with_name("own.py").read_text("utf-8"),
    "pytest-reflex.toml": f'agent = "script"\n{_SCRIPT}',
}

# Rules for a program, and one for a judge; whoever kills stands beside the project, as the judge's
# configuration is part of what is kept of a vote.
_JUDGE = """\
#!/bin/sh
prompt=$(cat)
echo vote >> ../calls
if [ -e ../kill ] && [ "$(wc -l < ../calls)" -eq "$(cat ../kill)" ]; then
    kill -KILL $PPID
    exec sleep 30
fi
mark=$(printf '%s' "$prompt" | sed -n 's/^Case number: //p')
printf '{"case": "%s", "reasons": ["line 3 thanks"], "verdict": "pass"}\\n' "$mark"
"""
_TONE = """\
name: tone
rules:
  - id: a.tone.polite
    description: The reply is polite
    severity: fail
    check: {type: judged, rubric: "Pass: it thanks. Fail: it blames.", votes: 3}
  - id: a.tone.greeting
    description: It greets the reader
    severity: warn
    check: {type: content, search: "^(Hello|Dear) "}
  - id: a.tone.end
    description: It ends with a name
    severity: warn
    check: {type: content, search: "^Bob$"}
"""
_REPLY = "Hello Ada,\n\nthank you for the report. Could you send us the log as well?\n"
_JUDGED = {
    "judge.sh": _JUDGE,
    "tone.yaml": _TONE,
    "reply.md": _REPLY,
    "pytest-reflex.toml": '[loop]\nevaluator = "core"\n[agents.jury]\ncommand = ["./judge.sh"]\n',
}

# What is printed for other programs, and read back by some of our own commands.
_REPORTED = {
    "agent.sh": _COUNTED + _LOOP_AGENT,
    "words.yaml": _CRITERIA,
    "words.reflex.yaml": "criteria: words.yaml\nartifacts: [draft.md]\n",
    "draft.md": "Uno.\n",
    "pytest.ini": "[pytest]\n",
    "pytest-reflex.toml": _LOOP_CONFIG,
}

# Files that are written for people, and read ever after.
_WRITTEN = {
    "words.yaml": _CRITERIA,
    "draft.md": "# Words\n\nUno. Dos.\n\n## Usage\n\n```sh\nsay uno\n```\n",
    "pytest-reflex.toml": 'agent = "script"\n[agents.script]\ncommand = ["sh", "agent.sh"]\n',
}

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
    "flow": FLOW,
    "goal": _GOAL,
    "own": _OWN,
    "judged": _JUDGED,
    "reported": _REPORTED,
    "written": _WRITTEN,
}
REPOSITORIES = ("flow", "goal")
"""Kinds whose projects are repositories of git."""
