"""A file that cannot be read for a cause that may pass: tried twice, then 12, never tampering."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.run_status import read_run
from pytest_reflex.errors import ArtifactError, CriteriaError, UnreadableError
from pytest_reflex.integrity.manifest import changes, take
from pytest_reflex.storage.journal import Journal
from tests.drivers.reflex.stage import Script, Stage, history_of
from tests.faults.intercepted import Call
from tests.faults.read_side import ReadSide

ERRORS = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
GOOD = "alpha beta gamma\n"
Capture = pytest.CaptureFixture[str]


class Failing:
    """Lets calls on one file fail, so many times in a row (0: always)."""

    def __init__(self, name: str, number: int, times: int = 0, call: str = "") -> None:
        self._name, self._number, self._times, self._call = name, number, times, call
        self.failed = 0

    def __call__(self, call: Call, perform: Callable[[], Any]) -> Any:
        meant = os.path.basename(call.path) == self._name and call.name.endswith(self._call)
        if meant and (not self._times or self.failed < self._times):
            self.failed += 1
            raise OSError(self._number, os.strerror(self._number), call.path)
        return perform()


@pytest.fixture(params=ERRORS, ids=[errno.errorcode[number] for number in ERRORS])
def number(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A run that was left after its first evaluation."""
    monkeypatch.chdir(tmp_path)
    stage = Stage(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        for event in history_of(loop):
            if event.kind == "evaluation_done":
                break
    return stage


FILES = ("history.jsonl", "run.json", "artifact.md", "criteria.yaml")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("call", ["stat", "open"])
def test_a_fault_that_stays_ends_with_12_and_the_run_goes_on_later(
    name: str, call: str, number: int, stage: Stage
) -> None:
    script = Script(produce=GOOD, refine=GOOD)
    faults = ReadSide(stage.project, Failing(name, number, call=call))
    told = pytest.raises((UnreadableError, ArtifactError))
    with faults, told as raised, stage.resume(script) as loop:
        list(history_of(loop))
    assert raised.value.exit_code == 12
    assert os.strerror(number) in str(raised.value)
    with stage.resume(script) as loop:
        list(history_of(loop))
    assert (loop.state.stop.passed, loop.state.stop.reason) == (True, "threshold_reached")
    assert not [path for path in loop.files.folder.iterdir() if "corrupt" in path.name]


@pytest.mark.parametrize("name", FILES)
def test_a_fault_that_passes_is_not_noticed(name: str, number: int, stage: Stage) -> None:
    script, failing = Script(produce=GOOD, refine=GOOD), Failing(name, number, times=1)
    with ReadSide(stage.project, failing), stage.resume(script) as loop:
        list(history_of(loop))
    assert (failing.failed, loop.state.stop.passed) == (1, True)


@pytest.mark.parametrize("name", ["criteria.yaml", "draft.md", "pytest-reflex.toml"])
def test_evaluate_ends_with_12_where_a_file_cannot_be_read_now(
    name: str, number: int, stage: Stage, capsys: Capture
) -> None:
    (stage.project / "draft.md").write_text(GOOD)
    (stage.project / "pytest-reflex.toml").write_text("")
    argv = ["evaluate", "draft.md", "--criteria", "criteria.yaml"]
    with ReadSide(stage.project, Failing(name, number)):
        assert main(argv) == 12
    said = capsys.readouterr().err
    assert name in said
    assert os.strerror(number) in said
    with ReadSide(stage.project, Failing(name, number, times=1)):
        assert main(argv) == 0


def test_a_file_that_is_sealed_and_cannot_be_read_is_no_change(number: int, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/one.py").write_text("1")
    (tmp_path / "link.py").symlink_to("folder/one.py")
    before = take(("folder/*.py", "link.py"), root=tmp_path)
    for call, name in (("lstat", "one.py"), ("open", "one.py"), ("scandir", "folder"),
                       ("stat", "link.py")):  # fmt: skip
        with ReadSide(tmp_path, Failing(name, number, times=1, call=call)) as _:
            assert changes(before) == ()
        with ReadSide(tmp_path, Failing(name, number, call=call)), pytest.raises(UnreadableError):
            changes(before)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.ELOOP])
def test_a_fault_that_does_not_pass_is_told_as_before(number: int, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("1")
    before = take(("one.py",), root=tmp_path)
    with ReadSide(tmp_path, Failing("one.py", number, call="open")):
        os.utime(tmp_path / "one.py")
        assert [str(one) for one in changes(before)] == ["one.py was changed"]


def test_a_journal_that_cannot_be_looked_at_was_not_removed(number: int, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "j.jsonl") as journal:
        faults = ReadSide(tmp_path, Failing("j.jsonl", number, call="stat"))
        with faults, pytest.raises(UnreadableError, match=os.strerror(number)):
            journal.append({"event": "x"})
        journal.append({"event": "x"})
    assert len(journal.records) == 1


VERBS = (["status"], *([verb, "words"] for verb in ("status", "verify", "resume", "history")))


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_says_that_the_history_cannot_be_read_now(
    verb: list[str], number: int, stage: Stage, capsys: Capture
) -> None:
    before = (stage.root / "words/history.jsonl").read_bytes()
    with ReadSide(stage.root, Failing("history.jsonl", number)):
        assert main(["loop", *verb]) == 12
    assert f"history.jsonl could not be read: {os.strerror(number)}" in capsys.readouterr().err
    assert (stage.root / "words/history.jsonl").read_bytes() == before
    assert read_run(stage.root / "words").state.status == "running"


def test_criteria_that_cannot_be_read_stay_a_criteria_error_for_those_who_catch_it(
    tmp_path: Path, number: int
) -> None:
    from pytest_reflex.criteria.load import read_criteria
    from pytest_reflex.host import open_host

    (tmp_path / "c.yaml").write_text("name: x\nrules: []\n")
    faults = ReadSide(tmp_path, Failing("c.yaml", number, call="open"))
    with faults, pytest.raises(CriteriaError) as told:
        read_criteria(str(tmp_path / "c.yaml"), registry=open_host().registry)
    assert told.value.exit_code == 12
