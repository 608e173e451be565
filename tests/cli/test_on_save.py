"""``evaluate --watch`` through the door that users use: a process that is told of saves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.long

CRITERIA = """\
name: words
extends: ./base.yaml
rules:
  - {id: a.x.beta, description: says beta, severity: warn, check: {type: content, search: beta}}
"""
BASE = """\
name: base
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
ARGUMENTS = ["evaluate", "--criteria", "words.yaml", "--watch"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "p"
    project.mkdir()
    (project / "words.yaml").write_text(CRITERIA)
    (project / "base.yaml").write_text(BASE)
    (project / "a.md").write_text("alpha\n")
    return project


class Watching:
    """A process that watches; what it tells on both streams comes line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def until(self, text: str) -> str:
        """Return what is reported up to the line that holds a text."""
        assert self.process.stdout is not None
        lines: list[str] = []
        while not lines or text not in lines[-1]:
            lines.append(self.process.stdout.readline())
            assert lines[-1], f"ended without {text!r}: {lines}"
        return "".join(lines)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


@contextmanager
def watching(project: Path, *words: str) -> Iterator[Watching]:
    argv = [sys.executable, "-m", "pytest_reflex", *ARGUMENTS, *words]
    with subprocess.Popen(
        argv, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield Watching(process)
        finally:
            process.kill()


def replace(path: Path, text: str) -> None:
    """Save as editors do: a new file replaces the old one."""
    beside = path.parent.parent / "beside.tmp"
    beside.write_text(text)
    os.replace(beside, path)


def test_each_save_gives_a_block_with_what_it_changed(project: Path) -> None:
    with watching(project, "a.md") as it:
        assert "CHANGED" not in it.until("a.x.beta")
        replace(project / "a.md", "beta\n")
        told = it.until("CHANGED")
        assert told.count("ARTIFACT") == 1
        assert told.endswith("CHANGED     fixed a.x.beta; regressed a.x.alpha\n")
        replace(project / "a.md", "alpha beta\n")
        assert it.until("CHANGED").endswith("CHANGED     fixed a.x.alpha\n")
        assert it.interrupt() == 130


def test_criteria_and_what_they_extend_are_watched(project: Path) -> None:
    with watching(project, "a.md") as it:
        it.until("a.x.beta")
        replace(project / "base.yaml", BASE.replace("search: alpha", "search: omega"))
        assert it.until("CHANGED").endswith("regressed a.x.alpha\n")
        replace(project / "words.yaml", CRITERIA.replace("search: beta", "search: alpha"))
        assert it.until("CHANGED").endswith("fixed a.x.beta\n")


def test_faults_in_the_criteria_are_told_and_waited_out(project: Path) -> None:
    replace(project / "base.yaml", "rules: [\n")
    with watching(project, "a.md") as it:
        it.until("base.yaml:")
        replace(project / "base.yaml", BASE)
        it.until("a.x.beta")
        replace(project / "base.yaml", BASE.replace("severity: fail", "severity: fial"))
        told = it.until("fial")
        assert (told.count("ARTIFACT"), "base.yaml:3" in told) == (0, True)
        replace(project / "base.yaml", BASE)
        assert it.until("CHANGED").endswith("CHANGED     no rule\n")


def test_an_artifact_that_is_gone_is_told_and_waited_for(project: Path) -> None:
    with watching(project, "a.md") as it:
        it.until("a.x.beta")
        (project / "a.md").unlink()
        it.until("a.md")
        replace(project / "a.md", "alpha beta\n")
        assert it.until("CHANGED").endswith("fixed a.x.beta\n")


def test_a_new_file_of_a_folder_is_judged(project: Path) -> None:
    replace(project / "words.yaml", CRITERIA.replace("beta}", "beta, files: '*.md'}"))
    replace(project / "base.yaml", BASE.replace("alpha}", "alpha, files: '*.md'}"))
    folder = project / "docs"
    folder.mkdir()
    replace(folder / "a.md", "alpha\n")
    with watching(project, "docs") as it:
        it.until("a.x.beta")
        replace(folder / "b.md", "beta\n")
        assert it.until("CHANGED").endswith("fixed a.x.beta\n")


def test_json_is_one_document_a_line_faults_included(project: Path) -> None:
    with watching(project, "a.md", "--json") as it:
        first = json.loads(it.until("{"))
        replace(project / "words.yaml", "rules: 3\n")
        fault = json.loads(it.until("{").splitlines()[-1])
        replace(project / "words.yaml", CRITERIA)
        last = json.loads(it.until("{").splitlines()[-1])
    assert [d["gate"]["exit_status"] for d in (first, fault, last)] == [1, 4, 1]
    assert (fault["evaluations"], fault["problems"][0]["location"]["path"]) == ([], "words.yaml")


def test_a_check_that_changes_the_artifact_is_not_judged_for_ever(project: Path) -> None:
    change = "{type: executable, command: 'echo x >> \"$PYTEST_REFLEX_ARTIFACT\"'}"
    rule = f"  - {{id: a.x.changes, description: changes, severity: warn, check: {change}}}\n"
    replace(project / "words.yaml", CRITERIA + rule)
    with watching(project, "a.md") as it:
        it.until("a.x.changes")
        size = (project / "a.md").stat().st_size
        replace(project / "words.yaml", CRITERIA)
        it.until("CHANGED")
    assert (project / "a.md").stat().st_size == size == len("alpha\n" + 3 * "x\n")


def test_a_terminal_shows_the_last_verdict_and_waits(project: Path) -> None:
    with Terminal([*ARGUMENTS, "a.md"], project) as terminal:
        terminal.wait_for("a.x.beta", "Waiting for a save; Ctrl-C ends.")
        replace(project / "a.md", "alpha beta\n")
        shown = terminal.wait_for("CHANGED     fixed a.x.beta", "Waiting for a save")
        assert shown.count("ARTIFACT") == 1
        replace(project / "base.yaml", "rules: [\n")
        shown = terminal.wait_for("base.yaml:", "Waiting for a save")
        assert "ARTIFACT" not in shown
        terminal.interrupt()
        assert terminal.end() == 130


WRONG = {
    "no artifact": (["gone.md", "--criteria", "words.yaml"], "gone.md"),
    "no criteria": (["a.md", "--criteria", "wrods.yaml"], "wrods.yaml"),
    "no reporter": (["a.md", "--criteria", "words.yaml", "--format", "xml"], "'xml'"),
}


@pytest.mark.parametrize(("words", "told"), WRONG.values(), ids=WRONG)
def test_what_is_not_there_at_the_start_is_refused(
    project: Path,
    words: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    assert main(["evaluate", *words, "--watch"]) == 4
    assert told in capsys.readouterr().err
