"""No temporary folder stays behind, whichever command made it and however it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.process.zoo import ON_LINUX, PYTHON, gone_within

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not ON_LINUX, reason="the guard watches by what Linux shows"),
]

HANGS = "touch up; sleep 60"
RULE = {
    "id": "a.x.r",
    "description": "d",
    "severity": "fail",
    "check": {"type": "executable", "command": HANGS, "timeout": 60},
    "samples": {"good": ["a\n"], "bad": ["b\n"]},
}
COMMANDS = {
    "samples": ["criteria", "test", "words.yaml"],
    "prove": ["criteria", "prove", "words.yaml", "--run-commands"],
    "fix": ["criteria", "fix", "a.md", "--criteria", "words.yaml"],
    "evaluate": ["evaluate", "a.md", "--criteria", "words.yaml"],
}


def left_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_f01_a_command_that_was_ended_leaves_no_folder(
    tmp_path: Path, words: list[str], number: int
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = HANGS.replace("touch up", f"touch {tmp_path}/up")
    check = {**RULE["check"], "command": command}  # type: ignore[dict-item]
    fix = {"append": {"text": "b"}}
    rule = {**RULE, "check": check, "fix": fix}
    (tmp_path / "words.yaml").write_text(json.dumps({"name": "c", "rules": [rule]}))
    (tmp_path / "a.md").write_text("a\n")
    process = subprocess.Popen(
        [PYTHON, "-m", "pytest_reflex", *words],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while not (tmp_path / "up").exists() and process.poll() is None:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()[0]
    process.send_signal(number)
    process.communicate(timeout=60)
    assert gone_within(30, lambda: left_in(temporary)), left_in(temporary)
