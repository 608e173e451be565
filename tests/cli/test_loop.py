"""``pytest-reflex loop`` through the door that users use, with the offline agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.setup import NewLoop, begin, propose
from pytest_reflex.host import open_host, register_agents
from pytest_reflex.model.enums import Step
from pytest_reflex.settings import load

CRITERIA = """\
name: words
rules:
  - id: a.x.alpha
    description: says alpha
    severity: fail
    hint: say alpha
    check: {type: content, search: alpha}
    fix: {append: {text: alpha}}
  - id: b.x.beta
    description: says beta
    severity: fail
    check: {type: content, search: beta}
    fix: {append: {text: beta}}
"""
STUCK = """\
name: stuck
rules:
  - {id: a.x.never, description: never, severity: fail, check: {type: content, search: never}}
"""
NEW = ["loop", "new", "say words", "--criteria", "words.yaml", "--evaluator", "core"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "stuck.yaml").write_text(STUCK)
    (tmp_path / "draft.md").write_text("# Words\n")
    return tmp_path


def test_a_loop_runs_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NEW, "--input", "draft.md", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert "── Iteration 1/4 | Phase A | Score: 0.000 | FAIL ──" in err
    assert "── Iteration 3/4 | Phase B | Score: 1.000 | PASS ──" in err
    assert "Stop reason: threshold_reached" in out
    assert out.endswith("# Words\nalpha\nbeta\n")


def test_without_a_terminal_and_without_yes_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*NEW, "--input", "draft.md"]) == 4
    assert "add --yes; nothing was written" in capsys.readouterr().err
    assert not (project / ".ai-factory").exists()


def test_criteria_and_limits_are_shown_before_they_are_confirmed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main([*NEW, "--input", "draft.md", "--max-iterations", "3"])
    told = capsys.readouterr().err
    assert "a.x.alpha" in told
    assert "Max iterations: 3" in told
    assert "thresholds: A 0.8, B 0.9" in told


def test_the_result_is_written_where_asked(project: Path) -> None:
    main([*NEW, "--input", "draft.md", "--output", "result.md", "--yes"])
    assert (project / "result.md").read_text() == "# Words\nalpha\nbeta\n"
    assert (project / "draft.md").read_text() == "# Words\n"


def test_in_place_mends_the_draft(project: Path) -> None:
    main([*NEW, "--input", "draft.md", "--in-place", "--yes"])
    assert (project / "draft.md").read_text() == "# Words\nalpha\nbeta\n"


def test_a_file_that_is_there_is_not_replaced_by_a_result_that_did_not_pass(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stuck("--in-place") == 7
    assert (project / "draft.md").read_text() == "# Words\n"
    assert "Not written to draft.md, which is as it was" in capsys.readouterr().out


def test_a_new_file_gets_the_best_of_a_loop_that_stopped(project: Path) -> None:
    stuck("--output", "best.md")
    assert (project / "best.md").read_text() == "# Words\n"


def test_quiet_prints_the_artifact_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    main([*NEW, "--input", "draft.md", "--yes", "--quiet"])
    assert capsys.readouterr() == ("# Words\nalpha\nbeta\n", "")


def test_json_prints_run_json(capsys: pytest.CaptureFixture[str]) -> None:
    main([*NEW, "--input", "draft.md", "--yes", "--json"])
    run = json.loads(capsys.readouterr().out)
    assert (run["status"], run["stop"]["passed"]) == ("completed", True)


def stuck(*flags: str) -> int:
    argv = ["loop", "new", "x", "--criteria", "stuck.yaml", "--evaluator", "core", "--yes", *flags]
    return main([*argv, "--input", "draft.md", "--alias", "stuck"])


def test_the_iteration_limit_has_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert stuck("--max-iterations", "2") == 6
    out = capsys.readouterr().out
    assert "Distance to success:\n  threshold 0.8, score 0.000, gap 0.800" in out
    assert "blocking rules: 1 (a.x.never)" in out
    assert "Gate: NOT passed" in out


def test_stagnation_has_its_status() -> None:
    assert stuck() == 7


def test_a_budget_used_up_has_its_status(project: Path) -> None:
    (project / "pytest-reflex.toml").write_text("[loop]\nbudget = {calls = 1}\n")
    (project / "plays.py").write_text(PLUGIN)
    assert stuck() == 7  # the offline agent is free


PLUGIN = """\
from pytest_reflex.model.steps import Reply
def pytest_reflex_plan(request):
    return Reply(text='{"plan": ["one", "two", "three"]}', agent="paid", usd=0.5)
def pytest_reflex_critique(request):
    return Reply(text="", agent="broken", error="it broke")
"""


def test_a_budget_of_the_command_line_joins_the_configured_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pytest-reflex.toml").write_text("[loop]\nbudget = {calls = 9, usd = 1}\n")
    main([*NEW, "--input", "draft.md", "--budget", "calls=2", "--budget", "tokens=08"])
    assert "Budget: calls 2, usd 1, tokens 8\n" in capsys.readouterr().err


def test_a_paid_call_counts_against_the_budget(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(project)
    (project / "paid_plugin.py").write_text(PLUGIN)
    settings = 'plugins = ["paid_plugin"]\n[loop]\nbudget = {usd = 0.5}\n'
    (project / "pytest-reflex.toml").write_text(settings)
    assert stuck() == 8
    out = capsys.readouterr().out
    assert "budget_exceeded (usd: 0.5 of 0.5 used)" in out
    assert "Spend: 1 call, 0.0 s, $0.5000" in out


def test_a_step_that_fails_twice_has_its_status(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(project)
    (project / "broken_plugin.py").write_text(PLUGIN)
    (project / "pytest-reflex.toml").write_text('plugins = ["broken_plugin"]\n')
    assert stuck() == 9
    assert "CRITIQUE failed twice: it broke" in capsys.readouterr().out


REFUSED = {
    "no criteria": (["loop", "new", "x", "--yes"], "no criteria were named"),
    "two criteria": ([*NEW, "--template", "base"], "cannot be combined"),
    "in place of nothing": ([*NEW, "--in-place", "--yes"], "--in-place needs --input"),
    "a draft that is not there": ([*NEW, "--input", "gone.md", "--yes"], "gone.md"),
    "a draft that is a picture": ([*NEW, "--input", "p.png", "--yes"], "a loop refines UTF-8 text"),
    "b075 zero iterations": ([*NEW, "--max-iterations", "0", "--yes"], "whole number >= 1"),
    "b075 hexadecimal iterations": ([*NEW, "--max-iterations", "0x5", "--yes"], "decimal digits"),
    "an agent nobody knows": ([*NEW, "--agent", "offlin", "--yes"], "did you mean offline?"),
    "an agent that is not installed": (
        [*NEW, "--agent", "gone", "--yes"],
        "no program 'no-such-tool'",
    ),
    "an agent for no step": ([*NEW, "--agent", "refin=offline", "--yes"], "did you mean refine?"),
    "b118 an alias that leaves the folder": (
        [*NEW, "--alias", "../../x", "--yes"],
        "is not an alias",
    ),
    "a task that is not text": (
        ["loop", "new", "caf\udce9", "--criteria", "words.yaml", "--yes"],
        "the task is not UTF-8 text at character 4",
    ),
    "an empty task": (["loop", "new", " ", "--criteria", "words.yaml", "--yes"], "task is empty"),
    "an unknown evaluator": ([*NEW, "--evaluator", "magic", "--yes"], '"pytest" or "core"'),
    "resume of nothing": (["loop", "resume"], "there is no loop"),
    "status of nothing": (["loop", "status", "gone"], "there is no loop named 'gone'"),
    "b118 status outside": (["loop", "status", "../x"], "is not an alias"),
}


@pytest.mark.parametrize(("argv", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_begin_is_refused_and_writes_nothing(
    argv: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pytest-reflex.toml").write_text('[agents.gone]\ncommand = ["no-such-tool"]\n')
    (project / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    assert main(argv) == 4
    assert message in capsys.readouterr().err
    assert not (project / ".ai-factory").exists()


def test_status_shows_a_run_that_ended(capsys: pytest.CaptureFixture[str]) -> None:
    stuck()
    capsys.readouterr()
    assert main(["loop", "status"]) == 0
    assert capsys.readouterr().out.splitlines()[:5] == [
        "Loop: stuck (stopped)",
        "Task: x",
        "Iteration: 3/4",
        "Phase: A",
        "Stopped: stagnation (the same rules blocked 3 evaluations in a row)",
    ]


def test_status_as_json_is_run_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stuck()
    capsys.readouterr()
    main(["loop", "status", "stuck", "--json"])
    path = project / ".ai-factory/evolution/stuck/run.json"
    written = json.loads(path.read_text("utf-8"))
    assert json.loads(capsys.readouterr().out) == {**written, "verified": None}


def test_a_run_that_ended_is_not_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    stuck()
    assert main(["loop", "resume", "stuck"]) == 4
    assert "loop 'stuck' has ended (stagnation)" in capsys.readouterr().err


def test_b059_an_alias_like_a_number_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    main([*NEW, "--input", "draft.md", "--yes", "--alias", "1e10"])
    capsys.readouterr()
    main(["loop", "status", "1e10"])
    assert capsys.readouterr().out.startswith("Loop: 1e10 (completed, not verified)")


def test_a_history_that_is_missing_is_told(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stuck()
    folder = project / ".ai-factory/evolution/stuck"
    (folder / "history.jsonl").unlink()
    assert main(["loop", "resume", "stuck"]) == 4
    assert "history of 'stuck' is missing or empty" in capsys.readouterr().err
    assert (folder / "run.json").exists()


def test_a_template_can_be_the_configured_default(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pytest-reflex.toml").write_text('[loop]\ntemplate = "words.yaml"\n')
    assert main(["loop", "new", "x", "--input", "draft.md", "--yes", "--evaluator", "core"]) == 0


@pytest.mark.parametrize(
    ("flags", "agents"),
    [
        ([], {"refine": "other"}),
        (["--agent", "offline"], {"refine": "offline"}),
        (["--agent", "plan=other"], {"plan": "other", "refine": "other"}),
    ],
)
def test_resume_takes_the_recorded_agents_or_those_named_now(
    flags: list[str], agents: dict[str, str], project: Path
) -> None:
    (project / "pytest-reflex.toml").write_text('[agents.other]\nkind = "offline"\n')
    settings = load(project)
    host = open_host()
    recorded = {
        step.value.lower(): name for step, name in register_agents(open_host(), settings).items()
    }
    values = [*flags[1::2]]
    names = register_agents(host, settings, values, {**recorded, "refine": "other"})
    assert {step: names[Step(step.upper())] for step in agents} == agents


def test_a_state_folder_with_a_nul_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pytest-reflex.toml").write_text('[loop]\nroot = "a\\u0000b"\n')
    assert main([*NEW, "--input", "draft.md", "--yes"]) == 4
    assert "loop.root = 'a\\x00b': expected a non-empty string" in capsys.readouterr().err


def test_the_guard_is_recorded_and_an_unknown_one_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*NEW, "--alias", "held", "--guard", "strict", "--yes", "--quiet"]) == 0
    run = json.loads((project / ".ai-factory/evolution/held/run.json").read_text())
    assert run["setup"]["guard"] == "strict"
    assert main([*NEW, "--guard", "sometimes", "--yes"]) == 4
    assert "sometimes" in capsys.readouterr().err


AGENT = """\
case $PYTEST_REFLEX_STEP in
PLAN) echo '{"plan": ["a", "b", "c"]}' ;;
PRODUCE) printf '# One\\n\\nx\\n\\n# Two\\n\\ny\\n' ;;
PREPARE) echo '{"checks": [{"rule_id": "a.x.say", "type": "executable", "command": "exit 7"}]}' ;;
CRITIQUE) echo '{"issues": [{"rule_id": "a.x.say", "problem": "p", "fix_instruction": "mend One",'
    echo '"expected_effect": "e"}]}' ;;
REFINE) printf '# One\\n\\nX\\n\\n# Two\\n\\nZ\\n' ;;
esac
"""


def test_what_an_agent_made_and_changed_unasked_is_told(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "agent.sh").write_text(AGENT)
    (project / "pytest-reflex.toml").write_text(
        'agent = "own"\n[agents.own]\ncommand = ["sh", "agent.sh"]\n'
    )
    rule = "{id: a.x.say, description: It says so, severity: fail, check: Look whether it does}"
    (project / "prose.yaml").write_text(f"name: prose\nrules: [{rule}]\n")
    words = ["--criteria", "prose.yaml", "--evaluator", "core", "--max-iterations", "2", "--yes"]
    assert main(["loop", "new", "say it", *words, "--guard", "strict"]) == 6
    out, err = capsys.readouterr()
    assert '  - a.x.say, 9a75b4e2, is not run: "exit 7"' in err
    assert "Reverted: Two (the critique did not name it)" in err
    assert "Changes: still failing a.x.say" in err
    assert out.endswith("# One\n\nx\n\n# Two\n\ny\n")


def test_a_resume_loads_the_plugins_that_the_run_began_with(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(project)
    (project / "late.py").write_text("raise SystemExit('it was loaded')\n")
    host = open_host((), project)
    settings = load(project)
    names = register_agents(host, settings)
    proposal = propose(
        NewLoop(task="say words", criteria="words.yaml", alias="held", confirmed_by="test"),
        settings=settings,
        registry=host.registry,
        project=project,
    )
    with begin(proposal, settings=settings, project=project, hooks=host.hooks, agents=names):
        pass
    (project / "pytest-reflex.toml").write_text('plugins = ["late"]\n')
    resume = ["loop", "resume", "held", "--evaluator", "core", "--quiet"]
    assert main(resume) == 14
    assert main([*resume, "--accept-changes"]) == 0
