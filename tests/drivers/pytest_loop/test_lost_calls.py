"""A loop over a session that was killed in REFINE has that call in its spend, once a kill."""

from __future__ import annotations

import signal

import pytest

from pytest_reflex.storage.lock import is_locked
from tests.drivers.pytest_loop.stage import Project
from tests.faults.driven import wait_until

pytestmark = [pytest.mark.long, pytest.mark.variants]

KILLS = """\
if calls <= {kills}:
    os.kill(os.getppid(), 9)
    time.sleep(60)
fix()
"""
LOST = "REFINE was under way when the run was killed; its call counts as paid"


def spend(project: Project) -> tuple[int, int]:
    found = project.state()["spend"]
    return found["calls"], found["unknown_cost_calls"]


def killed(project: Project, *arguments: str) -> None:
    process = project.start(*arguments)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    wait_until(lambda: not is_locked(project.run_folder / "history.jsonl"))


def resume(project: Project, *arguments: str) -> int:
    return project.run(*project.arguments("--reflex-loop", "--reflex-resume", *arguments))


def test_a_kill_is_one_call_and_a_second_is_another(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    project.agent(KILLS.format(kills=2))
    killed(project)
    assert [one["step"] for one in project.state()["calls_under_way"]] == ["REFINE"]
    killed(project, "--reflex-resume")
    assert spend(project) == (1, 1)  # that of the first; the second counts with the next resume
    assert resume(project) == 0
    assert capfd.readouterr().out.count(LOST) == 1
    assert spend(project) == (3, 3)
    events = [one for one in project.events("phase_error") if one.get("interrupted")]
    assert [one["step"] for one in events] == ["REFINE", "REFINE"]


def test_a_budget_of_calls_that_it_uses_up_pays_nothing_more(project: Project) -> None:
    project.agent(KILLS.format(kills=1))
    killed(project, "--reflex-budget=calls=1")
    assert resume(project) == 1
    assert project.stop() == ("budget_exceeded", "calls: 1 of 1 used")
    assert project.calls() == 1
