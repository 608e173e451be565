"""Where a result is written: to a file of a person's, never over something else, and never lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

CRITERIA = """\
name: words
rules:
  - id: a.x.alpha
    description: says alpha
    severity: fail
    check: {type: content, search: alpha}
    fix: {append: {text: alpha}}
"""
NEW = [
    *("loop", "new", "say alpha", "--alias", "run", "--criteria", "words.yaml", "--yes"),
    *("--evaluator", "core", "--input", "draft.md"),
]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "draft.md").write_text("# Words\n")
    return tmp_path


def pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return "pipe"


def ring(folder: Path) -> str:
    (folder / "ring").symlink_to("ring")
    return "ring"


def closed(folder: Path) -> str:
    (folder / "file").touch()
    return "file/result.md"


UNUSABLE: dict[str, tuple[Callable[[Path], str], str]] = {
    "a device": (lambda _: "/dev/null", "/dev/null: it is not a regular file"),
    "a pipe": (pipe, "pipe: it is not a regular file"),
    "a folder": (lambda _: ".", "it is a folder"),
    "nothing": (lambda _: "", "--output names no file: it is empty"),
    "a folder that is missing": (lambda _: "no/such/x.md", "there is no folder"),
    "below a file": (closed, "there is no folder"),
    "a ring of links": (ring, "ring"),
    "a state file": (lambda _: ".ai-factory/evolution/current.json", "their own state"),
}


@pytest.mark.parametrize(("make", "message"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_output_that_cannot_be_one_is_refused_before_anything_is_paid(
    make: Callable[[Path], str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".ai-factory/evolution").mkdir(parents=True)
    assert main([*NEW, f"--output={make(project)}"]) == 4
    assert message in capsys.readouterr().err
    assert list((project / ".ai-factory/evolution").iterdir()) == []
    assert not Path(os.devnull).is_file()


def linked(folder: Path) -> str:
    (folder / "link.yaml").symlink_to("words.yaml")
    return "link.yaml"


HELD: dict[str, Callable[[Path], str]] = {
    "the criteria": lambda _: "words.yaml",
    "a link to them": linked,
    "what they extend": lambda _: "base.yaml",
    "a prompt": lambda _: "orders.txt",
    "a plugin": lambda folder: f"{folder.name}.py",
    "a conftest.py that is not there yet": lambda _: "conftest.py",
    "pytest's options": lambda _: "pytest.ini",
    "our own": lambda _: "pytest-reflex.toml",
}


@pytest.mark.parametrize("make", HELD.values(), ids=HELD.keys())
def test_a_result_that_would_change_what_judges_it_is_refused_before_anything_is_written(
    make: Callable[[Path], str], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "base.yaml").write_text(CRITERIA)
    (project / "words.yaml").write_text("name: mine\nextends: ./base.yaml\n")
    (project / "orders.txt").write_text("be brief")
    plugin = project.name  # each test imports another module
    (project / f"{plugin}.py").touch()
    settings = f'plugins = ["{plugin}"]\n[loop]\nprompts = {{plan = "orders.txt"}}\n'
    (project / "pytest-reflex.toml").write_text(settings)
    path = make(project)
    assert main([*NEW, f"--output={path}"]) == 4
    assert f"{path}: the loop must not change it" in capsys.readouterr().err
    assert not (project / ".ai-factory").exists()


def test_criteria_are_not_refined_in_place_by_themselves(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*NEW, "--input", "words.yaml", "--in-place"]) == 4
    assert "words.yaml: the loop must not change it" in capsys.readouterr().err
    assert (project / "words.yaml").read_text() == CRITERIA


def test_a_recording_among_the_state_of_loops_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = ".ai-factory/evolution/run/history.jsonl"
    assert main([*NEW, "--record", record]) == 4
    assert f"{record}: loops keep their own state there" in capsys.readouterr().err
    assert not (project / ".ai-factory").exists()


def test_an_output_that_fails_at_the_end_loses_no_result(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "out").mkdir()
    command = "rmdir out 2>/dev/null; true"
    rule = "{id: a.x.z, description: d, severity: fail, check: {type: executable, command: %r}}"
    (project / "words.yaml").write_text(CRITERIA + f"  - {rule % command}\n")
    assert main([*NEW, "--output", "out/result.md"]) == 12
    out, err = capsys.readouterr()
    assert "Not written: out/result.md could not be written: there is no folder" in out
    assert out.endswith("# Words\nalpha\n")
    assert "the artifact is .ai-factory/evolution/run/artifact.md" in " ".join(err.split())


@pytest.mark.long
def test_a_draft_that_a_person_edited_meanwhile_is_left_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "echo mine >> draft.md"
    rule = "{id: a.x.z, description: d, severity: fail, check: {type: executable, command: %r}}"
    (project / "words.yaml").write_text(CRITERIA + f"  - {rule % command}\n")
    assert main([*NEW, "--in-place"]) == 0
    assert "draft.md: it was changed since the loop began" in capsys.readouterr().out
    assert (project / "draft.md").read_text() == "# Words\n" + "mine\n" * 2


@pytest.fixture
def imported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All modules that a loop needs: an ordinary user may not read those of root."""
    assert main([*NEW, "--output", "before.md"]) == 0
    capsys.readouterr()


@pytest.mark.usefixtures("imported")
def test_f11_an_output_that_may_not_be_written_is_refused(
    as_user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(as_user)
    (as_user / "words.yaml").write_text(CRITERIA)
    (as_user / "draft.md").write_text("# Words\n")
    (as_user / "mine.md").write_text("mine")
    (as_user / "mine.md").chmod(0o400)
    assert main([*NEW, "--output", "mine.md"]) == 4
    assert "mine.md: it is not writable" in capsys.readouterr().err
    assert (as_user / "mine.md").read_text() == "mine"
