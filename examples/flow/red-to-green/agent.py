"""A scripted agent: it stands in for an AI tool, as every role of the flow.

As a tool would, it reads the prompt, looks at the files that it names, and writes one.
"""

import pathlib
import re
import sys

FIXES = {
    "with_tax": ("percent / 10\n", "percent / 100\n"),
    "discounted": ("pieces > 10", "pieces >= 10"),
}

prompt = sys.stdin.read()
folder = pathlib.Path(re.findall(r"(\S+)/controller-output\.md", prompt)[-1])
decision = folder / "controller-output.md"
code = pathlib.Path("prices.py")


def decide() -> None:
    readings = [path.read_text() for path in folder.glob("sensor-*-output.md")]
    done = all("\nstatus: pass\n" in text for text in readings)
    wrong = [name for name, (old, _) in FIXES.items() if old in code.read_text()]
    name = wrong[0] if wrong else "nothing"
    decision.write_text(
        f"---\ntarget-met: {str(done).lower()}\n---\n"
        f"## Gap Analysis\n\nWrong: {', '.join(wrong) or 'nothing'}.\n\n"
        f"## Action Plan\n\n- Correct {name} in prices.py\n\nIts test says what is right.\n"
    )


def act() -> None:
    plan = decision.read_text()
    for name, (old, new) in FIXES.items():
        if name in plan and old in code.read_text():
            code.write_text(code.read_text().replace(old, new))
            (folder / "actuator-output.md").write_text(f"Corrected {name} in prices.py.\n")
            return


if "/actuator-output.md" in prompt:
    act()
else:
    decide()
sys.stdout.write("done\n")
