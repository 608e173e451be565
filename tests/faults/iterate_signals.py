"""F23 for the iteration loop: signals and requests while the tool or a gate is at work.

They come once and twice. Of what is at work a part heeds no TERM.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pytest_reflex.drivers.common.lease import RUN_DIR
from tests.faults.driven import stopped, wait_until
from tests.faults.figure import Figure, of_cases
from tests.faults.signals import heard
from tests.process.zoo import gone_within, living_with, marked

STATUS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129, "SIGQUIT": 131, "SIGTSTP": 0}
# Requests of a person: the iteration goes on to its end, or is ended.
STATUS |= {"stop": 2, "stop --now": 2}
_AGENT = """\
cat > /dev/null
echo "$PYTEST_REFLEX_ITERATION" >> rounds.log
sh hold.sh tool; echo "did it"
"""
# In the second iteration, as long as nobody lets it go; one of the tree heeds no signal.
_HOLD = """\
[ "$PYTEST_REFLEX_ITERATION" = 2 ] && [ -e "hold-$1" ] || exit 0
sh -c 'trap "" TERM INT; sleep 600 & wait' &
touch held; while [ -e "hold-$1" ]; do sleep 0.05; done; kill -9 $!
"""
_CONFIG = """\
[iterate]
agent = "script"
unchanged = 0
[iterate.gates.waits]
command = "sh hold.sh gate"
[agents.script]
command = ["sh", "agent.sh"]
grace = {grace}
"""
_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Case:
    """A signal, who is at work when it comes, and whether it comes once more."""

    signal: str
    where: str
    twice: bool

    def __str__(self) -> str:
        return f"{self.signal} in the {self.where}{' twice' if self.twice else ''}"


def figure(full: bool) -> Figure:
    """Return how many cases came out as they must: all 28, or two."""
    cases = [Case(*case) for case in product(STATUS, ("tool", "gate"), (False, True))]
    sample = [Case("SIGHUP", "gate", False), Case("stop --now", "tool", True)]
    chosen = cases if full else sample
    with tempfile.TemporaryDirectory() as folder, heard(), ThreadPoolExecutor(2) as pool:
        places = [Path(folder) / str(number) for number in range(len(chosen))]
        found = list(pool.map(_played, places, chosen))
    return of_cases(zip(map(str, chosen), found, strict=True))


def _played(folder: Path, case: Case) -> list[str]:
    folder.mkdir()
    (folder / "agent.sh").write_text(_AGENT)
    (folder / "hold.sh").write_text(_HOLD)
    (folder / "pytest-reflex.toml").write_text(
        _CONFIG.format(grace=600 if case.twice and case.signal.startswith("SIG") else 0.5)
    )
    (folder / f"hold-{case.where}").touch()
    with marked() as (env, living):
        process = _started(folder, env, "run", "build", "-n", "3")
        try:
            wait_until((folder / "held").exists)
            _send(process, case, folder, env)
            _, err = process.communicate(timeout=_TIMEOUT)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            return [f"{type(error).__name__}"]
        finally:
            process.kill()
            process.wait()
        mark = f"{RUN_DIR}={folder / '.rooda/log/build'}".encode()
        gone = gone_within(_TIMEOUT, lambda: [*living(), *living_with(mark)])
        wrong = [] if gone else ["something is alive"]
        wrong += _judged(process.returncode, err, case)
        if case.signal != "SIGTSTP":
            wrong += _resumed(folder, env, done=2 if case.signal == "stop" else 1)
    return wrong


def _send(process: subprocess.Popen[str], case: Case, folder: Path, env: dict[str, str]) -> None:
    if case.signal.startswith("stop"):
        wait = "60" if case.signal == "stop --now" and not case.twice else "0"
        for _ in range(1 + case.twice):
            asking = _started(folder, env, *case.signal.split(), "build", "--wait", wait)
            asking.communicate(timeout=_TIMEOUT)
        if case.signal == "stop":
            (folder / f"hold-{case.where}").unlink()
        return
    number = signal.Signals[case.signal]
    process.send_signal(number)
    if case.signal == "SIGTSTP":
        wait_until(lambda: stopped(process.pid))
        process.send_signal(signal.SIGCONT)
        (folder / f"hold-{case.where}").unlink()
    elif case.twice:
        process.send_signal(number)


def _judged(status: int, err: str, case: Case) -> Iterator[str]:
    if status != STATUS[case.signal]:
        yield f"exit {status}, not {STATUS[case.signal]}: {err[-200:]}"
    if "Traceback" in err:
        yield f"a traceback: {err[-300:]}"
    told = "Interrupted. State saved." in err or "Stopped" in err or case.twice
    if case.signal != "SIGTSTP" and not told:
        yield f"it does not say how it goes on: {err[-200:]}"


def _resumed(folder: Path, env: dict[str, str], *, done: int) -> Iterator[str]:
    state = json.loads((folder / ".rooda/state/build.json").read_bytes())
    if (state["iteration"], len(state["elapsed_per_iteration"])) != (done, done):
        yield f"the state says {state}"
    for path in folder.glob("hold-*"):
        path.unlink()
    process = _started(folder, env, "resume", "build")
    _, err = process.communicate(timeout=_TIMEOUT)
    if process.returncode != 0:
        yield f"resume left with {process.returncode}: {err[-200:]}"
    if (folder / ".rooda/state/build.control.json").exists():
        yield "a request is left"
    again = ["2"] if done == 1 else []
    if (folder / "rounds.log").read_text().split() != ["1", "2", *again, "3"]:
        yield "its iterations were " + (folder / "rounds.log").read_text()


def _started(folder: Path, env: dict[str, str], *verb: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest_reflex", "iterate", *verb],
        cwd=folder,
        env={**env, "PYTHONPATH": str(Path(__file__).parents[2]), "XDG_CONFIG_HOME": os.devnull},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
