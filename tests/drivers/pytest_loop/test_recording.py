"""A loop over a session is recorded, and replayed where its agent answers with texts."""

from __future__ import annotations

import json
import sys

import pytest

from tests.drivers.pytest_loop.stage import CONFIG, RIGHT, Project

pytestmark = pytest.mark.long

ANSWER = f"print(json.dumps({{'files': [{{'path': 'sums.py', 'text': {RIGHT!r}}}]}}))"
RECORDED = '[loop]\nrecord = "calls.jsonl"\n'
REPLAYED = 'agent = "played"\n[agents.played]\nkind = "replay"\nrecording = "{path}"\n'
AGAIN = (
    *("--reflex-loop", "--reflex-resume", "--reflex-accept-changes"),
    *("--reflex-max-iterations=+2", "--reflex-yes"),
)


@pytest.fixture
def recorded(project: Project) -> Project:
    """A project whose loops are recorded."""
    project.write("pytest-reflex.toml", CONFIG.format(python=sys.executable) + RECORDED)
    return project


def test_a_recorded_loop_is_replayed_without_its_agent(
    recorded: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    recorded.agent(ANSWER)
    assert recorded.play() == 0
    again = Project(tmp_path_factory.mktemp("again"), "raise SystemExit('it was asked')")
    path = recorded.folder / "calls.jsonl"
    again.write("pytest-reflex.toml", REPLAYED.format(path=path))
    assert again.play() == 0
    assert again.read() == recorded.read() == RIGHT


def test_a_run_that_goes_on_is_recorded_further(recorded: Project) -> None:
    recorded.agent("pass")
    assert recorded.play("--reflex-max-iterations=2") == 1
    recorded.agent("fix()")
    assert recorded.run(*recorded.arguments(*AGAIN)) == 0
    lines = [json.loads(line) for line in recorded.read("calls.jsonl").splitlines()]
    assert [line["step"] for line in lines[1:]].count("REFINE") == recorded.calls() > 1


def test_a_recording_that_is_gone_is_told(
    recorded: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.agent("pass")
    assert recorded.play("--reflex-max-iterations=2") == 1
    (recorded.folder / "calls.jsonl").unlink()
    recorded.agent("fix()")
    assert recorded.run(*recorded.arguments(*AGAIN)) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "calls.jsonl is gone: this run goes on without it" in told


def test_a_recording_that_is_there_is_not_written_over(
    recorded: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.write("calls.jsonl", "mine")
    assert recorded.play() == 4
    assert "calls.jsonl is there already" in capsys.readouterr().err
    assert recorded.read("calls.jsonl") == "mine"
