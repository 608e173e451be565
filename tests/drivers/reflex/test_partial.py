"""What an agent had written when its time was up is kept whole, and its place is named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.reflex.test_kill import wait_for

pytestmark = pytest.mark.variants

TEXT = "# Paid for\n" + "alpha, but not to the end\n" * 200
ISSUE = {"rule_id": "b.x.beta", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
OTHER = json.dumps({"plan": ["a", "b", "c"], "issues": [ISSUE]})
AGENT = """\
import os, signal, sys, time
step = os.environ["PYTEST_REFLEX_STEP"]
late = step == open("late").read() and not os.path.exists("once")
text = {text!r} if step in ("PRODUCE", "REFINE") else {other!r}
out = open(sys.argv[1], "w") if sys.argv[1:] else sys.stdout
if late:
    open("once", "w").close()
    out.write({text!r})
    out.flush()
    open("written", "w").close()
    match open("deed").read():
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise RuntimeError("no more")
    time.sleep(600)
out.write(text)
out.flush()
"""
RULES = """\
name: words
rules:
  - {id: a.x.alpha, description: alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: b.x.beta, description: beta, severity: fail, check: {type: content, search: beta}}
"""


def prepare(
    folder: Path, late: str, *, by_file: bool, deed: str = "hang", seconds: int = 2
) -> None:
    (folder / "deed").write_text(deed)
    (folder / "agent.py").write_text(AGENT.format(text=TEXT, other=OTHER))
    (folder / "late").write_text(late)
    (folder / "c.yaml").write_text(RULES)
    place = ', "{answer_file}"' if by_file else ""
    answer = 'answer = "file"\n' if by_file else ""
    (folder / "pytest-reflex.toml").write_text(
        f'[agents.own]\ncommand = ["{sys.executable}", "agent.py"{place}]\n{answer}'
        f"timeout = {seconds}\ngrace = 0.2\n"
        '[loop]\nmay_change = ["once", "written"]\n'
    )


NEW = ["loop", "new", "say it", "--alias", "run", "--criteria", "c.yaml", "--yes"]
NEW += ["--agent", "own", "--max-iterations", "2"]


def play(folder: Path, late: str, *, by_file: bool, deed: str = "hang") -> int:
    prepare(folder, late, by_file=by_file, deed=deed)
    return main(NEW)


@pytest.mark.long
@pytest.mark.parametrize(
    ("late", "by_file"),
    [("PRODUCE", False), ("PRODUCE", True), ("REFINE", False), ("PLAN", False), ("CRITIQUE", True)],
)
def test_b087_partial_output_stays_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    late: str,
    by_file: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, late, by_file=by_file)
    folder = tmp_path / ".ai-factory/evolution/run"
    name = f"{late.lower()}.partial-1"
    assert (folder / name).read_text() == TEXT
    events = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    (error,) = (e["payload"] for e in events if "partial" in e["payload"])
    assert error["partial"] == name
    assert f"kept in {name}" in " ".join(capsys.readouterr().err.split())
    assert "delta" not in error


@pytest.mark.long
def test_b087_what_came_in_time_is_not_kept_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, "NOTHING", by_file=False)
    assert not list((tmp_path / ".ai-factory/evolution/run").glob("*.partial-*"))


@pytest.mark.long
@pytest.mark.parametrize("deed", ["kill", "raise"])
@pytest.mark.parametrize("late", ["PRODUCE", "REFINE"])
def test_b087_an_agent_that_dies_leaves_what_it_had_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    late: str,
    deed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, late, by_file=False, deed=deed)
    name = f"{late.lower()}.partial-1"
    assert (tmp_path / ".ai-factory/evolution/run" / name).read_text() == TEXT
    assert f"kept in {name}" in " ".join(capsys.readouterr().err.split())


@pytest.mark.long
@pytest.mark.parametrize(
    ("late", "by_file"), [("CRITIQUE", False), ("REFINE", True), ("PRODUCE", False)]
)
def test_b087_an_interrupted_agent_leaves_what_it_had_written(
    tmp_path: Path, late: str, by_file: bool
) -> None:
    prepare(tmp_path, late, by_file=by_file, seconds=600)
    argv = [sys.executable, "-m", "pytest_reflex", *NEW]
    env = {**os.environ, "COLUMNS": "200"}
    with subprocess.Popen(
        argv, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for((tmp_path / "written").exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    name = f"{late.lower()}.partial-1"
    assert (tmp_path / ".ai-factory/evolution/run" / name).read_text() == TEXT
    assert f"{late}: what it had written is kept in {name}" in " ".join(err.split())


@pytest.mark.long
@pytest.mark.parametrize(
    ("late", "number", "calls"),
    [
        ("PLAN", signal.SIGINT, 1),
        ("PRODUCE", signal.SIGINT, 2),
        ("CRITIQUE", signal.SIGTERM, 3),
        ("REFINE", signal.SIGINT, 4),
    ],
)
def test_a_step_that_was_interrupted_is_in_the_spend_as_unknown(
    tmp_path: Path, late: str, number: int, calls: int
) -> None:
    prepare(tmp_path, late, by_file=False, seconds=600)
    argv = [sys.executable, "-m", "pytest_reflex", *NEW]
    with subprocess.Popen(argv, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        wait_for((tmp_path / "written").exists)
        process.send_signal(number)
    assert process.returncode == 128 + number
    spend = json.loads((tmp_path / ".ai-factory/evolution/run/run.json").read_text())["spend"]
    assert (spend["calls"], spend["unknown_cost_calls"]) == (calls, calls)
    resume = [sys.executable, "-m", "pytest_reflex", "loop", "resume", "run"]
    subprocess.run(resume, cwd=tmp_path, capture_output=True, check=False)
    run = json.loads((tmp_path / ".ai-factory/evolution/run/run.json").read_text())
    assert run["status"] != "running"
    assert run["spend"]["calls"] > calls


def alone(folder: Path, step: str, *, deed: str, by_file: bool = False, seconds: int = 2) -> str:
    """Prepare a draft and an agent that fails in each call of a step; return the verb."""
    prepare(folder, step, by_file=by_file, deed=deed, seconds=seconds)
    agent = folder / "agent.py"
    agent.write_text(agent.read_text().replace(' and not os.path.exists("once")', ""))
    (folder / "draft.md").write_text("alpha\n")
    return step.lower()


@pytest.mark.parametrize("deed", ["hang", "kill", "raise"])
@pytest.mark.parametrize(("step", "by_file"), [("CRITIQUE", False), ("REFINE", True)])
def test_b087_a_single_step_keeps_partial_output_beside_the_artifact(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    deed: str,
    step: str,
    by_file: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    verb = alone(tmp_path, step, deed=deed, by_file=by_file)
    assert main([verb, "draft.md", "--criteria", "c.yaml", "--agent", "own"]) == 9
    (kept,) = tmp_path.glob("*.partial-*")
    assert kept.read_text() == TEXT
    out, err = capsys.readouterr()
    assert f"is kept in draft.md.{verb}.partial-1 beside draft.md" in err
    assert "(the artifact is as it was)" in err
    assert not out
    assert (tmp_path / "draft.md").read_text() == "alpha\n"


@pytest.mark.long
def test_b087_an_interrupted_single_step_keeps_what_was_written(tmp_path: Path) -> None:
    verb = alone(tmp_path, "REFINE", deed="hang", seconds=600)
    argv = [sys.executable, "-m", "pytest_reflex", verb, "draft.md"]
    argv += ["--criteria", "c.yaml", "--agent", "own"]
    with subprocess.Popen(argv, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        wait_for((tmp_path / "written").exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert (tmp_path / "draft.md.refine.partial-1").read_text() == TEXT
    assert "REFINE: what it had written is kept in draft.md.refine.partial-1" in err
