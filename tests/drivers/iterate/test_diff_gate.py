"""Gates of kind diff: what one iteration may touch, with git and without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.iterate.test_tampering import AGENT

pytestmark = pytest.mark.variants

LINES = "".join(f"line {number}\n" for number in range(20))
ALL_REASONS = (
    "changed 2 files, at most 1 allowed; changed other.md, which the gate denies; "
    "changed 2 lines, at most 1 allowed"
)
Iterate = Callable[..., tuple[int, str]]


@pytest.fixture(params=["git", "no git"])
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "text.md").write_text(LINES)
    (folder / "other.md").write_text("a\n")
    (folder / "tests/test_a.py").write_text("def test_a():\n    pass\n")
    (folder / "data.bin").write_bytes(b"\0\1\2")
    if request.param == "git":
        (folder / ".gitignore").write_text("built/\n")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def iterate(project: Path, capsys: pytest.CaptureFixture[str]) -> Iterate:
    def run(gate: str, act: str, *more: str) -> tuple[int, str]:
        (project / "pytest-reflex.toml").write_text(
            f"[iterate]\nagent = 'tool'\n[iterate.gates.scope]\n{gate}\n"
            f"[agents.tool]\ncommand = ['{sys.executable}', '-I', '-S', '../agent.py']\n"
        )
        (project.parent / "agent.py").write_text(AGENT.format(act=act))
        status = main(["iterate", "run", "build", "--verbose", "-n", "1", "--fresh", *more])
        return status, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("gate", "act", "reason"),
    [
        (
            "kind = 'diff'\nmax_files = 5", "[write(f'new{n}', '') for n in range(7)]",
            "changed 7 files, at most 5 allowed",
        ),
        ("max_files = 0", "append('text.md', 'x')", "changed 1 file, at most 0 allowed"),
        ("max_files = 1", "os.rename('text.md', 'b.md')", "changed 2 files, at most 1 allowed"),
        ("max_files = 0", "os.chmod('text.md', 0o755)", "changed 1 file, at most 0 allowed"),
        ("max_files = 0", "os.symlink('text.md', 'x')", "changed 1 file, at most 0 allowed"),
        ("max_lines = 2", "append('text.md', '1\\n2\\n3')", "changed 3 lines, at most 2 allowed"),
        (
            "max_lines = 3", "replace('text.md', 'line 3\\nline 4', 'a\\nb')",
            "changed 4 lines, at most 3 allowed",
        ),
        ("max_lines = 19", "os.unlink('text.md')", "changed 20 lines, at most 19 allowed"),
        (
            "deny = ['tests/**']", "append('tests/test_a.py', '#')",
            "changed tests/test_a.py, which the gate denies",
        ),
        ("deny = ['tests']", "write('tests/x', '')", "changed tests/x, which the gate denies"),
        (
            "deny = ['**/*.py', '*.bin']",
            "os.unlink('tests/test_a.py'); [write(name, '') for name in ('a.py', 'b.py', 'c.bin')]",
            "changed a.py, b.py, c.bin and 1 more, which the gate denies",
        ),
        (
            "max_files = 1\nmax_lines = 1\ndeny = ['other.md']",
            "append('text.md', 'x\\n'); append('other.md', 'b\\n')",
            ALL_REASONS,
        ),
    ],
)  # fmt: skip
def test_an_iteration_fails_that_touches_too_much(
    iterate: Iterate, gate: str, act: str, reason: str
) -> None:
    status, told = iterate(gate, act)
    below = f"    | scope: {reason}\n    | consecutive failures: 1/3"
    assert f"Quality gates failed: scope\n{below}\n" in told
    assert status == 6


@pytest.mark.parametrize(
    ("gate", "act", "passed"),
    [
        ("max_files = 0\nmax_lines = 0\ndeny = ['**']", "", "changed 0 files, 0 lines"),
        ("max_files = 1", "append('text.md', 'x')", "changed 1 file"),
        ("max_lines = 2", "replace('text.md', 'line 7\\n', 'x\\n')", "changed 1 file, 2 lines"),
        ("max_lines = 0", "os.chmod('text.md', 0o755)", "changed 1 file, 0 lines"),
        ("max_files = 0", "os.utime('text.md', (1, 1)); append('other.md', '')", "0 files"),
        ("deny = ['tests/**']", "write('tests.md', ''); write('src/tests', '')", "2 files"),
        ("max_files = 0", "write('__pycache__/x.pyc', ''); write('.mypy_cache/y', '')", "0 files"),
    ],
)
def test_an_iteration_passes_that_keeps_within_the_limits(
    iterate: Iterate, gate: str, act: str, passed: str
) -> None:
    status, told = iterate(gate, act)
    assert "Quality gate scope passed" in told
    assert passed in told
    assert status == 0


@pytest.mark.parametrize(
    ("gate", "act", "why"),
    [
        ("max_lines = 9", "write('data.bin', '1')", "the lines of data.bin cannot be counted"),
        (
            "max_lines = 9", "pathlib.Path('new').write_bytes(b'\\0')",
            "the lines of new cannot be counted",
        ),
        (
            "max_lines = 9", "write('large', 'x' * 2_000_001)",
            "the lines of large cannot be counted: it is not text, or too large",
        ),
        ("max_files = 9", "write('large', ''); os.truncate('large', 5_000_000_000)", "too large"),
        ("max_lines = 9", "os.mkfifo('pipe')", "the lines of pipe cannot be counted"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_no_pass(
    iterate: Iterate, project: Path, gate: str, act: str, why: str
) -> None:
    if "mkfifo" in act and (project / ".git").exists():
        return  # git does not list what is neither file nor link
    status, told = iterate(gate, act)
    assert "Quality gate scope could not be evaluated" in told
    assert why in told
    assert status == 6


def test_lines_that_cannot_be_counted_hide_no_denied_file(iterate: Iterate) -> None:
    status, told = iterate("max_lines = 9\ndeny = ['*.bin']", "write('data.bin', '1')")
    assert "changed data.bin, which the gate denies" in told
    assert status == 6


@pytest.mark.parametrize(
    ("act", "count"),
    [
        ("write('.git/info/exclude', '*'); [write(f'n{n}', '') for n in range(3)]", 3),
        ("append('.gitignore', 'hidden/'); [write(f'hidden/{n}', '') for n in 'ab']", 3),
        ("write('sub/.gitignore', '*'); write('sub/x', '')", 2),
    ],
)
def test_an_iteration_cannot_hide_files_from_git(
    project: Path, iterate: Iterate, act: str, count: int
) -> None:
    if not (project / ".git").exists():
        return
    status, told = iterate("max_files = 1", act)
    assert f"changed {count} files, at most 1 allowed" in told
    assert status == 6


def test_what_git_ignores_does_not_count_unless_it_is_denied(
    project: Path, iterate: Iterate
) -> None:
    if not (project / ".git").exists():
        return
    act = "write('built/.gitignore', '*'); [write(f'built/{n}', '') for n in range(9)]"
    assert iterate("max_files = 0", act)[0] == 0
    (project / "built/8").unlink()
    status, told = iterate("deny = ['built/**']", act)
    assert (status, "changed built/8, which the gate denies" in told) == (6, True)


def test_the_loops_own_files_do_not_count(project: Path, iterate: Iterate) -> None:
    status, told = iterate("max_files = 0\ndeny = ['**']", "write('.rooda/own', '')")
    assert (status, "changed 0 files" in told) == (0, True)


def test_only_the_iteration_itself_is_judged(project: Path, iterate: Iterate) -> None:
    act = "len(sys.argv) and os.path.exists('once') or write('once', '')"
    status, told = iterate("max_files = 0", act, "-n", "2")
    assert "changed 1 file, at most 0 allowed" in told
    assert "changed 0 files" in told
    assert status == 0


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        ("kind = 'diff'", "gate 'scope' is of kind diff and has no limit"),
        ("kind = 'size'\nmax_files = 1", '\'size\': expected "command" or "criteria" or "diff"'),
        ("max_files = -1", "max_files = -1: expected a whole number >= 0"),
        ("max_lines = '5'", "max_lines = '5': expected a whole number >= 0, without quotes"),
        ("max_files = 1.5", "max_files = 1.5: expected a whole number"),
        ("max_files = true", "max_files = True: expected a whole number"),
        ("deny = 'tests/**'", "deny = 'tests/**': expected a list of patterns"),
        ("deny = []", "deny = []: expected a list of patterns"),
        ("deny = ['']", "deny: expected a list of patterns"),
        ("kind = 'diff'\nmax_file = 5", "max_file = 5: expected a key of a gate of kind diff"),
        ("max_files = 1\ntimeout = 5", "timeout = 5: expected a key of a gate of kind diff"),
        ("command = 'true'\nmax_files = 1", "is of kind command and has max_files"),
        ("kind = 'command'\nmax_files = 1", "is of kind command and has max_files"),
        ("kind = 'criteria'\ncommand = 'true'", "is of kind criteria and has no criteria"),
        ("deny = ['../x']", "deny: '../x' leads out of the project"),
        ("deny = ['/etc/**']", "deny: '/etc/**' leads out of the project"),
        ("command = 'true'\nprotect = 'x'", "protect = 'x': expected a list of patterns"),
        ("command = 'true'\nprotect = [1]", "protect: expected a list of patterns"),
        ("command = 'true'\nprotect = ['../x']", "protect: '../x' leads out of the project"),
    ],
)
def test_a_gate_that_is_declared_wrongly_is_refused_before_the_first_iteration(
    project: Path, iterate: Iterate, gate: str, why: str
) -> None:
    status, told = iterate(gate, "write('paid', '')")
    assert why in told
    assert status == 4
    assert not (project / "paid").exists()
