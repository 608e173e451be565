"""In whose time the project changed, and what a run makes of it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.api import run_loop
from pytest_reflex.drivers.reflex.project_watch import unread_text
from pytest_reflex.errors import PausedError, StateError
from pytest_reflex.integrity.project import ProjectTree
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.steps import Reply, StepRequest
from tests.drivers.reflex.stage import CRITERIA, Script, Stage, history_of, story

pytestmark = pytest.mark.long

RIGHT = "alpha beta gamma\n"
WRITING = """\
  - {id: a.x.report, description: it reports, severity: fail, check: {type: executable,
     command: "%s", writes: [build]}}
"""


def _stage(folder: Path, command: str = "") -> Stage:
    (folder / "README.md").write_text("read me\n")
    return Stage(folder, CRITERIA + (WRITING % command if command else ""))


def _acting(act: Callable[[], object], text: str = RIGHT) -> Callable[[StepRequest], str]:
    def answer(request: StepRequest) -> str:
        act()
        return text

    return answer


def test_a_change_between_steps_pauses_the_run(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    with stage.begin(Script(produce=RIGHT)) as loop:
        events = history_of(loop)
        assert story([next(events), next(events)]) == ["run_started", "plan_created"]
        (tmp_path / "README.md").write_text("read me, please\n")
        with pytest.raises(PausedError) as caught:
            list(events)
    problem = caught.value.problems[0]
    assert problem.message.endswith("README.md was changed")
    assert "pytest-reflex loop resume words --accept-changes" in problem.hint
    assert stage.run_json()["status"] == "running"


def _paused(tmp_path: Path) -> Stage:
    stage = _stage(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        next(iter(history_of(loop)))
    (tmp_path / "README.md").unlink()
    (tmp_path / "more.py").write_text("x = 1\n")
    return stage


def test_a_resume_waits_until_the_changes_are_accepted(tmp_path: Path) -> None:
    stage = _paused(tmp_path)
    script = Script(produce=RIGHT)
    with stage.resume(script) as loop, pytest.raises(PausedError, match=r"README\.md was removed"):
        list(history_of(loop))
    assert script.asked() == []


def test_accepted_changes_are_recorded_and_hold(tmp_path: Path) -> None:
    stage = _paused(tmp_path)
    with stage.resume(Script(produce="x\n"), accept_changes=True) as loop:
        first = next(iter(history_of(loop)))
    assert first.kind == "changes_accepted"
    assert first.payload["paths"] == ["README.md", "more.py"]
    with stage.resume(Script(produce=RIGHT)) as loop:
        events = list(history_of(loop))
    assert story(events)[-1] == "stopped"
    assert stage.run_json()["stop"]["passed"]


def test_nothing_is_recorded_where_nothing_changed(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        next(iter(history_of(loop)))
    with stage.resume(Script(produce=RIGHT), accept_changes=True) as loop:
        assert "changes_accepted" not in story(list(history_of(loop)))


def test_what_checks_declare_is_recorded_with_the_evaluation(tmp_path: Path) -> None:
    stage = _stage(tmp_path, "mkdir -p build && date +%N > build/report")
    events = stage.play(Script(produce=["alpha\n", RIGHT], refine="alpha beta\n"))
    evaluations = [event for event in events if event.kind is EventKind.EVALUATION_DONE]
    assert len(evaluations) > 2
    assert all("files" in event.payload["project_changes"] for event in evaluations)
    assert stage.run_json()["stop"]["reason"] == "threshold_reached"


def test_what_a_check_declared_may_not_be_changed_by_an_agent(tmp_path: Path) -> None:
    stage = _stage(tmp_path, "mkdir -p build && date > build/report")
    forged = _acting(lambda: (tmp_path / "build/report").write_text("all good\n"))
    stage.play(Script(produce=["alpha\n", forged], refine="alpha beta\n"))
    stop = stage.run_json()["stop"]
    assert stop["reason"] == "tampered"
    assert "build/report was changed" in stop["detail"]


def test_a_file_that_no_check_declares_makes_the_evaluation_an_error(tmp_path: Path) -> None:
    stage = _stage(tmp_path, "mkdir -p build && touch junit.xml")
    events = stage.play(Script(produce=RIGHT))
    errors = [event.payload["message"] for event in events if event.kind == "phase_error"]
    assert len(errors) == 2
    assert "modified during EVALUATE: junit.xml was added" in errors[0]
    assert 'writes: ["junit.xml"]' in errors[0]
    assert stage.run_json()["stop"] == {
        "passed": False,
        "reason": "phase_error",
        "detail": f"EVALUATE failed twice: {errors[1]}",
    }


def test_what_was_left_behind_and_removed_is_evaluated(tmp_path: Path) -> None:
    stage = _stage(tmp_path, "test -e went || { touch went junit.xml; }")
    with stage.begin(Script(produce=RIGHT), {"loop.may_change": ["went"]}) as loop:
        for event in history_of(loop):
            if event.kind == "phase_error":
                (tmp_path / "junit.xml").unlink()
    assert stage.run_json()["stop"]["reason"] == "threshold_reached"


def test_a_run_that_was_killed_in_evaluate_goes_on(tmp_path: Path) -> None:
    stage = _stage(tmp_path, "mkdir -p build && touch build/report")
    with stage.begin(Script(produce=RIGHT), sequential=True) as loop:
        for event in history_of(loop):
            if event.kind == "checks_prepared":
                break
    (tmp_path / "build").mkdir()
    (tmp_path / "build/half").write_text("as far as it came\n")
    with stage.resume(Script(produce=RIGHT)) as loop:
        assert story(list(history_of(loop)))[-1] == "stopped"
    assert stage.run_json()["stop"]["passed"]


def test_a_run_that_was_killed_in_a_call_waits_for_a_person(tmp_path: Path) -> None:
    stage = _stage(tmp_path, "mkdir -p build && touch build/report")
    with stage.begin(Script(produce=RIGHT)) as loop:
        next(iter(history_of(loop)))
    (tmp_path / "build").mkdir()
    (tmp_path / "build/report").write_text("planted\n")
    with stage.resume(Script(produce=RIGHT)) as loop, pytest.raises(PausedError, match="build"):
        list(history_of(loop))


def test_what_may_change_is_recorded_at_the_start(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    log = _acting(lambda: (tmp_path / "agent.log").write_text("asked\n"))
    events = stage.play(Script(produce=log), {"loop.may_change": ["*.log"]})
    assert events[0].payload["project"]["may_change"] == ["*.log"]
    assert stage.run_json()["stop"]["reason"] == "threshold_reached"


@pytest.mark.parametrize("step", ["plan", "produce", "critique", "refine"])
def test_every_call_is_looked_at(tmp_path: Path, step: str) -> None:
    stage = _stage(tmp_path)
    answers = {"plan": None, "produce": "alpha\n", "critique": None, "refine": "alpha beta\n"}
    script = Script(**{k: v for k, v in answers.items() if v})
    before = script.lines[step][0]

    def planting(request: StepRequest) -> str:
        (tmp_path / "conftest.py").write_text("")
        return before(request) if callable(before) else str(before)

    script.lines[step] = [planting]
    events = stage.play(script)
    detail = events[-1].payload["detail"]
    assert detail.startswith(f"modified during the agent's call ({step.upper()})")
    assert "(to allow it: --may-change 'conftest.py')" in detail


def test_an_answer_of_our_own_is_no_call(tmp_path: Path) -> None:
    """What a person saves while a part of this program answers is nobody's tampering."""

    def produce(request: StepRequest) -> str:
        (tmp_path / "README.md").write_text("saved meanwhile\n")
        return RIGHT

    stage = _stage(tmp_path)
    free = Script(produce=lambda r: produce(r))
    original = free._say

    def say(step: str, request: StepRequest) -> Reply | None:
        reply = original(step, request)
        assert reply is not None
        return Reply(text=reply.text, agent="offline", details={"free": True})

    free._say = say  # type: ignore[method-assign]
    with stage.begin(free) as loop, pytest.raises(PausedError, match=r"README\.md was changed"):
        list(history_of(loop))


NUMBERS = (errno.EIO, errno.EMFILE, errno.ENOMEM)


@pytest.mark.parametrize("number", NUMBERS, ids=errno.errorcode.__getitem__)
def test_a_look_that_fails_for_a_moment_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    stage, left = _stage(tmp_path), [1]
    scan = os.scandir

    def failing(path: str) -> object:
        if left[0] and str(path).startswith(str(tmp_path)):
            left[0] -= 1
            raise OSError(number, os.strerror(number))
        return scan(path)

    with stage.begin(Script(produce=RIGHT)) as loop:
        monkeypatch.setattr(os, "scandir", failing)
        assert story(list(history_of(loop)))[-1] == "stopped"
    assert left == [0]
    assert stage.run_json()["stop"]["passed"]


def test_a_project_that_cannot_be_read_is_no_tampering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = _stage(tmp_path)

    def failing(self: ProjectTree, free: object) -> dict[str, str]:
        raise StateError("docs cannot be read: Too many open files")

    with stage.begin(Script(produce=RIGHT)) as loop:
        monkeypatch.setattr(ProjectTree, "changes", failing)
        with pytest.raises(StateError, match="Too many open files"):
            list(history_of(loop))
    monkeypatch.undo()
    with stage.resume(Script(produce=RIGHT)) as loop:
        assert story(list(history_of(loop)))[-1] == "stopped"


def test_large_files_are_named() -> None:
    told = unread_text(["a.bin", "b.bin", "c\x1b.bin", "d.bin"])
    assert told.endswith("a.bin, b.bin, c\\x1b.bin and 1 more")


def test_programs_of_checks_that_an_agent_may_change_are_named(tmp_path: Path) -> None:
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.criteria.load import read_criteria
    from pytest_reflex.drivers.reflex.run_integrity import inputs_of

    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/lint.sh").write_text("exit 0\n")
    stage = _stage(tmp_path, "sh tools/lint.sh")
    criteria, _ = read_criteria(str(stage.criteria), registry=built_in_registry())
    held = inputs_of(
        criteria,
        built_in_registry(),
        project=tmp_path,
        artifact=stage.root,
        may_change=["tools/**"],
    )
    assert held.unprotected == ("tools/lint.sh",)


OFFLINE = """\
name: note
rules:
  - id: a.x.usage
    description: It says how it is used
    severity: fail
    check: {type: %s, search: '^## Usage'}
    fix: {append: {text: "\\n## Usage\\n\\nRun it.\\n"}}
"""
CONTENT = OFFLINE % "content"
COMMAND = CONTENT + WRITING % "true"
PROSE = CONTENT + "  - {id: a.x.kind, description: it is kind, severity: warn, check: it is kind}\n"
JUDGE = CONTENT + (
    "  - {id: a.x.judged, description: it is kind, severity: warn, check: {type: judged}}\n"
)


@pytest.mark.parametrize(
    ("criteria", "looks"), [(CONTENT, 0), (COMMAND, 2), (PROSE, 2), (JUDGE, 2)]
)
def test_a_loop_looks_where_somebody_else_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, criteria: str, looks: int
) -> None:
    """Each evaluation is looked at before and after, unless this program does all by itself."""
    seen: list[ProjectTree] = []
    changes = ProjectTree.changes

    def counted(tree: ProjectTree, free: Callable[[str], bool]) -> dict[str, str]:
        seen.append(tree)
        return changes(tree, free)

    monkeypatch.setattr(ProjectTree, "changes", counted)
    (tmp_path / "note.yaml").write_text(criteria)
    (tmp_path / "note.md").write_text("# Note\n")
    given: dict[str, Any] = {"criteria": tmp_path / "note.yaml", "draft": tmp_path / "note.md"}
    events = list(run_loop("A note", project=tmp_path, max_iterations=2, **given))
    evaluations = [event for event in events if event.fields.get("event") == "evaluation_done"]
    assert len(evaluations) == 2
    assert len(seen) == looks * len(evaluations)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_file_that_may_be_allowed_is_in_the_hint(tmp_path: Path, number: int) -> None:
    stage = _stage(tmp_path)
    names = [f"conftest{at}.py" for at in range(number)]

    def planting() -> None:
        for name in names:
            (tmp_path / name).write_text("")

    detail = stage.play(Script(produce=_acting(planting)))[-1].payload["detail"]
    flags = " ".join(f"--may-change '{name}'" for name in names)
    assert f"(to allow {'it' if number == 1 else 'them'}: {flags})" in detail
