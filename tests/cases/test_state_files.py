"""Cases from the field: state files that were cut, swapped or pointed elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.catalog import status_text
from pytest_reflex.drivers.reflex.run_status import find_run
from tests.drivers.reflex.stage import Script, Stage, history_of

CRITERIA = """\
name: words
rules:
  - {id: a.x.never, description: d, severity: fail, check: {type: content, search: never}}
"""


@pytest.fixture
def broken(tmp_path: Path) -> Stage:
    """A run that was left in the middle of its first iteration."""
    stage = Stage(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        for event in history_of(loop):
            if event.kind == "critique_done":
                break
    return stage


@pytest.mark.parametrize("left", [b"", b"{", None, b"null", b"\xff\xfe\x00", b"\0" * 57], ids=repr)
def test_b107_a_broken_run_json_is_rebuilt_and_kept(broken: Stage, left: bytes | None) -> None:
    path = broken.root / "words/run.json"
    before = path.read_bytes()
    path.write_bytes(before[:57] if left is None else left)
    cut = path.read_bytes()
    assert "words (running (interrupted))" in status_text(find_run(broken.root, "words"))
    with broken.resume(Script()) as loop:
        assert path.read_bytes() == before
        assert [kept.name for kept in loop.files.aside] == ["run.json.corrupt-1"]
    assert path.with_name("run.json.corrupt-1").read_bytes() == cut


def test_b107_what_is_kept_is_never_written_over(broken: Stage) -> None:
    path = broken.root / "words/run.json"
    for number in (1, 2):
        path.write_text(f"cut {number}")
        with broken.resume(Script()):
            pass
    kept = [path.with_name(f"run.json.corrupt-{number}").read_text() for number in (1, 2)]
    assert kept == ["cut 1", "cut 2"]


def test_b107_b109_resume_tells_what_it_could_not_read(
    broken: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = broken.root / "words"
    (folder / "run.json").write_text("{")
    history = (folder / "history.jsonl").read_bytes()
    (folder / "history.jsonl").write_bytes(history[:-10])
    monkeypatch.chdir(broken.project)
    main(["loop", "resume", "words", "--evaluator", "core"])
    told = " ".join(capsys.readouterr().err.split())
    assert "kept as history.jsonl.torn-1" in told
    assert "kept as run.json.corrupt-1" in told


@pytest.mark.parametrize("name", ["words/run.json", "words/artifact.md", "current.json"])
def test_b116_a_link_in_place_of_a_state_file_is_not_followed(
    broken: Stage, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    victim = tmp_path_factory.mktemp("beside") / "victim"
    victim.write_text("mine")
    path = broken.root / name
    path.unlink(missing_ok=True)
    path.symlink_to(victim)
    with broken.resume(Script(produce="alpha beta gamma\n", refine="x y\n")) as loop:
        list(history_of(loop))
    assert victim.read_text() == "mine"
    assert not path.is_symlink()


def test_b116_a_link_in_place_of_the_history_is_refused(
    broken: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    victim = broken.project / "victim"
    victim.write_text("mine")
    path = broken.root / "words/history.jsonl"
    path.unlink()
    path.symlink_to(victim)
    monkeypatch.chdir(broken.project)
    assert main(["loop", "resume", "words"]) == 12
    assert "history.jsonl is a symbolic link" in capsys.readouterr().err
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("alias", ["../../x", "..", "/tmp/x", "a\\b", "a\nb", "-x", ""])
def test_b118_an_alias_never_leaves_the_state_folder(
    alias: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.yaml").write_text(CRITERIA)
    argv = ["loop", "new", "t", "--criteria", "words.yaml", "--yes", f"--alias={alias}"]
    assert main(argv) == 4
    assert "is not an alias" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["words.yaml"]


def test_b118_a_foreign_file_is_not_shown_where_it_is_no_criteria(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret").write_text("root:x:0:0\nsecret words\n")
    Path("own.yaml").write_text(json.dumps({"name": "own", "extends": "./secret", "rules": []}))
    assert main(["evaluate", "secret", "--criteria", "own.yaml"]) == 4
    told = capsys.readouterr().err
    assert "secret:1:1" in told
    assert "words" not in told
