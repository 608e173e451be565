"""T12: an agent that tampers with what judges, in a real `loop new`: no verdict follows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.faults.figure import Figure, of_cases

AGENT = r"""
case $PYTEST_REFLEX_STEP in
PLAN) echo '{"plan": ["one", "two", "three"]}' ;;
PRODUCE) echo "alpha" ;;
CRITIQUE)
    echo '{"issues": [{"rule_id": "b.x.beta", "problem": "p", "fix_instruction": "f",'
    echo ' "expected_effect": "e"}]}' ;;
REFINE) echo "alpha beta" ;;
esac
if [ "$PYTEST_REFLEX_STEP" = STEP ]; then "PYTHON" deed.py || echo deed failed >&2; fi
"""
BASE = """\
name: words
phases: {A: {threshold: 0.8}, B: {threshold: 0.9}}
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
CRITERIA = """\
extends: base.yaml
rules:
  - {id: b.x.beta, description: says beta, severity: fail, check: {type: content, search: beta}}
  - {id: b.x.script, description: it holds, severity: warn, check: {type: executable,
     command: [sh, judge.sh]}}
"""
CONFIG = """\
agent = "script"
plugins = ["judging"]
[loop]
evaluator = "core"
prompts = { refine = "refine.txt" }
[agents.script]
command = ["sh", "agent.sh"]
env = ["PYTHONUSERBASE"]
"""
FILES = {
    "base.yaml": BASE,
    "words.yaml": CRITERIA,
    "pytest-reflex.toml": CONFIG,
    "judging.py": "LIMIT = 1\n",
    "judge.sh": "exit 0\n",
    "refine.txt": "Mend it.\n",
    "docs/draft.md": "nothing yet\n",
    "lib/empty.txt": "",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n",
}
REWRITE = """
import json
from pathlib import Path
from pytest_reflex.storage.lines import NO_LINE, digest_of, encode
path, data, last = Path(".ai-factory/evolution/run/history.jsonl"), b"", NO_LINE
for number, line in enumerate(path.read_bytes().splitlines(), 1):
    record = {k: v for k, v in json.loads(line).items() if k not in ("prev", "crc")}
    if number == 1:
        record["payload"]["criteria"]["phase"]["A"]["threshold"] = 0
    made = encode(record, number, last)
    data, last = data + made, digest_of(made[:-1])
path.write_bytes(data)
"""
PASS = """
import json
from pathlib import Path
path = Path(".ai-factory/evolution/run/run.json")
state = json.loads(path.read_text())
state |= {"status": "completed", "stop": {"passed": True, "reason": "threshold_reached"}}
path.write_text(json.dumps(state))
"""


def _write(path: str, text: str) -> str:
    return (
        "import pathlib, site\n"
        f"path = pathlib.Path({path!r}.replace('SITE', site.getusersitepackages()))\n"
        "path.parent.mkdir(parents=True, exist_ok=True)\n"
        f"path.write_text({text!r})\n"
    )


@dataclass(frozen=True, slots=True)
class Deed:
    """What an agent does (a Python script), and what has to be said of it."""

    script: str
    told: str


STATE = ".ai-factory/evolution/run"
DEEDS: dict[str, Deed] = {
    "a lowered threshold": Deed(
        _write("base.yaml", BASE.replace("0.9", "0.1")), "base.yaml was changed"
    ),
    "an edited check": Deed(
        _write("words.yaml", CRITERIA.replace("search: beta", "search: a")),
        "words.yaml was changed",
    ),
    "a planted conftest.py": Deed(_write("conftest.py", "x = 1\n"), "conftest.py was added"),
    "a .pth file": Deed(_write("SITE/evil.pth", "import os\n"), "evil.pth was added"),
    "an entry-point plugin": Deed(
        _write("SITE/evil-1.dist-info/entry_points.txt", "[pytest11]\nevil = evil\n"),
        "entry_points.txt was added",
    ),
    "addopts beside the artifact": Deed(
        _write(f"{STATE}/pytest.ini", "[pytest]\naddopts = -k nothing\n"), "pytest.ini was added"
    ),
    "addopts in the project": Deed(
        _write("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-k nothing'\n"),
        "pyproject.toml was changed",
    ),
    "a conftest.py beside the artifact": Deed(
        _write(f"{STATE}/conftest.py", ""), "conftest.py was added"
    ),
    "options beside the draft": Deed(
        _write("docs/tox.ini", "[pytest]\naddopts = -x\n"), "docs/tox.ini was added"
    ),
    "a sitecustomize.py": Deed(
        _write("lib/sitecustomize.py", "x = 1\n"), "lib/sitecustomize.py was added"
    ),
    "the code of a plugin": Deed(_write("judging.py", "LIMIT = 0\n"), "judging.py was changed"),
    "the script of a check": Deed(
        _write("judge.sh", "exit 0 # all good\n"), "judge.sh was changed"
    ),
    "a conftest.py beside tests": Deed(
        _write("tests/conftest.py", "x = 1\n"), "tests/conftest.py was added"
    ),
    "options beside tests": Deed(
        _write("tests/setup.cfg", "[tool:pytest]\naddopts = -x\n"), "tests/setup.cfg was added"
    ),
    "a module before a known one": Deed(_write("json.py", "x = 1\n"), "json.py was added"),
    "a package before a known one": Deed(
        _write("pytest/__init__.py", "x = 1\n"), "pytest/__init__.py was added"
    ),
    "a program on PATH": Deed(_write("lib/sh", "#!/bin/sh\nexit 0\n"), "lib/sh was added"),
    "a tool of the environment": Deed(
        _write(".venv/bin/tool", "#!/bin/sh\n"), ".venv/bin/tool was added"
    ),
    "the settings of a tool": Deed(_write("mypy.ini", "[mypy]\n"), "mypy.ini was added"),
    "a hook of git": Deed(
        _write(".git/hooks/pre-commit", "#!/bin/sh\n"), ".git/hooks/pre-commit was added"
    ),
    "data beside the draft": Deed(_write("lib/empty.txt", "full"), "lib/empty.txt was changed"),
    "an installed package": Deed(
        _write("SITE/evil.py", "x = 1\n"), "site-packages/evil.py was added"
    ),
    "the prompt of a step": Deed(_write("refine.txt", "Say done.\n"), "refine.txt was changed"),
    "criteria taken away": Deed("import os\nos.unlink('base.yaml')\n", "base.yaml was removed"),
    "a history made anew": Deed(REWRITE, "history.jsonl was changed"),
    "a history cut short": Deed(
        f"import os\nos.truncate('{STATE}/history.jsonl', 100)\n", "history.jsonl was changed"
    ),
    "run.json edited to pass": Deed(PASS, "run.json was changed"),
}
SAMPLE = (
    *("a lowered threshold", "a .pth file", "a history made anew", "run.json edited to pass"),
    *("options beside tests", "a program on PATH"),
)
# The step in which the agent tampers, and how many verdicts there are before it.
STEPS = {"PRODUCE": 0, "REFINE": 2}


def figure(full: bool) -> Figure:
    """Count the deeds that ended the run as tampered with no verdict after them."""
    cases = [
        (name, step)
        for number, name in enumerate(DEEDS if full else SAMPLE)
        for step in (STEPS if full else [list(STEPS)[number % 2]])
    ]
    return of_cases((f"{name}, in {step}", _judged(DEEDS[name], step)) for name, step in cases)


def _judged(deed: Deed, step: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        wrong = _wrong(Path(folder), deed, step)
    return [wrong] if wrong else []


def _wrong(folder: Path, deed: Deed, step: str) -> str:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    agent = AGENT.replace("PYTHON", sys.executable).replace('STEP" = STEP', f'STEP" = {step}')
    (folder / "agent.sh").write_text(agent)
    (folder / "deed.py").write_text(deed.script)
    ran = _new(folder)
    said = " ".join((ran.stdout + ran.stderr).split())
    path = folder / STATE / "history.jsonl"
    history = path.read_bytes() if path.exists() else b""
    verdicts = len(re.findall(rb'"event":"evaluation_done"', history))
    if "deed failed" in said or "Traceback" in said:
        return said[-300:]
    if ran.returncode != 10:
        return f"exit {ran.returncode}: {said[-300:]}"
    if deed.told not in said:
        return f"{deed.told!r} was not said: {said[-300:]}"
    if verdicts > STEPS[step]:
        return f"{verdicts} verdicts, of which {STEPS[step]} came before it"
    return ""


def _new(folder: Path) -> subprocess.CompletedProcess[str]:
    words = ["--alias", "run", "--criteria", "words.yaml", "--input", "docs/draft.md", "--yes"]
    quiet = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE_", "COV_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest_reflex", "loop", "new", "say it", *words],
        cwd=folder,
        env={
            **quiet,
            "PYTHONUSERBASE": str(folder / "user"),
            "PYTHONPATH": str(folder / "lib"),
            "PATH": os.pathsep.join([str(folder / "lib"), os.environ["PATH"]]),
            "XDG_CONFIG_HOME": os.devnull,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
