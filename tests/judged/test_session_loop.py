"""A judge in `pytest --reflex-loop`: its votes bear on the session's verdict and on its price."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from pytest_reflex.storage.lock import is_locked
from tests.drivers.pytest_loop.conftest import project
from tests.drivers.pytest_loop.stage import Project
from tests.faults.driven import wait_until
from tests.judged.jurors import HEAD, program
from tests.slim import slim_python

pytestmark = pytest.mark.long

__all__ = ["project"]

SUITE = """\
criteria: {name: tone}
artifacts: [reply.md]
rules:
  - id: a.tone.polite
    description: The reply is polite
    severity: fail
    check: {type: judged, rubric: No insults.}
"""


def test_votes_decide_and_are_paid_for(project: Project) -> None:
    folder: Path = project.folder
    project.agent("fix()\npathlib.Path('reply.md').write_text('A polite text.\\n')")
    project.write("tone.reflex.yaml", SUITE)
    project.write("reply.md", "You broke it.\n")
    judge = program(folder, "polite")
    config = (folder / "pytest-reflex.toml").read_text()
    project.write("pytest-reflex.toml", f"{config}[agents.jury]\ncommand = {judge}\n")
    assert slim_python() in judge
    assert project.play("--reflex-judge=jury") == 0
    state = project.state()
    assert state["spend"]["calls"] == project.calls() + 2
    assert state["evaluation"]["judged"] == 1


# One of its votes ends the loop, whose process id stands in a file, once the one before is durable.
ENDS = """\
import os, pathlib, signal
history = pathlib.Path({history!r})
with open({log!r}, "a+") as log:
    log.write("x")
    log.seek(0)
    number = len(log.read())
if number == {kills}:
    deadline = time.monotonic() + 60
    while '"vote_cast"' not in history.read_text():
        assert time.monotonic() < deadline, "the vote before was not written down"
        time.sleep(0.02)
    os.kill(int(pathlib.Path({pid!r}).read_text()), signal.SIGKILL)
    time.sleep(60)
print(json.dumps({{"usd": 0.25, "answer": json.dumps(
    {{"case": mark, "reasons": ["x"], "verdict": "pass" if "polite" in text else "fail"}}
)}}))
"""


@pytest.mark.variants
@pytest.mark.parametrize("workers", [(), ("-n1", "-p", "xdist")], ids=["alone", "a worker"])
def test_a_vote_under_way_at_a_kill_counts_and_those_before_keep_their_price(
    project: Project, workers: tuple[str, ...]
) -> None:
    log, pid = (project.log.with_suffix(name) for name in (".votes", ".pid"))
    project.agent("fix()\npathlib.Path('reply.md').write_text('A polite text.\\n')")
    project.write("tone.reflex.yaml", SUITE.replace("insults.}", "insults., votes: 3}"))
    project.write("reply.md", "You broke it.\n")
    # Two votes fail before the run is there; of those behind REFINE the second ends it.
    history = project.run_folder / "history.jsonl"
    ends = ENDS.format(log=str(log), pid=str(pid), history=str(history), kills=4)
    project.write("judge.py", HEAD + ends)
    table = f"command = {[slim_python(), '-I', '-S', 'judge.py']}\nanswer = 'json:answer'\n"
    config = project.read("pytest-reflex.toml")
    project.write("pytest-reflex.toml", f"{config}[agents.jury]\n{table}cost = 'json:usd'\n")
    judged = ("--reflex-judge=jury", *workers)
    with project.start(*judged) as process:
        pid.write_text(str(process.pid))
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    wait_until(lambda: not is_locked(project.run_folder / "history.jsonl"))
    assert [vote["verdict"] for vote in project.events("vote_cast")] == ["pass"]
    assert project.run(*project.arguments("--reflex-loop", "--reflex-resume", *judged)) == 0
    spend, calls = project.state()["spend"], project.calls()
    # The vote that was cut off has no known price, and neither has the agent.
    assert (spend["calls"], spend["unknown_cost_calls"]) == (5 + calls, 1 + calls)
    assert (spend["usd"], len(log.read_text())) == (1.0, 5)
