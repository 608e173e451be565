"""``loop stop``, ``feedback``, ``clean`` and ``extend`` through the door that users use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.loop_manage import _where_it_goes
from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.run_status import find_run
from tests.cli.terminal import Terminal
from tests.drivers.reflex.stage import Script, Stage, history_of

pytestmark = [pytest.mark.long, pytest.mark.variants]

GOOD, BAD = "alpha beta gamma\n", "x\n"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A run that completed, one that stopped at its limit, one that was interrupted."""
    monkeypatch.chdir(tmp_path)
    stage = Stage(tmp_path)
    stage.play(Script(produce=GOOD), alias="done")
    stage.play(Script(produce=BAD), {"loop.max_iterations": 1}, alias="limit")
    leave(stage, "left")
    return stage


def leave(stage: Stage, alias: str) -> None:
    with stage.begin(Script(produce=BAD), alias=alias) as loop:
        next(history_of(loop))


def there(stage: Stage) -> list[str]:
    return sorted(path.name for path in stage.root.iterdir())


def test_clean_removes_one(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "clean", "done", "--yes"]) == 0
    assert capsys.readouterr().out == "Removed: done\n"
    assert there(stage) == ["current.json", "left", "limit"]


def test_clean_needs_a_yes_where_there_is_no_terminal(stage: Stage, capsys: Captured) -> None:
    before = there(stage)
    assert main(["loop", "clean", "left", "--force"]) == 4
    told = capsys.readouterr().err
    assert "left: interrupted; it could still be resumed" in told
    assert "add --yes; nothing was removed" in told
    assert there(stage) == before


def test_clean_refuses_one_that_is_driven(stage: Stage, capsys: Captured) -> None:
    with stage.resume(Script(), "left"):
        assert main(["loop", "clean", "left", "--yes"]) == 11
    assert "another process is running left (stop it first: loop stop" in capsys.readouterr().err
    assert "left" in there(stage)


def test_clean_all_names_and_leaves_those_that_are_driven(stage: Stage, capsys: Captured) -> None:
    (stage.root / "notes").mkdir()
    (stage.root / "notes/todo.txt").touch()
    with stage.resume(Script(), "left"):
        assert main(["loop", "clean", "--all", "--yes", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"removed": ["done", "limit"], "left": ["left"]}
    assert "Left alone, because a process is running it: left" in err
    assert there(stage) == ["current.json", "left", "notes"]


def test_clean_all_names_a_link_and_leaves_it(stage: Stage, capsys: Captured) -> None:
    elsewhere = stage.project / "elsewhere"
    (stage.root / "done").rename(elsewhere)
    (stage.root / "done").symlink_to(elsewhere)
    main(["loop", "clean", "--all", "--yes"])
    assert "done is a symbolic link" in capsys.readouterr().err
    assert (elsewhere / "history.jsonl").exists()


def test_clean_takes_the_pointer_along(stage: Stage) -> None:
    main(["loop", "clean", "left", "--yes", "--force"])
    assert there(stage) == ["done", "limit"]


def test_clean_hands_the_pointer_on(stage: Stage) -> None:
    leave(stage, "newer")
    main(["loop", "clean", "newer", "--yes", "--force"])
    assert json.loads((stage.root / "current.json").read_text())["task_alias"] == "left"


def test_w6_clean_removes_a_pointer_that_dangles(stage: Stage) -> None:
    main(["loop", "clean", "left", "--yes", "--force"])
    pointer = {"active_run_id": "gone-1", "task_alias": "gone", "status": "running"}
    (stage.root / "current.json").write_text(json.dumps(pointer))
    assert main(["loop", "clean", "--all", "--yes"]) == 0
    assert there(stage) == []


@pytest.mark.parametrize("words", [[], ["left", "--all"]], ids=["neither", "both"])
def test_clean_wants_one_loop_or_all(words: list[str], stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "clean", *words, "--yes"]) == 4
    assert "name one loop, or --all" in capsys.readouterr().err


@pytest.mark.parametrize("alias", ["nobody", "notes"])
def test_clean_removes_only_loops(alias: str, stage: Stage, capsys: Captured) -> None:
    (stage.root / "notes").mkdir()
    (stage.root / "notes/todo.txt").touch()
    assert main(["loop", "clean", alias, "--yes"]) == 4
    assert f"there is no loop named '{alias}'" in capsys.readouterr().err
    assert (stage.root / "notes/todo.txt").exists()


@pytest.mark.parametrize(("key", "gone"), [(b"y", True), (b"n", False)])
def test_clean_asks_on_a_terminal(key: bytes, gone: bool, stage: Stage) -> None:
    with Terminal(["loop", "clean", "done"], stage.project) as terminal:
        terminal.wait_for("Remove this loop? [y/N]")
        terminal.send(key + b"\r")
        assert terminal.end() == (0 if gone else 2)
    assert ("done" not in there(stage)) is gone


def test_list_is_a_table_on_a_terminal(stage: Stage) -> None:
    with Terminal(["loop", "list"], stage.project, columns=140) as terminal:
        assert terminal.end() == 0
        lines = [line.split() for line in terminal.everything.splitlines()]
    assert lines[0][:5] == ["driver", "name", "status", "started", "duration"]
    assert lines[0][5:] == ["iteration", "cost", "score", "about"]
    assert lines[3][:4] == ["loop", "left", "running", "(interrupted)"]
    assert lines[3][-3:] == ["1/4", "say", "words"]


def test_stop_ends_the_loop_that_runs(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "stop", "for today", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["alias"], told["ended"]) == ("left", True)
    assert told["stop"] == {"passed": False, "reason": "user_stop", "detail": "for today"}
    assert main(["loop", "stop"]) == 4
    assert "no loop is running (see `pytest-reflex loop list`)" in capsys.readouterr().err


def test_stop_takes_the_name_of_a_loop_for_what_it_is(stage: Stage, capsys: Captured) -> None:
    leave(stage, "newer")
    assert main(["loop", "stop", "left", "--reason", "not this one"]) == 0
    assert capsys.readouterr().out.startswith("left has stopped")
    assert find_run(stage.root, "left").state.stop.detail == "not this one"
    assert find_run(stage.root, "newer").state.status == "running"


def test_stop_without_a_name_refuses_where_two_loops_run(stage: Stage, capsys: Captured) -> None:
    leave(stage, "newer")
    assert main(["loop", "stop", "enough"]) == 4
    told = capsys.readouterr().err
    assert "2 loops are running: left, newer (name one: loop stop left)" in told
    with stage.resume(Script(), "newer"):
        assert main(["loop", "stop", "enough", "--wait", "0"]) == 0
    assert capsys.readouterr().out.startswith("newer was asked to stop")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["left", "--alias", "done"], "two loops are named: 'left' and --alias 'done'"),
        (["lef", "--reason", "x"], "there is no loop named 'lef'"),
    ],
)
def test_stop_refuses_a_word_that_is_neither_name_nor_reason(
    words: list[str], said: str, stage: Stage, capsys: Captured
) -> None:
    assert main(["loop", "stop", *words]) == 4
    assert said in capsys.readouterr().err
    assert find_run(stage.root, "left").state.status == "running"


@pytest.mark.parametrize(("wait", "status"), [("0", 0), ("0.2", 11)])
def test_stop_says_that_a_driven_loop_still_runs(
    wait: str, status: int, stage: Stage, capsys: Captured
) -> None:
    with stage.resume(Script(), "left"):
        assert main(["loop", "stop", "--alias", "left", "--wait", wait]) == status
    assert "left was asked to stop; it does so before its next step" in capsys.readouterr().out


def test_stop_refuses_what_has_ended(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "stop", "--alias", "limit"]) == 4
    told = capsys.readouterr().err
    assert "loop 'limit' has ended (iteration_limit)" in told
    assert "`pytest-reflex loop extend limit --max-iterations +2`" in told


def test_stop_delivers_as_the_driver_would(stage: Stage, capsys: Captured) -> None:
    with stage.begin(Script(produce=BAD), alias="asked", output=Path("best.md")) as loop:
        for event in history_of(loop):
            if event.kind == "evaluation_done":
                break
    main(["loop", "stop", "--alias", "asked"])
    assert "Written to: best.md" in capsys.readouterr().out
    assert Path("best.md").read_text() == BAD


SAID = {
    "left": "Recorded; it joins the next critique of left.",
    "limit": "Recorded; it joins the next critique after `pytest-reflex loop extend limit`.",
}


@pytest.mark.parametrize(("alias", "said"), SAID.items(), ids=SAID.keys())
def test_feedback_says_when_it_is_heeded(
    alias: str, said: str, stage: Stage, capsys: Captured
) -> None:
    assert main(["loop", "feedback", alias, "shorter"]) == 0
    assert capsys.readouterr().out == said + "\n"
    main(["loop", "status", alias])
    assert "Feedback: 1 message for the next iteration" in capsys.readouterr().out


def test_feedback_of_one_word_is_for_the_loop_that_runs(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "feedback", "say it shorter", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["alias"] == "left"
    assert find_run(stage.root, "left").state.feedback == ("say it shorter",)


@pytest.mark.parametrize(("words", "said"), [([], ""), (["left"], " for left")])
def test_feedback_without_a_text_is_refused(
    words: list[str], said: str, stage: Stage, capsys: Captured
) -> None:
    assert main(["loop", "feedback", *words]) == 4
    assert f"the feedback{said} is missing (loop feedback" in capsys.readouterr().err


def test_feedback_for_a_driven_loop_is_handed_over(stage: Stage, capsys: Captured) -> None:
    with stage.resume(Script(), "left"):
        assert main(["loop", "feedback", "left", "shorter", "--wait", "0"]) == 0
    assert "Handed to left; it is taken up before the next step." in capsys.readouterr().out


@pytest.mark.parametrize(("text", "said"), [(" ", "the feedback is empty"), ("\udcff", "UTF-8")])
def test_feedback_has_to_be_a_text(text: str, said: str, stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "feedback", "left", text]) == 4
    assert said in capsys.readouterr().err


CRITERIA = "name: stuck\nrules:\n  - {id: a.x.never, description: never, severity: fail, "
CRITERIA += "check: {type: content, search: never}}\n"
NEW = ["loop", "new", "x", "--criteria", "stuck.yaml", "--evaluator", "core", "--alias", "stuck"]


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stuck.yaml").write_text(CRITERIA)
    assert main([*NEW, "--max-iterations", "1", "--yes", "--quiet"]) == 6
    capsys.readouterr()
    return tmp_path


def test_extend_shows_the_limits_and_goes_on(stuck: Path, capsys: Captured) -> None:
    words = ["--max-iterations", "+1", "--budget", "calls=9", "--yes"]
    assert main(["loop", "extend", "stuck", *words]) == 6
    out, err = capsys.readouterr()
    assert "goes on after iteration 1\nMax iterations: 2\nBudget: calls 9\n" in err
    assert "Iteration: 2/2" in out


def test_extend_takes_the_newest(stuck: Path, capsys: Captured) -> None:
    assert main(["loop", "extend", "--max-iterations", "+1", "--yes"]) == 6
    assert "Loop stuck (iteration_limit) goes on" in capsys.readouterr().err


def test_extend_has_to_be_confirmed(stuck: Path, capsys: Captured) -> None:
    assert main(["loop", "extend", "stuck", "--max-iterations", "+1"]) == 4
    assert "add --yes; nothing was written" in capsys.readouterr().err
    assert main(["loop", "status", "stuck"]) == 0
    assert "Loop: stuck (stopped)" in capsys.readouterr().out


def test_one_that_failed_is_told_how_to_go_on(stage: Stage, capsys: Captured) -> None:
    stage.play(Script(plan="no plan"), alias="failed")
    capsys.readouterr()
    main(["loop", "status", "failed"])
    told = capsys.readouterr().out
    assert "Stopped: phase_error (PLAN failed twice: the answer holds no JSON" in told
    assert "Artifact: none\nGo on with: pytest-reflex loop extend failed\n" in told
    assert main(["loop", "resume", "failed"]) == 4
    told = capsys.readouterr().err
    assert "(go on with `pytest-reflex loop extend failed`, or start over" in told


def test_feedback_to_one_that_ended_meanwhile_is_said(stage: Stage) -> None:
    stage.play(Script(produce="alpha beta gamma\n"), alias="ended")
    state = find_run(stage.root, "ended").state
    said = _where_it_goes("ended", state, durable=True)
    assert said == "Recorded; ended has ended meanwhile (threshold_reached)."
