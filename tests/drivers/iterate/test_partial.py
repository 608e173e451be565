"""What a tool had written when it was stopped or failed is kept whole, and its place is named."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems
from tests.faults.driven import wait_until

pytestmark = pytest.mark.variants

TEXT = "# Paid for\n" + "half of it, ünfinished\n" * 200
LARGE = "0123456789abcde\n" * 200_000
TOOL = """\
import os, signal, sys, time
out = open(sys.argv[2], "w") if sys.argv[2:] else sys.stdout
out.write(open("text").read())
out.flush()
open("written", "w").close()
match sys.argv[1]:
    case "hang":
        time.sleep(600)
    case "raise":
        raise RuntimeError("no more")
    case "leave":
        sys.exit(3)
    case "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    case "limit":
        print("You have hit your limit, resets 5pm")
        sys.exit(1)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.md").write_text("Do it.\n")
    (tmp_path / "tool.py").write_text(TOOL)
    return tmp_path


def prepare(here: Path, deed: str, *, text: str = TEXT, by_file: bool = False) -> None:
    (here / "text").write_text(text)
    command = [sys.executable, "tool.py", deed, *(["{answer_file}"] if by_file else [])]
    (here / "pytest-reflex.toml").write_text(
        "[iterate.procedures.build]\nact = [{path = 'work.md'}]\n"
        "agent = 'tool'\nfailure_threshold = 1\n"
        f"[agents.tool]\ncommand = {json.dumps(command)}\ngrace = 0.2\ntimeout = 3\ntries = 1\n"
        + ("answer = 'file'\n" if by_file else "")
    )


def kept(here: Path) -> list[Path]:
    return sorted((here / ".rooda/log/build").glob("*.partial-*"))


def log_lines(here: Path) -> list[dict[str, object]]:
    (path,) = (here / ".rooda/log/build").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("by_file", [False, True], ids=["stdout", "answer file"])
@pytest.mark.parametrize("deed", ["hang", "raise", "leave", "kill"])
def test_b087_partial_output_of_an_iteration_stays_whole(
    here: Path, capsys: pytest.CaptureFixture[str], deed: str, by_file: bool
) -> None:
    text = TEXT if deed in ("hang", "kill") else LARGE
    prepare(here, deed, text=text, by_file=by_file)
    assert main(["iterate", "run", "build"]) == 16
    (path,) = kept(here)
    assert path.read_text() == text
    assert path.stat().st_mode & 0o077 == 0
    assert f"in iteration 1 is kept in {path}" in capsys.readouterr().err
    (told,) = (line for line in log_lines(here) if line["event"] == "partial_output")
    assert (told["path"], told["iteration"]) == (str(path), 1)
    assert problems("iteration-log", told) == []


def interrupt(here: Path, number: int, words: Sequence[str] = ()) -> tuple[int, str]:
    """Run the procedure, send a signal once the tool has written, and return how it ended."""
    argv = [sys.executable, "-m", "pytest_reflex", "iterate", "run", "build", *words]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        wait_until((here / "written").exists)
        process.send_signal(number)
        _, err = process.communicate()
    return process.returncode, err


@pytest.mark.long
@pytest.mark.parametrize("by_file", [False, True], ids=["stdout", "answer file"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_b087_an_interrupted_tool_leaves_what_it_had_written(
    here: Path, number: int, by_file: bool
) -> None:
    prepare(here, "hang", by_file=by_file)
    config = here / "pytest-reflex.toml"
    config.write_text(config.read_text().replace("timeout = 3", "timeout = 600"))
    code, err = interrupt(here, number)
    assert code == 128 + number
    (path,) = kept(here)
    assert path.read_text() == TEXT
    assert str(path) in err
    spend = json.loads((here / ".rooda/state/build.json").read_text())["spend"]
    assert (spend["calls"], spend["usd"], spend["unknown_cost_calls"]) == (1, None, 1)


@pytest.mark.parametrize("deed", ["hang", "kill"])
def test_b087_much_output_stays_whole(here: Path, deed: str) -> None:
    prepare(here, deed, text=LARGE)
    assert main(["iterate", "run", "build"]) == 16
    (path,) = kept(here)
    assert path.read_text() == LARGE


@pytest.mark.long
def test_b087_each_iteration_has_its_own_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(here, "leave", text=LARGE)
    assert main(["iterate", "run", "build", "--failure-threshold", "2"]) == 16
    first, second = kept(here)
    assert [re.sub(r".*\.iteration", "iteration", p.name) for p in (first, second)] == [
        "iteration-1.partial-1",
        "iteration-2.partial-1",
    ]


def test_b087_json_lines_name_the_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepare(here, "kill")
    assert main(["iterate", "run", "build", "--log-format", "json", "--quiet"]) == 16
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["path"] for one in lines if one["event"] == "partial_output"] == [
        str(path) for path in kept(here)
    ]


@pytest.mark.parametrize(
    ("deed", "text"),
    [("limit", ""), ("leave", ""), ("hang", " \n"), ("nothing", TEXT), ("leave", "no more ideas")],
)
def test_b087_where_nothing_is_lost_nothing_is_kept(here: Path, deed: str, text: str) -> None:
    prepare(here, deed, text=text)
    main(["iterate", "run", "build", "-n", "1"])
    assert not kept(here)


def test_b087_a_place_that_takes_nothing_is_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(here, "kill")
    (here / ".rooda/log").mkdir(parents=True)
    (here / "elsewhere").mkdir()
    os.symlink(here / "elsewhere", here / ".rooda/log/build")
    assert main(["iterate", "run", "build"]) == 16
    assert "in iteration 1 could not be kept: " in capsys.readouterr().err
    assert not list((here / "elsewhere").iterdir())
