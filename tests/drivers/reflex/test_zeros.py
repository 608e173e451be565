"""NUL bytes that a crash left in a history or a log are reported wherever a run is looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main

pytestmark = pytest.mark.variants

Change = Callable[[list[bytes]], bytes]
RULE = {"id": "a.x.r", "description": "d", "severity": "fail"}
CRITERIA = {"name": "c", "rules": [{**RULE, "check": {"type": "content", "search": "alpha"}}]}
CHANGES: dict[str, tuple[Change, int, int]] = {
    "in the middle": (lambda e: b"".join([*e[:3], b"\0" * 300, *e[3:]]), 4, 300),
    "a whole block": (lambda e: b"".join([*e[:2], b"\0" * 4096, b"\n", *e[2:]]), 3, 4096),
    "inside an event": (lambda e: b"".join([e[0][:9], b"\0" * 17, e[0][9:], *e[1:]]), 1, 17),
    "at the end": (lambda e: b"".join([*e, b"\0" * 512]), 0, 512),
    "in an unfinished line": (lambda e: b"".join([*e, b'{"event":"cri', b"\0" * 99]), 0, 99),
}


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(json.dumps(CRITERIA))
    words = ["loop", "new", "t", "--alias", "run", "--criteria", "c.yaml", "--yes", "--quiet"]
    assert main([*words, "--max-iterations", "2"]) == 6
    return tmp_path / ".ai-factory/evolution/run/history.jsonl"


@pytest.fixture(params=[*CHANGES.values()], ids=[*CHANGES])
def crashed(request: pytest.FixtureRequest, history: Path) -> tuple[Path, int, int]:
    """A history with NUL bytes, the line that they are in, and how many there are."""
    change, line, count = request.param
    events = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(change(events))
    return history, line or len(events) + 1, count


def reported(text: str, crashed: tuple[Path, int, int]) -> bool:
    path, line, count = crashed
    flat = " ".join(text.split())
    found = re.search(rf"history\.jsonl: line {line}: [^;]*\b{count} NUL bytes\b", flat)
    return bool(found) and "no event is missing" in flat and str(path) in flat


def document(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    capsys.readouterr()
    main([*argv, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "verb", [["loop", "status"], ["loop", "list"], ["loop", "history"], ["doctor"]], ids=" ".join
)
def test_b111_a_look_reports_nul_bytes(
    crashed: tuple[Path, int, int], capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    capsys.readouterr()
    main(verb)
    assert reported("".join(capsys.readouterr()), crashed)


@pytest.mark.long
def test_b111_json_has_them_too(
    crashed: tuple[Path, int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    (one,) = document(capsys, "loop", "list")["loops"]
    for found in (document(capsys, "loop", "status", "run"), one):
        assert reported(" ".join(found["recovered"]), crashed)
        assert found["status"] == "stopped"


@pytest.mark.long
@pytest.mark.parametrize(
    "verb",
    [
        ["loop", "verify", "run"],
        ["loop", "extend", "run", "--max-iterations", "+1", "--yes"],
    ],
    ids=lambda words: words[1],
)
def test_b111_what_goes_on_reports_them(
    crashed: tuple[Path, int, int], capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    capsys.readouterr()
    main(verb)
    assert reported("".join(capsys.readouterr()), crashed)
    capsys.readouterr()
    assert main(["loop", "status", "run"]) == 0
    assert reported(capsys.readouterr().out, crashed)


def test_b111_a_whole_history_has_nothing_to_report(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "recovered" not in document(capsys, "loop", "status", "run")
    main(["loop", "status", "run"])
    assert "NUL" not in capsys.readouterr().out


def test_b111_what_is_lost_is_named(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = history.read_bytes().splitlines(keepends=True)
    events[1] = events[1][:20] + b"\0" * 64 + events[1][84:]
    history.write_bytes(b"".join(events))
    assert main(["loop", "status", "run"]) == 12
    said = capsys.readouterr().err
    assert "line 2: it holds 64 NUL bytes, and a part of its event is lost" in said
    assert "pytest-reflex loop new TASK --input" in said


IN_A_LOG: dict[str, tuple[Change, int]] = {
    "in the middle": (lambda e: b"".join([*e[:1], b"\0" * 300, *e[1:]]), 2),
    "before the last line": (lambda e: b"".join([*e[:-1], b"\0" * 300, e[-1]]), -1),
    "in the last line": (lambda e: b"".join([*e[:-1], e[-1][:5], b"\0" * 300, e[-1][5:]]), -1),
    "at the end": (lambda e: b"".join([*e, b"\0" * 300]), 0),
}


@pytest.mark.parametrize(("change", "line"), IN_A_LOG.values(), ids=IN_A_LOG.keys())
def test_b111_a_log_of_iterate_with_nul_bytes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Change,
    line: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.md").write_text("Do it.\n")
    (tmp_path / "pytest-reflex.toml").write_text(
        "[iterate.procedures.build]\nact = [{path = 'work.md'}]\nfailure_threshold = 2\n"
    )
    tool = ["--ai-cmd", "false"]
    assert main(["iterate", "run", "build", *tool]) == 16
    (log,) = (tmp_path / ".rooda/log/build").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    last = json.loads(lines[-1])["message"]
    log.write_bytes(change(lines))
    number = line if line > 0 else len(lines) + 1 + line
    found = document(capsys, "iterate", "status", "build")
    assert found["log_problem"].startswith(f"line {number}: 300 NUL bytes")
    assert found["last"] == last
    main(["iterate", "status", "build"])
    assert f"line {number}: 300 NUL bytes" in capsys.readouterr().out
    assert main(["iterate", "resume", "build", "--reset-failures", *tool]) == 16
    assert all(json.loads(one.replace(b"\0", b"")) for one in log.read_bytes().splitlines())
    assert bool(list(log.parent.glob("*.torn-*"))) == (line == 0)
