"""A scripted agent: it stands in for an AI tool that works towards a goal.

As a tool would, it reads the prompt, does the step that is due, and says so in the state file.
"""

import json
import pathlib
import re
import sys

WORK = {
    "join words by one hyphen": ('re.sub(r"[^a-z]"', 're.sub(r"[^a-z]+"'),
    "write umlauts as two letters": (
        "text.lower())",
        "text.lower().translate(UMLAUTS))",
    ),
}
UMLAUTS = 'UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})\n\n\ndef slug'

prompt = sys.stdin.read()
step = re.findall(r"^Now: (.*)$", prompt, re.MULTILINE)[-1]
code, state_file = pathlib.Path("slugs.py"), pathlib.Path(".loop/state.json")

if step in WORK:  # do one step
    text = code.read_text("utf-8").replace(*WORK[step])
    if "translate" in text and "UMLAUTS =" not in text:
        text = text.replace("def slug", UMLAUTS)
    code.write_text(text, "utf-8")
pathlib.Path("cause.md").write_text("The pattern took each character for itself.\n", "utf-8")

state = json.loads(state_file.read_text("utf-8"))
state["completedSteps"] = [*state["completedSteps"], step]
state["remainingSteps"] = [one for one in state["steps"] if one not in state["completedSteps"]]
done = not state["remainingSteps"]
for criterion in state["criteria"]:
    if "root cause" in criterion:  # only evidence can show it
        state["criteriaStatus"][criterion] = {
            "met": True,
            "verification": "observation",
            "evidence": "cause.md says what was wrong",
        }
    elif done:  # a claim: the program verifies it
        state["criteriaStatus"][criterion] = True
state["exit_signal"] = done
state_file.write_text(json.dumps(state), "utf-8")
sys.stdout.write(f"Done: {step}\n")
