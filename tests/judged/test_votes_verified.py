"""Votes that are recorded count when a verdict is verified; nobody is paid twice."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.drivers.reflex.forged import Records, rewrite
from tests.judged.test_votes_kept import begun, history, loop, votes_of
from tests.slim import slim_python

pytestmark = pytest.mark.variants

# What is asked for after {most} votes would be a fail.
PASSES = """\
verdict = "pass" if counted() <= {most} else "fail"
print(json.dumps({{"answer": json.dumps(
    {{"case": mark, "reasons": ["I looked"], "verdict": verdict}}), "usd": 0.25}}))
"""
ONE_IS_VOID = """\
number = counted()
if number == 2:
    sys.exit(1)
verdict = "pass" if number <= {most} else "fail"
print(json.dumps({{"answer": json.dumps(
    {{"case": mark, "reasons": ["I looked"], "verdict": verdict}}), "usd": 0.25}}))
"""
ACCIDENT = """\
import os

def pytest_reflex_record(event):
    if event.kind == "evaluation_done" and not os.path.exists("after"):
        open("after", "w").close()
        os._exit(137)
"""
JURIES = {
    "all pass": (PASSES.format(most=3), 3),
    "one is void": (ONE_IS_VOID.format(most=4), 4),
}


@pytest.fixture(params=["core", "pytest"])
def evaluator(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def asked(folder: Path) -> int:
    return len((folder / "asked").read_text())


def killed(folder: Path, body: str, evaluator: str) -> None:
    """Begin a run that is killed right after its only evaluation."""
    (folder / "accident.py").write_text(ACCIDENT)
    status = begun(folder, body, "--evaluator", evaluator, top='plugins = ["accident"]\n')
    assert status == 137


def verify(folder: Path) -> tuple[int, str]:
    argv = [slim_python(), "-m", "pytest_reflex", "loop", "verify", "tone"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize(("body", "votes"), JURIES.values(), ids=JURIES.keys())
def test_a_resume_takes_the_votes_that_led_to_the_recorded_pass(
    body: str, votes: int, evaluator: str, tmp_path: Path
) -> None:
    killed(tmp_path, body, evaluator)
    assert (asked(tmp_path), len(votes_of(tmp_path))) == (votes, votes)
    assert loop(tmp_path, "resume", "tone") == 0
    run = json.loads((tmp_path / ".ai-factory/evolution/tone/run.json").read_text())
    assert (asked(tmp_path), run["spend"]["calls"], run["stop"]["passed"]) == (votes, votes, True)
    assert [row["event"] for row in history(tmp_path)].count("evaluation_done") == 1


@pytest.mark.long
@pytest.mark.parametrize(("body", "votes"), JURIES.values(), ids=JURIES.keys())
def test_verify_takes_recorded_votes_and_asks_nobody(
    body: str, votes: int, evaluator: str, tmp_path: Path
) -> None:
    assert begun(tmp_path, body, "--evaluator", evaluator) == 0
    before = (tmp_path / ".ai-factory/evolution/tone/history.jsonl").read_bytes()
    status, said = verify(tmp_path)
    assert (asked(tmp_path), said.splitlines()[-1]) == (votes, "The recorded verdict holds: passed")
    assert status == 0
    assert (tmp_path / ".ai-factory/evolution/tone/history.jsonl").read_bytes() == before


@pytest.mark.long
def test_a_vote_that_is_not_recorded_is_not_asked_for_by_verify(
    evaluator: str, tmp_path: Path
) -> None:
    begun(tmp_path, PASSES.format(most=3), "--evaluator", evaluator)
    folder = tmp_path / ".ai-factory/evolution/tone"

    def without_votes(records: Records) -> None:
        records[:] = [record for record in records if record["event"] != "vote_cast"]

    rewrite(folder, without_votes)
    status, said = verify(tmp_path)
    assert "a.tone.polite pass -> error" in said
    assert (status, asked(tmp_path)) == (5, 3)


@pytest.mark.long
def test_a_resume_asks_for_votes_that_are_not_recorded(evaluator: str, tmp_path: Path) -> None:
    killed(tmp_path, PASSES.format(most=9), evaluator)
    settings = tmp_path / "pytest-reflex.toml"
    table = settings.read_text().partition("[agents.jury]")[2]
    settings.write_text(settings.read_text() + f"\n[agents.other]{table}")
    assert loop(tmp_path, "resume", "tone", "--judge", "other", "--accept-changes") == 0
    run = json.loads((tmp_path / ".ai-factory/evolution/tone/run.json").read_text())
    assert (asked(tmp_path), run["spend"]["calls"], run["stop"]["passed"]) == (6, 6, True)
