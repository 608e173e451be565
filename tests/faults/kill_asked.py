"""A person has asked something of a run, and its driver is killed before or while it takes that up.

All three drivers, each step of theirs, and each request: nothing durable is paid twice, what was
said is heard, and no request is left behind. A request to stop that its driver did not come to ends
a Reflex loop as soon as it is resumed, and can be extended; one of `iterate` binds nobody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_reflex.drivers.common.control import POLL
from pytest_reflex.drivers.common.lease import RUN_DIR
from pytest_reflex.errors import ExitCode
from tests.drivers.pytest_loop.stage import CODE, RIGHT, TESTS
from tests.faults.driven import wait_until
from tests.faults.figure import Figure, of_cases
from tests.process.zoo import gone_within, living_with

SAID = "Say it louder"
ASKED: dict[str, tuple[str, ...]] = {
    "stop": ("stop",), "stop --now": ("stop", "--now"), "feedback": ("feedback",)
}  # fmt: skip
_TIMEOUT = 120.0
# Beside the project: in it nothing may change while an agent or a check is at work.
_SHELL = """\
beside={beside}
hold() {{
    while [ -e "$beside/hold-$1" ]; do touch "$beside/held"; sleep 0.05; done
}}
note() {{
    echo "$1" >> "$beside/calls"
    case $2 in *"Say it louder"*) echo "$1" >> "$beside/heard" ;; esac
    hold "$1"
}}
"""
_LOOP = """\
prompt=$(cat)
note "$PYTEST_REFLEX_STEP" "$prompt"
issue='{"rule_id": "a.x.one", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}'
case $PYTEST_REFLEX_STEP in
PLAN) echo '{"plan": ["say one", "say two", "look again"]}' ;;
PRODUCE) case $prompt in *"Uno."*) echo "Uno." ;; *) echo "Nothing yet." ;; esac ;;
PREPARE) echo '{"checks": [{"rule_id": "a.x.prose", "type": "content", "search": "."}]}' ;;
CRITIQUE) echo '{"issues": ['"$issue"']}' ;;
REFINE) echo "Uno." ;;
esac
"""
_CRITERIA = """\
name: words
rules:
  - {id: a.x.one, description: says it, severity: fail, check: {type: content, search: "Uno[.]"}}
  - {id: a.x.prose, description: "any text at all", severity: warn, check: "it says something"}
  - {id: a.x.run, description: r, severity: fail, check: {type: executable, command: sh check.sh}}
"""
_AGENT = 'agent = "script"\n[agents.script]\ncommand = ["sh", "agent.sh"]\ngrace = 0.5\n'
_SESSION = """\
note REFINE "$(cat)"
printf '{{"files": [{{"path": "sums.py", "text": "%s"}}]}}' '{right}'
"""
_TESTS = f"""\
import pathlib
import time
while all(pathlib.Path("{{beside}}", name).exists() for name in ("hold-EVALUATE", "calls")):
    pathlib.Path("{{beside}}/held").touch()
    time.sleep(0.05)
{TESTS}"""


class Asked:
    """A run of one driver in a folder, whose agents and checks wait where they are held."""

    def __init__(self, folder: Path) -> None:
        self.beside, self.folder = folder, folder / "project"
        self.folder.mkdir(parents=True)
        for name, text in self.files().items():
            (self.folder / name).write_text(text)

    # What a driver's own class says.
    new: Sequence[str]
    again: Sequence[str]
    more: Sequence[str] = ()
    group, name = "loop", "run"
    steps: Sequence[str]
    run_folder: str
    interrupted = "(interrupted)"

    def files(self) -> dict[str, str]:
        raise NotImplementedError

    def requests(self) -> str:
        """Return what stands there of requests."""
        path = self.folder / ".ai-factory/evolution/current.json"
        return path.read_text() if path.exists() else ""

    def taken(self) -> int:
        """Return how often what was said is in the history; the next critique takes it."""
        history = self.folder / self.run_folder / "history.jsonl"
        return history.read_text().count('"event":"feedback_given"')

    def script(self, text: str) -> str:
        return _SHELL.format(beside=self.beside) + text

    def start(self, argv: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", *argv],
            cwd=self.folder,
            env={
                **{k: v for k, v in os.environ.items() if k not in ("CI", "PYTEST_ADDOPTS")},
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "XDG_CONFIG_HOME": os.devnull,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, argv: Sequence[str]) -> tuple[int, str]:
        process = self.start(argv)
        out, _ = process.communicate(timeout=_TIMEOUT * 2)
        return process.returncode, out

    def lines(self, name: str) -> list[str]:
        path = self.beside / name
        return path.read_text().split() if path.exists() else []


_LOOP_FLAGS = ("--alias", "run", "--criteria", "words.yaml", "--yes", "--quiet")


class OfLoop(Asked):
    steps = ("PLAN", "PRODUCE", "PREPARE", "EVALUATE", "CRITIQUE", "REFINE")
    new = ("pytest_reflex", "loop", "new", "say it", *_LOOP_FLAGS)
    again = ("pytest_reflex", "loop", "resume", "run", "--quiet")
    more = ("pytest_reflex", "loop", "extend", "run", "--max-iterations", "+2", "--yes", "--quiet")
    run_folder = ".ai-factory/evolution/run"

    def files(self) -> dict[str, str]:
        return {
            "agent.sh": self.script(_LOOP),
            "check.sh": self.script("hold EVALUATE\n"),
            "words.yaml": _CRITERIA,
            "pytest-reflex.toml": _AGENT.replace("[agents", '[loop]\nevaluator = "core"\n[agents'),
        }


class OfIterate(Asked):
    steps, group, name = ("TOOL", "GATE"), "iterate", "build"
    new = ("pytest_reflex", "iterate", "run", "build", "-n", "3")
    again = ("pytest_reflex", "iterate", "resume", "build")
    run_folder = ".rooda/log/build"
    interrupted = "interrupted"

    def requests(self) -> str:
        path = self.folder / ".rooda/state/build.control.json"
        return path.read_text() if path.exists() else ""

    def taken(self) -> int:
        return int(bool(self.lines("heard")))

    def files(self) -> dict[str, str]:
        gate = (
            '[iterate]\nunchanged = 0\nagent = "script"\n[iterate.gates.g]\ncommand = "sh g.sh"\n'
        )
        return {
            "agent.sh": self.script('note TOOL "$(cat)"\necho "did it"\n'),
            "g.sh": self.script("hold GATE\n"),
            "pytest-reflex.toml": _AGENT.replace("[agents", f"{gate}[agents"),
        }


class OfSession(Asked):
    steps, name = ("REFINE", "EVALUATE"), "make-the-tests-pass"
    _PYTEST = ("pytest", "-p", "pytest_reflex.plugin", "-p", "no:cacheprovider", "--reflex-loop")
    new = (*_PYTEST, "--reflex-artifact=sums.py", "--reflex-yes")
    again = (*_PYTEST, "--reflex-resume")
    more = (*again, "--reflex-max-iterations=+2", "--reflex-yes")
    run_folder = ".ai-factory/evolution/make-the-tests-pass"

    def files(self) -> dict[str, str]:
        right = RIGHT.replace("\n", "\\n")
        return {
            "agent.sh": self.script(_SESSION.format(right=right)),
            "sums.py": CODE,
            "test_sums.py": _TESTS.format(beside=self.beside),
            "pytest.ini": "[pytest]\n",
            "pytest-reflex.toml": _AGENT,
        }


DRIVERS = {"loop": OfLoop, "iterate": OfIterate, "session": OfSession}
SAMPLE = [("loop", "CRITIQUE", "stop"), ("iterate", "TOOL", "feedback")]


def figure(full: bool) -> Figure:
    """Return how many cases came out as they must: all 30, or two."""
    cases = [
        (name, step, asked)
        for name, kind in DRIVERS.items()
        for step in kind.steps
        for asked in ASKED
    ]
    chosen = cases if full else SAMPLE
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        unbroken = {name: _unbroken(Path(folder) / name, name) for name in DRIVERS}
        places = [Path(folder) / str(number) for number in range(len(chosen))]
        calls = [unbroken[name] for name, _, _ in chosen]
        found = list(pool.map(_played, places, chosen, calls))
    names = [f"{asked} in {step} of {name}" for name, step, asked in chosen]
    return of_cases(zip(names, found, strict=True))


def _unbroken(folder: Path, name: str) -> list[str]:
    """Return the calls of a run that nobody breaks."""
    run = DRIVERS[name](folder)
    status, told = run.run(run.new)
    assert status == 0, told
    return run.lines("calls")


def _played(folder: Path, case: tuple[str, str, str], calls: list[str]) -> list[str]:
    name, step, asked = case
    run = DRIVERS[name](folder)
    hold = folder / f"hold-{step}"
    hold.touch()
    process = run.start(run.new)
    try:
        wait_until((folder / "held").exists, _TIMEOUT)
        words = (SAID,) if asked == "feedback" else ()
        verb, *flags = ASKED[asked]
        words = (run.name, *words) if run.group == "iterate" or not words else words
        status, told = run.run(("pytest_reflex", run.group, verb, *words, *flags, "--wait", "0"))
        if asked == "stop":  # it is seen beside the step
            time.sleep(POLL * 1.5)
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        return [f"{type(error).__name__} in {step}"]
    finally:
        process.kill()
        process.communicate()
    wrong = [] if status == 0 else [f"who asked was reported {told}"]
    mark = f"{RUN_DIR}={run.folder / run.run_folder}".encode()
    wrong += [] if gone_within(_TIMEOUT, lambda: [*living_with(mark)]) else ["it is alive"]
    hold.unlink()
    return wrong + _resumed(run, asked, calls)


def _resumed(run: Asked, asked: str, calls: list[str]) -> list[str]:
    """Return what does not hold of what follows the death of a driver."""
    wrong = []
    _, shown = run.run(("pytest_reflex", run.group, "status", run.name))
    if run.interrupted not in shown.lower():
        wrong.append(f"status says {shown[:200]!r}")
    status, told = run.run(run.again)
    if status == ExitCode.USER_STOP and run.more and asked != "feedback":
        status, told = run.run(run.more)
    if status != 0 or "Traceback" in told:
        wrong.append(f"the resume left with {status}: {told[-300:]}")
    if (more := Counter(run.lines("calls")) - Counter(calls)).total() > 1:
        wrong.append(f"paid again: {dict(more)}")
    if missing := Counter(calls) - Counter(run.lines("calls")):
        wrong.append(f"never asked: {dict(missing)}")
    if "stop" in (left := run.requests()) or SAID in left:
        wrong.append(f"a request is left: {left}")
    if run.taken() != int(asked == "feedback"):
        wrong.append(f"what was said was taken {run.taken()} times")
    _, shown = run.run(("pytest_reflex", "runs", "--json"))
    (row,) = json.loads(shown)["runs"]
    if not row["status"].startswith("completed"):
        wrong.append(f"it is {row['status']}")
    return wrong
