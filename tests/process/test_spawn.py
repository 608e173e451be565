"""What can go wrong before a program runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.process.run import run
from pytest_reflex.process.spawn import SpawnError


def start(*argv: str, cwd: str | Path = "/") -> None:
    run(argv, cwd=cwd, env=dict(os.environ))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        pytest.param(["nosuchtool", "--x"], "nosuchtool: it was not found", id="not-found"),
        pytest.param(["/etc/passwd"], "/etc/passwd: it may not be executed", id="not-executable"),
        pytest.param(["echo", "a\0b"], "echo: embedded null byte", id="nul"),
        pytest.param(["echo", "x" * 200_000], "echo: its arguments .* are too long", id="too-long"),
        pytest.param([], "the command is empty", id="empty"),
    ],
)
def test_program_that_cannot_start_is_one_clear_error(argv: list[str], message: str) -> None:
    with pytest.raises(SpawnError, match=message):
        start(*argv)


def test_f32_text_beyond_the_locale_reaches_the_program_as_utf8(tmp_path: Path) -> None:
    source = (
        "from pytest_reflex.process.run import run;"
        "env = {'PATH': '/usr/bin:/bin', 'Ä': 'ö 🎉'};"
        "print(run(['printenv', 'Ä'], cwd='/', env=env).stdout)"
    )
    script = tmp_path / "script.py"
    script.write_text(source, encoding="utf-8")
    ascii_only = {"PYTHONUTF8": "0", "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, **ascii_only}, capture_output=True
    )
    assert done.stdout == f"{'ö 🎉'.encode() + chr(10).encode()!r}\n".encode()


def test_script_without_an_interpreter_line_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(b"echo hello\n")
    script.chmod(0o755)
    with pytest.raises(SpawnError, match="it is neither a program nor a script"):
        start(str(script))


def test_missing_working_directory_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpawnError, match=r"true: its working directory .*/gone cannot be used"):
        start("true", cwd=tmp_path / "gone")
