"""Formatters in a loop: run before the agent, sealed, shown, and never an agent's idea."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.steps import StepRequest
from tests.drivers.reflex.stage import Script, Stage, issues, story

pytestmark = pytest.mark.long

TIDY = """\
import pathlib, sys
page = pathlib.Path(sys.argv[1])
page.write_text(page.name + ": " + " ".join(page.read_text().lower().split()[-2:]) + "\\n")
"""
BROKEN = "raise SystemExit('out of order')\n"


def criteria(safe: bool = True) -> str:
    return f"""\
name: words
commands: {{tidy: {{argv: ['{sys.executable}', tools/tidy.py, '{{file}}'], args: [file]}}}}
rules:
  - id: a.x.small
    description: nothing is shouted
    severity: fail
    check: {{type: content, search: '[A-Z]', negate: true}}
    fix: {{format: {{command: tidy}}, safe: {str(safe).lower()}}}
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "tidy.py").write_text(TIDY)
    return Stage(tmp_path, criteria())


def starting_with(text: str) -> Callable[[StepRequest], str]:
    """Return an agent that gives the artifact as it is, once there is one."""
    return lambda request: request.artifact or text


def refined(events: list[Event]) -> Mapping[str, Any]:
    (event,) = (event for event in events if event.kind is EventKind.REFINEMENT_DONE)
    return event.payload


def test_safe_formatter_mends_the_artifact_and_no_agent_is_asked(stage: Stage) -> None:
    script = Script(produce=starting_with("# T\n\nAlpha Beta\n"), refine="unused")
    events = stage.play(script)
    assert refined(events)["by"] == "fixes"
    assert refined(events)["fixed"] == ["a.x.small"]
    assert "REFINE" not in script.asked()
    assert stage.artifact() == "artifact.md: alpha beta\n"


def test_strict_guard_does_not_take_back_what_a_formatter_did(stage: Stage) -> None:
    text = "# T\n\n## Alpha\n\nx\n\n## Other\n\nALPHA BETA\n"
    events = stage.play(
        Script(produce=starting_with(text), refine="unused"), {"loop.guard": "strict"}
    )
    assert refined(events)["scope"] == {"whole": ["a.x.small"]}
    assert stage.artifact() == "artifact.md: alpha beta\n"


def test_formatter_that_fails_is_told_and_the_agent_is_asked(stage: Stage) -> None:
    (stage.project / "tools" / "tidy.py").write_text(BROKEN)
    events = stage.play(Script(produce=starting_with("Alpha\n"), refine="alpha\n"))
    assert refined(events)["by"] == "agent"
    assert refined(events)["not_fixed"] == {
        "a.x.small": "format: tidy: exit status 1: out of order"
    }


def test_formatter_that_is_not_called_safe_is_not_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, criteria(safe=False))
    events = stage.play(Script(produce=starting_with("Alpha\n"), refine="alpha\n"))
    assert "not_fixed" not in refined(events)
    assert refined(events)["fixed"] == []


def test_program_of_a_formatter_is_sealed(stage: Stage) -> None:
    def tampering(request: StepRequest) -> str:
        (stage.project / "tools" / "tidy.py").write_text("# nothing\n")
        return issues("a.x.small")

    events = stage.play(Script(produce="Alpha\n", critique=tampering, refine="alpha\n"))
    assert story(events)[-2:] == ["critique_done", "failed"]
    assert "tools/tidy.py was changed" in events[-1].payload["detail"]


def test_agent_cannot_call_a_formatter_in_a_check(stage: Stage) -> None:
    prose = "  - {id: a.x.prose, description: d, severity: warn, check: It is kind}\n"
    stage.criteria.write_text(stage.criteria.read_text() + prose)
    made = {"rule_id": "a.x.prose", "command": "tidy", "args": {"file": "criteria.yaml"}}
    script = Script(produce="a\n", prepare=json.dumps({"checks": [made]}), refine="a\n")
    events = stage.play(script, {"loop.max_iterations": 1})
    prepared = next(event for event in events if event.kind is EventKind.CHECKS_PREPARED)
    (check,) = (one for one in prepared.payload["checks"] if one["rule_id"] == "a.x.prose")
    assert (check["type"], check["command"]) == ("withheld", "tidy")
    assert stage.criteria.read_text().endswith(prose)


@pytest.mark.parametrize("safe", [True, False])
def test_dry_run_shows_what_a_loop_would_run(
    stage: Stage, safe: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stage.project)
    stage.criteria.write_text(criteria(safe))
    argv = ["loop", "new", "say words", "--criteria", "criteria.yaml", "--dry-run"]
    command = [sys.executable, "tools/tidy.py", "{file}"]
    assert main(argv) == 0
    assert ("a.x.small: " + " ".join(command[:2]) in capsys.readouterr().out) is safe
    assert main([*argv, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["refine"]["formatters"]
    assert [one["argv"] for one in shown] == ([command] if safe else [])


def test_compile_shows_every_formatter(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stage.project)
    assert main(["criteria", "compile", "criteria.yaml"]) == 0
    told = capsys.readouterr().out
    assert "of a.x.small, in a loop, unasked" in told
    assert f"{sys.executable} tools/tidy.py" in told
    stage.criteria.write_text(criteria(safe=False))
    assert main(["criteria", "compile", "criteria.yaml", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["formatters"]
    assert (shown["safe"], shown["timeout"], shown["cwd"]) == (False, 60.0, str(stage.project))
