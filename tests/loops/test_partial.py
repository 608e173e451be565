"""What an agent had written when its time was up is kept whole, and its place is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

TEXT = "# Paid for\n" + "alpha, but not to the end\n" * 200
ISSUE = {"rule_id": "b.x.beta", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
OTHER = json.dumps({"plan": ["a", "b", "c"], "issues": [ISSUE]})
AGENT = """\
import os, sys, time
step = os.environ["PYTEST_REFLEX_STEP"]
late = step == open("late").read() and not os.path.exists("once")
text = {text!r} if step in ("PRODUCE", "REFINE") else {other!r}
out = open(sys.argv[1], "w") if sys.argv[1:] else sys.stdout
if late:
    open("once", "w").close()
    out.write({text!r})
    out.flush()
    time.sleep(60)
out.write(text)
out.flush()
"""
RULES = """\
name: words
rules:
  - {id: a.x.alpha, description: alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: b.x.beta, description: beta, severity: fail, check: {type: content, search: beta}}
"""


def play(folder: Path, late: str, *, by_file: bool) -> int:
    (folder / "agent.py").write_text(AGENT.format(text=TEXT, other=OTHER))
    (folder / "late").write_text(late)
    (folder / "c.yaml").write_text(RULES)
    place = ', "{answer_file}"' if by_file else ""
    answer = 'answer = "file"\n' if by_file else ""
    (folder / "pytest-reflex.toml").write_text(
        f'[agents.own]\ncommand = ["{sys.executable}", "agent.py"{place}]\n{answer}'
        "timeout = 2\ngrace = 0.2\n"
    )
    words = ["loop", "new", "say it", "--alias", "run", "--criteria", "c.yaml", "--yes"]
    return main([*words, "--agent", "own", "--max-iterations", "2"])


@pytest.mark.parametrize(
    ("late", "by_file"),
    [("PRODUCE", False), ("PRODUCE", True), ("REFINE", False), ("PLAN", False), ("CRITIQUE", True)],
)
def test_b087_partial_output_stays_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    late: str,
    by_file: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, late, by_file=by_file)
    folder = tmp_path / ".ai-factory/evolution/run"
    name = f"{late.lower()}.partial-1"
    assert (folder / name).read_text() == TEXT
    events = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    (error,) = (e["payload"] for e in events if "partial" in e["payload"])
    assert error["partial"] == name
    assert f"kept in {name}" in " ".join(capsys.readouterr().err.split())
    assert "delta" not in error


def test_b087_what_came_in_time_is_not_kept_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, "NOTHING", by_file=False)
    assert not list((tmp_path / ".ai-factory/evolution/run").glob("*.partial-*"))
