"""``loop list``, ``history``, ``show`` and ``status --watch``, which write nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.reflex.stage import Script, Stage, history_of

pytestmark = pytest.mark.variants

GOOD = "alpha beta gamma\n"
Captured = pytest.CaptureFixture[str]


def test_one_foreign_folder_is_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stage = Stage(tmp_path)
    stage.play(Script(produce="x"), {"loop.max_iterations": 1}, alias="ours")
    (stage.root / "Foreign Folder").mkdir()
    (stage.root / "Foreign Folder/history.jsonl").write_text("{}\n")
    (stage.root / "link").symlink_to(stage.root / "Foreign Folder")
    assert main(["loop", "status"]) == 0
    assert capsys.readouterr().out.startswith("Loop: ours")


def test_below_a_project_the_list_says_where_its_loops_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Stage(tmp_path).play(Script(produce="x"), {"loop.max_iterations": 1}, alias="ours")
    (tmp_path / "docs/deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "docs/deep")
    assert main(["loop", "list"]) == 0
    told = capsys.readouterr().err
    assert f"There are loops in {tmp_path}: change to that folder." in told


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A run that completed in its second iteration, and one that was interrupted."""
    monkeypatch.chdir(tmp_path)
    stage = Stage(tmp_path)
    stage.play(Script(produce=["alpha\n", GOOD], refine="alpha beta\n"), alias="done")
    with stage.begin(Script(produce="x\n"), alias="left", task="say\tmany words") as loop:
        for event in history_of(loop):
            if event.kind == "evaluation_done":
                break
    return stage


def listed(capsys: Captured) -> list[list[str]]:
    assert main(["loop", "list"]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_a_pipe_gets_a_line_for_each_loop(stage: Stage, capsys: Captured) -> None:
    assert [[*row[:3], *row[5:]] for row in listed(capsys)] == [
        ["loop", "done", "completed, not verified", "2/4", "unknown", "1.000", "say words"],
        ["loop", "left", "running (interrupted)", "1/4", "unknown", "0.000", "say many words"],
    ]


def test_json_is_one_document(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "list", "--json"]) == 0
    done, left = json.loads(capsys.readouterr().out)["loops"]
    assert (done["stop_reason"], done["score_exact"], done["passed"]) == (
        "threshold_reached", "1/1", True,
    )  # fmt: skip
    assert (left["status"], left["interrupted"], left["score"]) == ("running", True, 0.0)
    assert (done["driver"], done["name"], left["driven"]) == ("loop", "done", False)
    assert done["spend"]["calls"] > 0


def damage(folder: Path, how: str) -> None:
    history = folder / "history.jsonl"
    if how == "no history":
        history.unlink()
    elif how == "empty":
        for path in folder.iterdir():
            path.unlink()
    elif how == "a line":
        history.write_bytes(b"{}\n" + history.read_bytes())
    elif how == "no UTF-8":
        history.write_bytes(b"\xff\n")
    elif how == "a pipe":
        history.unlink()
        os.mkfifo(history)
    elif how == "a link":
        folder.rename(folder.parent.parent / "elsewhere")
        folder.symlink_to(folder.parent.parent / "elsewhere")
    elif how == "a name":
        folder.rename(folder.parent / "Not An Alias")


DAMAGES = {
    "no history": "its history is missing; run.json is kept",
    "empty": "it has no history: it never began",
    "a line": "history.jsonl is damaged: line 2",
    "no UTF-8": "it is not UTF-8",
    "a pipe": "history.jsonl is not a regular file",
    "a link": "left is a symbolic link",
    "a name": "'Not An Alias' is not an alias",
}


@pytest.mark.parametrize(("how", "said"), DAMAGES.items(), ids=DAMAGES.keys())
def test_a_damaged_loop_is_listed_with_what_is_wrong(
    how: str, said: str, stage: Stage, capsys: Captured
) -> None:
    damage(stage.root / "left", how)
    rows = {row[2]: row for row in listed(capsys)}
    assert rows["completed, not verified"][1] == "done"
    assert said in rows["damaged"][8]


def test_what_else_lies_in_the_state_folder_is_no_loop(stage: Stage, capsys: Captured) -> None:
    (stage.root / "notes").mkdir()
    (stage.root / "notes/todo.txt").touch()
    (stage.root / ".hidden").mkdir()
    assert [row[1] for row in listed(capsys)] == ["done", "left"]


def test_no_loops_are_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["loop", "list"]) == 0
    assert capsys.readouterr() == ("", f"There is no loop in {tmp_path}/.ai-factory/evolution.\n")


def test_history_is_a_line_for_each_event(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "history", "done"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [str(n) for n in range(1, len(lines) + 1)]
    assert lines[0].endswith("run_started: words, at most 4 iterations")
    assert "evaluation_done: 0.666 not passed" in "\n".join(lines)
    assert lines[-1].endswith("stopped: threshold_reached")


def test_history_as_json_has_the_events_whole(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "history", "done", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["alias"], found["problems"]) == ("done", [])
    assert found["events"][0]["payload"]["task"]["prompt"] == "say words"


def test_f05_of_a_damaged_history_all_that_can_be_read_is_shown(
    stage: Stage, capsys: Captured
) -> None:
    path = stage.root / "left/history.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:1], b"nonsense\n", *lines[2:]]))
    assert main(["loop", "history", "left"]) == 12
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == len(lines) - 1
    assert "line 2: it is not JSON" in err


def test_an_event_of_another_program_is_shown_as_far_as_it_goes(
    stage: Stage, capsys: Captured
) -> None:
    seed = {
        "ts": "2026-02-18T12:01:10Z", "run_id": "r", "iteration": 1, "phase": "A",
        "step": "EVALUATE", "event": "evaluation_done", "status": "ok",
        "payload": {"score": 0.72, "passed": False},
    }  # fmt: skip
    lines = [json.dumps(seed), '{"other": 1}']
    (stage.root / "left/history.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["loop", "history", "left"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith("EVALUATE        evaluation_done: 0.720 not passed")
    assert out[1] == "   2  not an event of a loop"


def test_show_gives_the_bytes_as_they_are(
    stage: Stage, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    data = b"\xef\xbb\xbfby hand\r\nno end \xff\x00"
    (stage.root / "left/artifact.md").write_bytes(data)
    assert main(["loop", "show", "left"]) == 0
    assert capfdbinary.readouterr().out == data


@pytest.mark.parametrize(("iteration", "text"), [("1", "alpha\n"), ("2", GOOD)])
def test_show_rebuilds_what_an_iteration_evaluated(
    iteration: str, text: str, stage: Stage, capsys: Captured
) -> None:
    (stage.root / "done/artifact.md").write_text("by hand\n")
    assert main(["loop", "show", "done", "--iteration", iteration]) == 0
    assert capsys.readouterr().out == text


def test_show_says_that_an_iteration_was_not_evaluated(stage: Stage, capsys: Captured) -> None:
    with stage.begin(Script(produce="alpha\n"), alias="early") as loop:
        next(event for event in history_of(loop) if event.kind == "artifact_created")
    assert main(["loop", "show", "early", "--iteration", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == "alpha\n"
    assert "The artifact of iteration 1 was not evaluated." in err


def test_show_names_the_iterations_there_are(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "show", "done", "--iteration", "7"]) == 4
    said = "iteration 7 of 'done' has no artifact (there are: 1, 2)"
    assert said in capsys.readouterr().err


def test_show_takes_a_lost_artifact_from_the_history(stage: Stage, capsys: Captured) -> None:
    (stage.root / "left/artifact.md").unlink()
    assert main(["loop", "show", "left"]) == 0
    out, err = capsys.readouterr()
    assert out == "x\n"
    assert "artifact.md is missing; this is what the history has." in err


def test_show_as_json_refuses_what_is_no_text(stage: Stage, capsys: Captured) -> None:
    (stage.root / "left/artifact.md").write_bytes(b"ab\xff")
    assert main(["loop", "show", "left", "--json"]) == 4
    assert "the artifact of 'left' is not UTF-8 at byte 2" in capsys.readouterr().err


def test_show_as_json_has_text_and_hash(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "show", "done", "--iteration", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["artifact"], shown["iteration"]) == ("alpha\n", 1)
    assert shown["sha256"] == hashlib.sha256(b"alpha\n").hexdigest()


def test_watch_ends_where_nobody_drives_the_loop(stage: Stage, capsys: Captured) -> None:
    assert main(["loop", "status", "--watch", "left"]) == 0
    assert capsys.readouterr().out.count("Loop: left (running (interrupted))") == 1


WATCHES = {
    ("--watch", "x", "left"): "--watch 'x': expected seconds",
    ("--watch", "0", "left"): "expected at least 0.1 seconds",
    ("--watch", "nan", "left"): "expected at least 0.1 seconds",
}


@pytest.mark.parametrize(("words", "said"), WATCHES.items(), ids=lambda value: str(value))
def test_watch_wants_seconds(
    words: tuple[str, ...], said: str, stage: Stage, capsys: Captured
) -> None:
    assert main(["loop", "status", *words]) == 4
    assert said in capsys.readouterr().err


WORDS = (["status"], ["status", "--json"], ["list"], ["list", "--json"], ["history"], ["show"],
         ["show", "--iteration", "1"], ["status", "--watch"])  # fmt: skip


def everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_ino, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    } | {str(p): (p.stat().st_mtime_ns, p.stat().st_ino, b"") for p in folder.rglob("*/")}


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_w10_looking_changes_nothing(words: list[str], stage: Stage, capsys: Captured) -> None:
    (stage.root / "left/run.json").write_text("{")
    (stage.root / "left/.run.json.0123456789ab.tmp").touch()
    before = everything(stage.project)
    main(["loop", *words])
    assert everything(stage.project) == before


def test_t06_nothing_that_is_listed_moves_the_terminal(stage: Stage, capsys: Captured) -> None:
    (stage.root / "left").rename(stage.root / "a\x1b[2Jb")
    path = stage.root / "done/history.jsonl"
    path.write_text('{"ts": "\\u001b[2J", "event": "stopped", "run_id": "r", "iteration": 1, '
                    '"phase": "A", "step": "PLAN", "status": "ok", "payload": {}}\n')  # fmt: skip
    for words in (["list"], ["history", "done"], ["clean", "--all"]):
        main(["loop", *words])
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "a\\x1b[2Jb" in out


def test_a_copied_loop_is_no_other_one_and_is_not_driven(stage: Stage, capsys: Captured) -> None:
    shutil.copytree(stage.root / "left", stage.root / "copy")
    assert main(["loop", "status", "copy"]) == 0
    out = capsys.readouterr().out
    assert "Copy of: left" in out
    assert "loop resume" not in out
    for verb in ("resume", "stop"):
        assert main(["loop", verb, "copy"]) == 4
        assert "copy has the history of loop 'left': cannot run a copied loop" in told(capsys)


def told(capsys: Captured) -> str:
    return " ".join(capsys.readouterr().err.split())


def test_status_of_a_run_of_a_newer_version_says_so(stage: Stage, capsys: Captured) -> None:
    path = stage.root / "done/run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 99}))
    assert main(["loop", "status", "done"]) == 12
    assert "done/run.json (schema 99, this one reads 1)" in told(capsys)
