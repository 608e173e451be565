"""The ten rows of the resume table: which files are there, and what becomes of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.setup import resumable
from pytest_reflex.errors import StateError, UsageError
from tests.drivers.reflex.stage import Script, Stage, history_of, story

GOOD = "alpha beta gamma\n"


class Left(Stage):
    """A run that was left after its first critique, with its files at hand."""

    def __init__(self, project: Path) -> None:
        super().__init__(project)
        with self.begin(Script(produce="x\n")) as loop:
            for event in history_of(loop):
                if event.kind == "evaluation_done":
                    self.run_json_before = self.run_file.read_bytes()
                if event.kind == "critique_done":
                    break

    @property
    def folder(self) -> Path:
        return self.root / "words"

    @property
    def history(self) -> Path:
        return self.folder / "history.jsonl"

    @property
    def run_file(self) -> Path:
        return self.folder / "run.json"

    def all_bytes(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def finish(self) -> list[str]:
        """Resume to the end and return which steps were asked for."""
        script = Script(produce=GOOD, refine=GOOD)
        loop: ReflexLoop
        with self.resume(script) as loop:
            assert story(list(history_of(loop)))[-1] == "stopped"
        assert self.run_json()["status"] == "completed"
        assert self.artifact() == GOOD
        return script.asked()


@pytest.fixture
def left(tmp_path: Path) -> Left:
    return Left(tmp_path)


REST = ["REFINE", "PLAN", "PRODUCE"]


def test_no_files(left: Left) -> None:
    with pytest.raises(UsageError, match="there is no loop named 'other'"):
        resumable(left.root, "other")


def test_only_dir(left: Left) -> None:
    (left.root / "bare").mkdir()
    with pytest.raises(UsageError, match=r"loop 'bare' never began.*loop clean bare"):
        resumable(left.root, "bare")


def test_run_json_only(left: Left) -> None:
    left.history.unlink()
    before = left.all_bytes()
    with pytest.raises(
        UsageError, match=r"history of 'words' is missing.*`pytest-reflex loop new`"
    ):
        resumable(left.root, "words")
    assert left.all_bytes() == before


def test_history_only(left: Left) -> None:
    for name in ("run.json", "artifact.md"):
        (left.folder / name).unlink()
    assert left.finish() == REST


def test_both_agree(left: Left) -> None:
    assert left.finish() == REST


def test_run_json_behind(left: Left) -> None:
    left.run_file.write_bytes(left.run_json_before)
    assert left.finish() == REST


def test_run_json_ahead(left: Left) -> None:
    lines = left.history.read_bytes().splitlines(keepends=True)
    left.history.write_bytes(b"".join(lines[:-1]))
    before = left.all_bytes()
    with pytest.raises(StateError, match=r"ends with event 5, but run.json knows of event 6"):
        left.finish()
    assert left.all_bytes() == before


def test_run_json_corrupt_and_history_good(left: Left) -> None:
    left.run_file.write_bytes(b'{"run_id": "wor')
    assert left.finish() == REST
    assert (left.folder / "run.json.corrupt-1").read_bytes() == b'{"run_id": "wor'


def test_run_json_good_and_history_torn(left: Left) -> None:
    left.history.write_bytes(left.history.read_bytes()[:-20])
    assert left.finish() == ["CRITIQUE", *REST]
    assert (left.folder / "history.jsonl.torn-1").exists()


def test_both_damaged(left: Left, capsys: pytest.CaptureFixture[str]) -> None:
    lines = left.history.read_bytes().splitlines(keepends=True)
    left.history.write_bytes(b"".join([*lines[:2], b"\0\0\n", *lines[3:]]))
    left.run_file.write_bytes(b"{")
    before = left.all_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(left.project)
        assert main(["loop", "resume", "words"]) == 12
    assert "history.jsonl is damaged: line 3" in capsys.readouterr().err
    assert left.all_bytes() == before


@pytest.mark.parametrize("pointer", [True, False], ids=["with current.json", "without"])
@pytest.mark.parametrize("verb", ["status", "resume"])
def test_f07_a_missing_history_is_told_without_an_alias_too(
    left: Left,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    pointer: bool,
) -> None:
    monkeypatch.chdir(left.project)
    left.history.unlink()
    if not pointer:
        (left.root / "current.json").unlink()
    before = left.all_bytes()
    root = str(left.root.relative_to(left.project))
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_ROOT", root)
    assert main(["loop", verb]) == 4
    assert "the history of 'words' is missing" in capsys.readouterr().err
    assert left.all_bytes() == before
