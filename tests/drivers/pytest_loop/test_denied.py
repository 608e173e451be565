"""A client that was not allowed what it tried: told at once, and nobody pays it again before."""

from __future__ import annotations

import json

import pytest

from tests.drivers.pytest_loop.stage import RIGHT, Project

pytestmark = pytest.mark.long

TABLE = """\
answer = "jsonl-last:result"
denied = {"jsonl-last:permission_denials.*.tool_name" = "/./"}
"""
SAYS = """\
result = {"result": "I need permission", "permission_denials": [{"tool_name": "Write"}]}
print(json.dumps(result))
"""
WHAT = "script was not allowed: Write (what it may do: edit_options in agents.script)"


@pytest.fixture(autouse=True)
def denied(project: Project) -> None:
    """An agent that is not allowed to write."""
    project.agent(SAYS)
    project.write("pytest-reflex.toml", project.read("pytest-reflex.toml") + TABLE)


def calls(project: Project) -> int:
    return project.log.read_text().count("call")


def test_a_denied_refine_ends_the_run_at_once_and_can_be_resumed(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.play() == 2
    told = " ".join("".join(capsys.readouterr()).split())
    assert calls(project) == 1
    assert WHAT in told
    assert "pytest --reflex-loop --reflex-resume make-the-tests-pass" in told
    state = project.state()
    assert (state["status"], state["spend"]["calls"]) == ("running", 1)
    project.agent("fix()\nprint(json.dumps({'result': 'done'}))")
    assert (
        project.run(
            *project.arguments("--reflex-loop", "--reflex-resume", "--reflex-accept-changes")
        )
        == 0
    )
    assert project.read() == RIGHT
    assert calls(project) == 2


def test_what_was_denied_beside_the_work_does_not_keep_a_run_from_passing(
    project: Project,
) -> None:
    project.agent("fix()\n" + SAYS)
    assert project.play() == 0
    assert calls(project) == 1


def test_work_that_is_not_enough_is_judged_before_the_run_ends(project: Project) -> None:
    half = "code.write_text(code.read_text().replace('a - b', 'a + b'))\n"
    project.agent(half + SAYS)
    assert project.play() == 2
    assert calls(project) == 1
    state = project.state()
    assert (state["iteration"], state["status"]) == (2, "running")


def test_a_table_says_that_nothing_is_a_denial(project: Project) -> None:
    text = project.read("pytest-reflex.toml").replace(
        '{"jsonl-last:permission_denials.*.tool_name" = "/./"}', "{}"
    )
    project.write("pytest-reflex.toml", text)
    assert project.play() == 1
    assert calls(project) == 2  # asked again, as after any answer that cannot be used
    assert project.stop()[0] == "phase_error"


def test_a_resumed_history_has_what_was_denied(project: Project) -> None:
    project.play()
    lines = (project.run_folder / "history.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    (refused,) = [e for e in events if e["event"] == "phase_error"]
    assert refused["payload"]["denied"] == WHAT
