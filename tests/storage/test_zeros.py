"""NUL bytes in a journal, as a crash of the machine leaves them: found, told, and left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.storage.journal import Journal, read_journal
from pytest_reflex.storage.lines import decode

Change = Callable[[list[bytes]], bytes]
NULS = b"\0" * 300


def lines_of(number: int) -> list[bytes]:
    return [b'{"n":%d}' % n for n in range(1, number + 1)]


INSERTED: dict[str, tuple[Change, int]] = {
    "between two events": (lambda e: b"".join([*e[:3], NULS, *e[3:]]), 4),
    "as a line of its own": (lambda e: b"".join([*e[:3], NULS, b"\n", *e[3:]]), 4),
    "at the beginning": (lambda e: NULS + b"".join(e), 1),
    "inside an event": (lambda e: b"".join([*e[:2], e[2][:9] + NULS + e[2][9:], *e[3:]]), 3),
    "before an end of line": (lambda e: b"".join([e[0][:-1] + NULS + b"\n", *e[1:]]), 1),
    "before the last event": (lambda e: b"".join([*e[:4], b"\0", *e[4:]]), 5),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "history.jsonl"
    with Journal.create(path) as journal:
        for n in range(1, 6):
            journal.append({"event": f"e{n}"})
    return path


@pytest.mark.parametrize(("change", "line"), INSERTED.values(), ids=INSERTED.keys())
def test_b111_events_behind_zeros_are_used(path: Path, change: Change, line: int) -> None:
    path.write_bytes(change(path.read_bytes().splitlines(keepends=True)))
    content = read_journal(path)
    assert content.whole
    assert [record["event"] for record in content.records] == ["e1", "e2", "e3", "e4", "e5"]
    assert [(zeros.line, "NUL byte" in zeros.reason) for zeros in content.zeros] == [(line, True)]
    with Journal.open(path) as journal:
        journal.append({"event": "e6"})
    assert [r["event"] for r in read_journal(path).records][-2:] == ["e5", "e6"]
    assert read_journal(path).whole


@pytest.mark.parametrize("tail", [b"\0" * 8, b'{"event":"e6' + b"\0" * 8])
def test_b111_zeros_at_the_end_are_an_unfinished_line(path: Path, tail: bytes) -> None:
    path.write_bytes(path.read_bytes() + tail)
    for number in (6, 7):
        with Journal.open(path) as journal:
            journal.append({"event": f"e{number}"})
    content = read_journal(path)
    assert content.whole
    assert [record["event"] for record in content.records][-2:] == ["e6", "e7"]


@pytest.mark.parametrize("lost", [0, 2, 3])
def test_b111_zeros_in_the_place_of_an_event_are_damage(path: Path, lost: int) -> None:
    events = path.read_bytes().splitlines(keepends=True)
    events[lost] = b"\0" * (len(events[lost]) - 1) + b"\n"
    content = decode(b"".join(events))
    assert [str(one) for one in (*content.damages, *content.breaks)] == [
        f"line {lost + 1}: it holds NUL bytes and nothing else"
    ]
    assert content.zeros == ()


KEEPS = """
import resource, signal, sys
from pathlib import Path
from pytest_reflex.errors import StateError
from pytest_reflex.storage.atomic import keep_copy
from pytest_reflex.storage.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
for number in range(4):
    try:
        if sys.argv[1] == "journal":
            Journal.open(Path("history.jsonl"))
        else:
            keep_copy(Path(sys.argv[1]), b"%d" % number * 500, "torn")
    except StateError as error:
        print(error.problems[0].message)
"""


@pytest.mark.parametrize("room", [0, 10, 499])
@pytest.mark.parametrize("of", ["journal", "run.json", "artifact.md"])
def test_a_full_disk_gets_no_copy_with_each_try(tmp_path: Path, of: str, room: int) -> None:
    with Journal.create(tmp_path / "history.jsonl") as journal:
        journal.append({"event": "e1"})
    with (tmp_path / "history.jsonl").open("ab") as file:
        file.write(b'{"torn":"' + b"x" * 600)
    argv = [sys.executable, "-c", KEEPS, of, str(room)]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.count("could not be written: File too large") == 4, done
    assert os.listdir(tmp_path) == ["history.jsonl"]


@pytest.mark.long
def test_b111_a_loop_goes_on_behind_zeros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_reflex.cli.main import main

    monkeypatch.chdir(tmp_path)
    rule = {"id": "a.x.r", "description": "d", "severity": "fail"}
    rule["check"] = {"type": "content", "search": "alpha"}  # type: ignore[assignment]
    (tmp_path / "c.yaml").write_text(json.dumps({"name": "c", "rules": [rule]}))
    words = ["loop", "new", "t", "--alias", "run", "--criteria", "c.yaml", "--yes"]
    assert main([*words, "--max-iterations", "2"]) == 6
    history = tmp_path / ".ai-factory/evolution/run/history.jsonl"
    events = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(b"".join([*events[:3], NULS, *events[3:]]))
    capsys.readouterr()
    assert main(["loop", "status", "run"]) == 0
    assert main(["loop", "history", "run"]) == 0
    assert "line 4: 300 NUL bytes were left out; no event is missing" in capsys.readouterr().err
    assert main(["loop", "extend", "run", "--max-iterations", "+1", "--yes"]) == 6
    assert "line 4: 300 NUL bytes were left out" in " ".join(capsys.readouterr().err.split())
    history.write_bytes(b"".join([*events[:3], b"\0" * len(events[3]), *events[4:]]))
    assert main(["loop", "resume", "run"]) == 12
    said = capsys.readouterr().err
    assert "pytest-reflex loop new TASK --input" in said
