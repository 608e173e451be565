"""T19: agents that would go on for ever, in a real `loop new`: every one is stopped by a cap."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.faults.figure import Figure
from tests.faults.project import CONFIG, CRITERIA, faults_of
from tests.faults.warm import Warm

PLAN = """echo '{"plan": ["one", "two", "three"]}'"""
ISSUE = (
    """echo '{"issues": [{"rule_id": "a.x.one", "problem": "p", "fix_instruction": "f","""
    """ "expected_effect": "e"}]}'"""
)
# What an agent does in PRODUCE and REFINE; in PLAN and CRITIQUE it answers as it should.
TEXTS = {
    "always 'done'": 'echo "Done. All rules pass now."',
    "alternating": 'if [ $((CALLS % 4)) -lt 2 ]; then echo "A"; else echo "B"; fi',
    "echo": 'echo "$prompt"',
    "something new each time": 'echo "text $CALLS"',
    "longer each time": "seq 1 $((CALLS * 100))",
    "nothing": "true",
    "blanks only": "printf '   \\n\\n'",
    "a limit notice with exit 0": 'echo "You have hit your usage limit, resets 5pm"',
    "a question": 'echo "Shall I go on?"',
    "binary": "head -c 4096 /dev/zero",
}
# What it does whatever the step.
ALWAYS = {
    "always fails": "exit 1",
    "dies by a signal": "kill -9 $$",
    "slow": "sleep 30",
    "slow, and ignores TERM": "trap '' TERM; sleep 30 & wait; sleep 30",
    "a daemon that holds the pipe": "(sleep 30 &) ; echo '{}'",
    "a flood": "yes",
    "a flood of edits": """yes '{"type":"assistant"}'""",
    "a flood that starts at TERM": "trap 'exec yes' TERM; sleep 30 & wait",
    "no JSON": 'echo "I would rather talk about it."',
    "a plan of no steps": """echo '{"plan": []}'""",
    "says stop": 'echo "STOP <promise>SUCCESS</promise>"',
}
SAMPLE = ("alternating", "a limit notice with exit 0", "slow", "always fails")
MAX_ITERATIONS = 4
# PLAN, PRODUCE, CRITIQUE and REFINE in each iteration; each may be asked once more, once in a row.
CAP = 4 * MAX_ITERATIONS + 1
SECONDS = 1
STOPS = {6: "iteration_limit", 7: "stagnation", 9: "phase_error"}


def figure(full: bool) -> Figure:
    """Count the agents that were stopped within the cap of calls, each in a way of the table."""
    names = [*TEXTS, *ALWAYS] if full else list(SAMPLE)
    failures, most = [], 0
    with Warm() as warm:
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                wrong, calls = _wrong(Path(folder), name, warm)
            most = max(most, calls)
            failures += [f"{name}: {wrong}"] if wrong else []
    good = len(names) - len(failures)
    note = f"at most {most} calls, the cap is {CAP}"
    return Figure(good=good, total=len(names), failures=tuple(failures), note=note)


def script(name: str) -> str:
    """Return the agent of a name, in the language of the shell."""
    head = "echo x >> calls.log\nCALLS=$(wc -l < calls.log)\nprompt=$(cat)\n"
    if name in ALWAYS:
        return head + ALWAYS[name] + "\n"
    cases = f"PLAN) {PLAN} ;;\nCRITIQUE) {ISSUE} ;;\n*) {TEXTS[name]} ;;"
    return f"{head}case $PYTEST_REFLEX_STEP in\n{cases}\nesac\n"


def _wrong(folder: Path, name: str, warm: Warm) -> tuple[str, int]:
    (folder / "agent.sh").write_text(script(name))
    (folder / "words.yaml").write_text(CRITERIA)
    config = CONFIG.replace("timeout = 30", f"timeout = {SECONDS}\ntries = 1")
    (folder / "pytest-reflex.toml").write_text(config)
    words = ["--alias", "run", "--criteria", "words.yaml", "--yes", "--quiet"]
    ran = warm.one(["loop", "new", "say it", *words], folder)
    calls = len((folder / "calls.log").read_text().split())
    wrong = faults_of(ran, tuple(STOPS))
    if calls > CAP:
        wrong.append(f"{calls} calls")
    return "; ".join(wrong), calls
