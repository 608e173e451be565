"""A limit that a real client told leaves a loop that goes on later, with nothing paid twice."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

RECORDED = Path(__file__).parents[2] / "agents" / "recorded"
CLIENT = """\
import json, os, pathlib, sys
sys.stdin.read()
here = pathlib.Path({here!r})
step = os.environ["PYTEST_REFLEX_STEP"]
with (here / "calls.log").open("a") as log:
    log.write(step + "\\n")
if step == "PRODUCE" and (here / "refuse").exists():
    sys.stdout.write((here / "refuse").read_text(encoding="utf-8"))
    sys.exit(1)
text = {{"PLAN": '{{"plan": ["a", "b", "c"]}}', "PRODUCE": "alpha\\n"}}[step]
if "-o" in sys.argv:
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text(text)
print(json.dumps({{"type": "result", "is_error": False, "result": text}}))
"""
CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
TOLD = {
    "claude-overloaded-repeatedly": "API Error: Repeated 529 Overloaded errors.",
    "claude-overloaded": "API Error: 529 Overloaded.",
    "claude-no-credit": "Credit balance is too low (1 try; no wait ends it)",
    "codex-usage-limit": "You\u2019ve hit your usage limit.",
    "codex-usage-limit-in-stream": "stream disconnected before completion: You\u2019ve hit",
    "codex-at-capacity": "Selected model is at capacity.",
}


@pytest.mark.parametrize(("name", "told"), TOLD.items(), ids=TOLD)
def test_a_limit_leaves_a_loop_that_can_be_resumed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    told: str,
) -> None:
    client = name.partition("-")[0]
    project, tools = tmp_path / "project", tmp_path / "tools"
    project.mkdir()
    tools.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    monkeypatch.setenv("COLUMNS", "400")
    (tools / client).write_text(f"#!{sys.executable}\n{CLIENT.format(here=str(tools))}")
    (tools / client).chmod(0o755)
    (tools / "refuse").write_bytes((RECORDED / f"{name}.jsonl").read_bytes())
    (project / "words.yaml").write_text(CRITERIA)
    (project / "pytest-reflex.toml").write_text(f"[agents.{client}]\ntries = 1\n")
    new = ["loop", "new", "say", "--alias", "run", "--criteria", "words.yaml", "--yes"]
    assert main([*new, "--evaluator", "core", "--agent", client]) == 9
    err = " ".join(capsys.readouterr().err.split())
    assert f"PRODUCE: the tool ran into a limit: {told}" in err
    assert "go on later: pytest-reflex loop resume run" in err
    run = json.loads((project / ".ai-factory/evolution/run/run.json").read_text())
    assert run["status"] == "running"
    (tools / "refuse").unlink()
    assert main(["loop", "resume", "run"]) == 0
    assert (tools / "calls.log").read_text().split() == ["PLAN", "PRODUCE", "PRODUCE"]
