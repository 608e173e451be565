"""Standard streams that are closed, full, of another encoding, or a terminal; by real processes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.slim import slim_python

pytestmark = [pytest.mark.long, pytest.mark.variants]

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: "says it ― ä", severity: fail, check: {type: content, search: al}}
"""
NEW = [
    *("-m", "pytest_reflex", "loop", "new", "say it", "--alias", "run"),
    *("--criteria", "words.yaml", "--input", "draft.md", "--yes"),
]
DRAFT = "# ä ― 🎉\nalpha\x1b]0;title\x07\x1b[2J\n"
CORE = ("--evaluator", "core")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "draft.md").write_text(DRAFT)
    return tmp_path


def run(
    project: Path, *flags: str, redirect: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    argv = ["sh", "-c", f'exec "$@" {redirect}', "sh", slim_python(), *NEW, *flags]
    env = {**os.environ, **environment}
    return subprocess.run(argv, cwd=project, env=env, capture_output=True, timeout=60)


def status(project: Path) -> str:
    found = json.loads((project / ".ai-factory/evolution/run/run.json").read_text("utf-8"))
    return str(found["status"])


REDIRECTS = {
    "stdout closed": (">&-", 0),
    "stderr closed": ("2>&-", 0),
    "stdin closed": ("<&-", 0),
    "all closed": ("<&- >&- 2>&-", 0),
    "stdout full": (">/dev/full", 0),
    "stderr full": ("2>/dev/full", 0),
    "both full": (">/dev/full 2>/dev/full", 0),
}


@pytest.mark.parametrize("evaluator", ["pytest", "core"])
@pytest.mark.parametrize(("redirect", "code"), REDIRECTS.values(), ids=REDIRECTS.keys())
def test_f12_the_run_ends_whatever_became_of_the_streams(
    redirect: str, code: int, evaluator: str, project: Path
) -> None:
    done = run(project, "--evaluator", evaluator, redirect=redirect)
    assert (done.returncode, status(project)) == (code, "completed")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_f12_a_reader_of_stdout_that_goes_away_changes_no_verdict(
    unbuffered: str, project: Path
) -> None:
    (project / "draft.md").write_text("alpha\n" * 20_000)
    script = '{ "$@"; echo $? >&2; } | head -c 1'
    done = subprocess.run(
        ["sh", "-c", script, "sh", slim_python(), *NEW, *CORE, "--quiet"],
        cwd=project,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        capture_output=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr.split()[-1], status(project)) == (b"a", b"0", "completed")
    assert b"could not be written: Broken pipe; the exit status is that of the verdict" in (
        done.stderr
    )


def test_f12_a_full_stdout_is_named(project: Path) -> None:
    done = run(project, *CORE, redirect=">/dev/full")
    assert b"standard output could not be written: No space left on device" in done.stderr


FAILING = CRITERIA.replace("search: al}", "search: omega}")
VERDICTS: dict[str, tuple[list[str], int]] = {
    "evaluate, passed": (["evaluate", "draft.md", "--criteria", "words.yaml"], 0),
    "evaluate, failed": (["evaluate", "draft.md", "--criteria", "failing.yaml"], 1),
    "evaluate, no file": (["evaluate", "gone.md", "--criteria", "words.yaml"], 4),
    "loop verify": (["loop", "verify", "run"], 0),
    "criteria test": (["criteria", "test", "words.yaml"], 0),
    "criteria test, strict": (["criteria", "test", "words.yaml", "--strict"], 1),
    "criteria fix": (["criteria", "fix", "draft.md", "--criteria", "failing.yaml"], 1),
    "iterate": (["iterate", "run", "build", "-n", "1"], 0),
}
DATA: dict[str, list[str]] = {
    "version": ["--version"],
    "help": ["--help"],
    "nothing": [],
    "loop status": ["loop", "status", "--json"],
    "loop show": ["loop", "show"],
    "criteria compile": ["criteria", "compile", "words.yaml"],
    "iterate list": ["iterate", "list"],
    "schema": ["schema"],
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a loop that completed, and a procedure."""
    project = tmp_path_factory.mktemp("ended")
    (project / "words.yaml").write_text(CRITERIA)
    (project / "draft.md").write_text(DRAFT)
    (project / "failing.yaml").write_text(FAILING)
    (project / "pytest-reflex.toml").write_text(
        '[iterate]\nagent = "tool"\nunchanged = 0\n[agents.tool]\ncommand = ["echo", "done"]\n'
    )
    subprocess.run([slim_python(), *NEW, *CORE], cwd=project, capture_output=True, timeout=60)
    return project


def left(project: Path, arguments: list[str], redirect: str) -> int:
    """Return the exit status of a command whose outputs go where a shell leads them."""
    argv = [slim_python(), "-m", "pytest_reflex", *arguments]
    script = f'exec "$@" {redirect}'
    if redirect == "|":
        script = '{ "$@"; echo $? > status; } | true; while [ ! -s status ]; do sleep 0.05; done'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *argv], cwd=project, capture_output=True, timeout=60
    )
    assert b"Traceback" not in done.stderr
    if redirect != "|":
        return done.returncode
    status = int((project / "status").read_text())
    (project / "status").unlink()
    return status


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full 2>/dev/full", "|"])
@pytest.mark.parametrize(("verb", "status"), VERDICTS.values(), ids=VERDICTS.keys())
def test_a_verdict_keeps_its_status_wherever_its_words_go(
    verb: list[str], status: int, redirect: str, ended: Path
) -> None:
    assert left(ended, verb, redirect) == status


@pytest.mark.parametrize("redirect", [">&- 2>&-", ">/dev/full"])
@pytest.mark.parametrize("verb", DATA.values(), ids=DATA.keys())
def test_data_that_could_not_be_written_is_no_success(
    verb: list[str], redirect: str, ended: Path
) -> None:
    assert left(ended, verb, redirect) == 12


@pytest.mark.parametrize("verb", DATA.values(), ids=DATA.keys())
def test_data_does_not_need_a_standard_error(verb: list[str], ended: Path) -> None:
    assert left(ended, verb, "2>/dev/full") == 0


def test_f12_a_reader_of_stderr_that_goes_away_stops_nothing(project: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [slim_python(), *NEW, *CORE], cwd=project, stdout=subprocess.PIPE, stderr=writer, timeout=60
    )
    os.close(writer)
    assert (done.returncode, status(project)) == (0, "completed")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_f32_an_artifact_reaches_a_pipe_byte_for_byte(encoding: str, project: Path) -> None:
    done = run(project, *CORE, "--quiet", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stdout) == (0, DRAFT.encode())


def test_f32_what_an_encoding_lacks_is_shown_escaped(project: Path) -> None:
    done = run(project, *CORE, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert b"\\u2500\\u2500 Final summary" in done.stdout


def test_t06_a_terminal_gets_no_control_characters_of_an_artifact(project: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [slim_python(), *NEW, *CORE, "--quiet"],
        cwd=project,
        stdout=theirs,
        stderr=theirs,
        timeout=60,
    )
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert done.returncode == 0
    assert b"\\x1b]0;title\\x07\\x1b[2J" in shown
    assert b"\x1b" not in shown


def test_f32_a_working_directory_that_is_gone_is_told(project: Path) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", slim_python(), *NEW],
        cwd=project,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 4
    assert b"the working directory cannot be used: No such file or directory" in done.stderr


@pytest.mark.parametrize("flag", ["--ideal", "--alias"])
def test_b062_words_that_are_no_utf8_are_refused_and_nothing_is_written(
    flag: str, project: Path
) -> None:
    done = subprocess.run(
        [*map(os.fsencode, [slim_python(), *NEW]), flag.encode(), b"caf\xe9"],
        cwd=project,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 4
    assert not (project / ".ai-factory").exists()


def test_b062_a_draft_whose_name_is_no_utf8_is_refined(project: Path) -> None:
    name = b"caf\xe9.md"
    (project / os.fsdecode(name)).write_text("alpha\n")
    argv = [*map(os.fsencode, [slim_python(), *NEW, *CORE]), b"--in-place", b"--input", name]
    done = subprocess.run(argv, cwd=project, capture_output=True, timeout=60)
    assert (done.returncode, status(project)) == (0, "completed")
