"""Checks that an agent made have to be seen to fail; one that is not earns no weight."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.prove import MOST_BYTES, Proof
from pytest_reflex.drivers.reflex.artifacts import stable_events
from pytest_reflex.drivers.reflex.prepared_checks import AgentCheckedRules, prove
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import Target
from pytest_reflex.reports.iteration import proof_lines
from pytest_reflex.reports.runs import event_line
from tests.criteria.writing import load
from tests.drivers.reflex.stage import Script, Stage, history_of
from tests.slim import slim_python

pytestmark = [pytest.mark.long, pytest.mark.variants]

TEXT = "# Title\n\nSome words about alpha.\n\n## Use\n\nRun it, and see.\n"
PROSE = """\
name: prose
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: Verify that alpha is said}
commands:
  has: {argv: [grep, -q, "{word}", "{file}"], args: [word, file]}
  fine: {argv: ["true"]}
  by-variable: {argv: [sh, -c, 'grep -q alpha "$PYTEST_REFLEX_ARTIFACT"']}
  by-folder: {argv: [sh, -c, 'grep -q alpha "$PYTEST_REFLEX_RUN_DIR/artifact.md"']}
"""


def made(folder: Path, *checks: dict[str, Any], text: str = TEXT) -> AgentCheckedRules:
    """Return one rule by checks that an agent made, with an artifact that is there."""
    criteria = load(folder, PROSE)
    specs = tuple(CheckSpec.from_json({"type": "content", **check}) for check in checks)
    rule = replace(criteria.rules[0], checks=specs)
    artifact = folder / "run" / "artifact.md"
    artifact.parent.mkdir(exist_ok=True)
    artifact.write_text(text)
    target = Target(
        criteria=replace(criteria, rules=(rule,)),
        level=Level.A,
        artifact=artifact,
        root=folder,
        environment={"PYTEST_REFLEX_RUN_DIR": str(artifact.parent)},
    )
    return AgentCheckedRules(target=target, rules=(rule,), text=text)


LONG = "# Words\n\n" + "many words in a long text that goes on\n" * 500
NOTHING = ("(?!)", "(?!x)x", "a^b", r"\Z.", r"(?<=\Aq{40})z")
FOUND: dict[str, tuple[dict[str, Any], str, Proof, str]] = {
    "nothing": ({"search": "(?:)"}, TEXT, Proof.VACUOUS, ""),
    "anything or nothing": ({"search": "(?s)\\A.*\\Z"}, TEXT, Proof.VACUOUS, ""),
    "any number": ({"search": "x", "max_count": 10**6}, TEXT, Proof.VACUOUS, ""),
    "the title": ({"search": "^# Title$"}, TEXT, Proof.PROVED, ""),
    "a word": ({"search": "alpha"}, TEXT, Proof.PROVED, ""),
    "no word": ({"search": "TODO", "negate": True}, TEXT, Proof.PROVED, ""),
    "a section": ({"search": "\\S", "section": "Use"}, TEXT, Proof.PROVED, ""),
    "a length": ({"search": "(?s).{500,}"}, LONG, Proof.PROVED, ""),
    "a number of words": ({"search": "\\w+", "min_count": 300}, LONG, Proof.PROVED, ""),
    "a section that is there": ({"search": "(?:)", "section": "Use"}, TEXT, Proof.PROVED, "Use"),
    **{
        f"what no text has, {nothing}": (
            {"search": nothing, "negate": True}, TEXT, Proof.UNPROVEN, "no example",
        )
        for nothing in NOTHING
    },
    "no word of its own": ({"search": r"\bTODO\b", "negate": True}, TEXT, Proof.PROVED, ""),
    "no long line": ({"search": "^.{101,}$", "negate": True}, TEXT, Proof.PROVED, ""),
    "no word twice": ({"search": r"\b(\w+) \1\b", "negate": True}, TEXT, Proof.PROVED, ""),
    "a text that is too large": (
        {"search": "alpha"}, "alpha " * MOST_BYTES, Proof.UNPROVEN, str(MOST_BYTES),
    ),
    "what passes no more": ({"search": "omega"}, TEXT, Proof.VACUOUS, "a copy of the artifact"),
}  # fmt: skip


@pytest.mark.parametrize(("check", "text", "proof", "says"), FOUND.values(), ids=FOUND)
def test_a_search_is_proved(
    tmp_path: Path, check: dict[str, Any], text: str, proof: Proof, says: str
) -> None:
    (found,) = prove(made(tmp_path, check, text=text))
    assert (found.proof, says in found.message) == (proof, True)


COMMANDS: dict[str, tuple[list[str], Proof]] = {
    "the artifact by its path": (["grep", "-q", "alpha", "{path}"], Proof.PROVED),
    "the artifact from the project": (["grep", "-q", "alpha", "run/artifact.md"], Proof.PROVED),
    "in the shell": (["sh", "-c", "grep -q alpha '{path}'"], Proof.PROVED),
    "by the variable": (["sh", "-c", 'grep -q alpha "$PYTEST_REFLEX_ARTIFACT"'], Proof.PROVED),
    "by the run's folder": (
        ["sh", "-c", 'grep -q alpha "$PYTEST_REFLEX_RUN_DIR/artifact.md"'],
        Proof.PROVED,
    ),
    "that there is one": (
        ["sh", "-c", 'test -s "$PYTEST_REFLEX_ARTIFACT" || exit 127'],
        Proof.UNCLEAR,
    ),
    "that something is in it": (["test", "-s", "{path}"], Proof.PROVED),
    "that something is in it, in the shell": (
        ["sh", "-c", "test -s run/artifact.md"],
        Proof.PROVED,
    ),
    "that it has a line": (["grep", "-q", ".", "{path}"], Proof.PROVED),
    "that it is short": (["sh", "-c", "test $(wc -c < {path}) -lt 50000"], Proof.PROVED),
    "that it has few lines": (["sh", "-c", "test $(wc -l < {path}) -le 400"], Proof.PROVED),
    "that it is below a mebibyte": (
        ["sh", "-c", "test $(wc -c < {path}) -lt 1048576"],
        Proof.PROVED,
    ),
    "nothing": (["true"], Proof.VACUOUS),
    "another file": (["grep", "-q", "alpha", "criteria.yaml"], Proof.VACUOUS),
    "where the artifact is": (
        ["sh", "-c", 'case "$PYTEST_REFLEX_ARTIFACT" in "$PWD"/*) exit 0;; *) exit 1;; esac'],
        Proof.VACUOUS,
    ),
    **{
        f"whether it ran {times} times": (
            ["sh", "-c", f"echo x >> runs; test $(wc -l < runs) -lt {times}"],
            Proof.VACUOUS,
        )
        for times in (1, 2, 3, 4)
    },
}


@pytest.mark.parametrize(("command", "proof"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_is_proved_by_what_it_reads(
    tmp_path: Path, command: list[str], proof: Proof
) -> None:
    (tmp_path / "criteria.yaml").write_text("alpha\n")
    words = [word.replace("{path}", str(tmp_path / "run" / "artifact.md")) for word in command]
    found = prove(made(tmp_path, {"type": "executable", "command": words}))
    assert [one.proof for one in found] == [proof]


# What only an empty text fails, and what only a much longer one does: the check, on what it fails.
AT_THE_ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "anything": ({"search": "."}, "the empty artifact"),
    "no blank": ({"search": "\\S"}, "the empty artifact"),
    "a line": ({"search": "(?s).+"}, "the empty artifact"),
    "not empty": ({"search": "\\A\\Z", "negate": True}, "the empty artifact"),
    "at most 5000 characters": ({"search": "(?s)\\A.{0,5000}\\Z"}, "times the text"),
    "at most 90 lines": ({"search": "\\A(?:.*\\n){0,90}\\Z"}, "times the text"),
    "no line of 5000": ({"search": "^.{5000}", "negate": True}, ""),
}


@pytest.mark.parametrize(("check", "what"), AT_THE_ENDS.values(), ids=AT_THE_ENDS)
def test_nothing_and_a_grown_text_prove_a_check(
    tmp_path: Path, check: dict[str, Any], what: str
) -> None:
    (found,) = prove(made(tmp_path, check))
    assert found.proof is Proof.PROVED
    assert what in (found.failed_on[0] or "")
    assert found.idle == ()


def test_the_seeds_own_example_check_lets_a_loop_end(stage: Stage) -> None:
    check = {
        "rule_id": "a.x.alpha",
        "type": "executable",
        "command": "test -s .ai-factory/evolution/words/artifact.md",
        "expected": "artifact file exists and is non-empty (exit code 0)",
    }
    script = Script(produce=TEXT, prepare=json.dumps({"checks": [check]}))
    events = stage.play(script, allow_agent_commands=True)
    assert events[-1].payload["reason"] == "threshold_reached"
    (proof,) = judged(stage)[0]["proofs"]
    assert (proof["proof"], proof["failed_on"]) == ("proved", ["the empty artifact"])


def test_time_that_is_over_proves_nothing_and_says_so(tmp_path: Path) -> None:
    (found,) = prove(made(tmp_path, {"search": "."}), seconds=0)
    assert (found.proof, found.message) == (Proof.UNPROVEN, "0 seconds were over after 0 texts")


def test_an_error_while_proving_is_told_and_no_verdict(tmp_path: Path) -> None:
    (found,) = prove(made(tmp_path, {"type": "content", "search": "("}))
    assert (found.proof, "(" in found.message) == (Proof.UNPROVEN, True)


def test_one_check_of_two_that_cannot_fail_is_told(tmp_path: Path) -> None:
    (found,) = prove(made(tmp_path, {"search": "alpha"}, {"search": "x*"}))
    assert (found.proof, found.idle) == (Proof.PROVED, (2,))
    wire = {**found.to_json(), "idle": [2]}
    told = "a.x.alpha (check 2 of 2 that an agent made cannot fail)"
    assert list(proof_lines([wire])) == [("Idle", told)]


def test_what_could_not_be_proved_is_told_with_the_reason(tmp_path: Path) -> None:
    (found,) = prove(made(tmp_path, {"search": "(?!x)x", "negate": True}))
    told = "a.x.alpha (no weight: no example of what it forbids could be made)"
    assert list(proof_lines([found.to_json()])) == [("Not proved", told)]


def test_t12_a_proof_writes_nothing_beside_the_run(tmp_path: Path) -> None:
    command = {"type": "executable", "command": ["grep", "-q", "alpha", "run/artifact.md"]}
    given = made(tmp_path, {"search": "."}, command)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    prove(given)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_equal_runs_have_equal_proofs(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        stage = Stage(tmp_path / name, PROSE)
        script = Script(produce=TEXT, prepare=checks("x*", "alpha"), refine=TEXT)
        events = stable_events(stage.play(script, sequential=True), stage.project)
        found += [e["payload"].get("proofs") for e in events if e["event"] == "evaluation_done"]
    assert found[0] == found[1]
    assert found[0][0]["idle"] == [1]


def checks(*searches: str) -> str:
    rows = [{"rule_id": "a.x.alpha", "type": "content", "search": one} for one in searches]
    return json.dumps({"checks": rows})


def judged(stage: Stage) -> list[Any]:
    lines = (stage.root / "words/history.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["payload"] for row in rows if row["event"] == "evaluation_done"]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, PROSE)


def test_a_vacuous_check_earns_nothing_and_prepare_is_told(stage: Stage) -> None:
    script = Script(
        produce=TEXT, refine=TEXT + "\nMore.\n", prepare=[checks("x*"), checks("alpha")]
    )
    events = stage.play(script)
    first, second = judged(stage)
    assert (first["evaluation"]["score"], first["evaluation"]["passed"]) == (0.0, False)
    row = first["evaluation"]["rule_results"][0]
    assert (row["outcome"], "cannot fail" in row["details"]) == ("not_measured", True)
    assert (first["proofs"][0]["proof"], second["proofs"][0]["proof"]) == ("vacuous", "proved")
    asked = [request for request in script.requests if request.step is Step.PREPARE]
    assert asked[0].refusal == ""
    assert "a.x.alpha: the check that an agent made cannot fail" in prompt_for(asked[1])
    assert events[-1].payload["passed"]


UNPROVED: dict[str, tuple[dict[str, Any], str]] = {
    "a pattern without a match": ({"search": "(?!)", "negate": True}, "no example of what"),
    "where the artifact is": (
        {"type": "executable", "command": ["sh", "-c", 'test "$PWD/$1" -ef "$2"', "sh"]},
        "a copy of the artifact does not pass",
    ),
    "what cannot judge nothing": (
        {"type": "executable", "command": ["sh", "-c", 'test -s "$1" || exit 127', "sh"]},
        "the empty artifact cannot be checked",
    ),
}


@pytest.mark.parametrize(("check", "says"), UNPROVED.values(), ids=UNPROVED)
def test_what_is_not_proved_earns_nothing_and_prepare_is_told(
    stage: Stage, check: dict[str, Any], says: str
) -> None:
    path = ".ai-factory/evolution/words/artifact.md"
    command = {"command": [*check["command"], path, path]} if "command" in check else {}
    given = json.dumps(
        {"checks": [{"rule_id": "a.x.alpha", "type": "content", **check, **command}]}
    )
    script = Script(produce=TEXT, refine=TEXT + "\nMore.\n", prepare=[given, checks("alpha")])
    events = stage.play(script, allow_agent_commands=True)
    first, second = judged(stage)
    assert (first["evaluation"]["score"], second["evaluation"]["score"]) == (0.0, 1.0)
    assert says in first["evaluation"]["rule_results"][0]["details"]
    asked = [request for request in script.requests if request.step is Step.PREPARE]
    assert says in prompt_for(asked[1])
    heading = next(proof_lines(first["proofs"]))
    assert f"a.x.alpha (no weight: {says}" in heading[1]
    lines = [event_line(e) for e in events if e.kind is EventKind.EVALUATION_DONE]
    assert lines[0].endswith(": a.x.alpha")


def test_the_critique_says_that_the_check_cannot_fail(stage: Stage) -> None:
    script = Script(produce=TEXT, refine=TEXT + "\nMore.\n", prepare=checks("x*"))
    stage.play(script, {"loop.max_iterations": 2})
    asked = next(request for request in script.requests if request.step is Step.CRITIQUE)
    assert "the check that an agent made cannot fail" in prompt_for(asked)


def test_what_fails_needs_no_proof(stage: Stage) -> None:
    script = Script(produce=TEXT, prepare=checks("omega"), refine=TEXT)
    stage.play(script, {"loop.max_iterations": 1})
    assert "proofs" not in judged(stage)[0]


def test_checks_of_the_author_are_not_proved(tmp_path: Path) -> None:
    stage = Stage(
        tmp_path, PROSE.replace("Verify that alpha is said", "{search: ., type: content}")
    )
    events = stage.play(Script(produce=TEXT))
    assert ("proofs" in judged(stage)[0], events[-1].payload["passed"]) == (False, True)


def test_declared_commands_are_proved(stage: Stage) -> None:
    fine = json.dumps({"checks": [{"rule_id": "a.x.alpha", "command": "fine"}]})
    reads = json.dumps({"checks": [{"rule_id": "a.x.alpha", "command": "by-variable"}]})
    script = Script(produce=TEXT, refine=TEXT + "\nMore.\n", prepare=[fine, reads])
    stage.play(script)
    assert [one["proofs"][0]["proof"] for one in judged(stage)] == ["vacuous", "proved"]


def test_what_the_proof_changed_is_judged_by_nobody(stage: Stage) -> None:
    # The first run of the command is of EVALUATE, further ones are of the proof.
    each = "for f in .ai-factory/evolution/words/*.md; do test -e seen && echo x >> $f; done"
    command = ["sh", "-c", f"{each}; touch seen"]
    check = {"rule_id": "a.x.alpha", "type": "executable", "command": command}
    script = Script(produce=TEXT, prepare=json.dumps({"checks": [check]}), refine=TEXT)
    flags = {"loop.max_iterations": 1, "loop.may_change": ["seen"]}
    events = stage.play(script, flags, allow_agent_commands=True)
    messages = [e.payload["message"] for e in events if e.kind is EventKind.PHASE_ERROR]
    assert "the artifact changed while its checks were proved" in messages


def test_the_state_after_a_resume_has_the_same_proofs(stage: Stage) -> None:
    script = Script(produce=TEXT, prepare=checks("x*"), refine=TEXT + "\nMore.\n")
    with stage.begin(script, {"loop.max_iterations": 1}) as loop:
        for event in history_of(loop):
            if event.kind is EventKind.EVALUATION_DONE:
                break
        live = loop.state
    with stage.resume(script) as again:
        assert again.state.proofs == live.proofs != ()
        list(history_of(again))
    assert stage.run_json()["proofs"][0]["proof"] == "vacuous"


def test_history_and_show_say_what_cannot_fail(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(produce=TEXT, prepare=checks("x*"), refine=TEXT)
    events = stage.play(script, {"loop.max_iterations": 1})
    evaluation = next(event for event in events if event.kind is EventKind.EVALUATION_DONE)
    assert event_line(evaluation).endswith("cannot fail: a.x.alpha")
    monkeypatch.chdir(stage.project)
    for more in ([], ["--iteration", "1"]):
        assert main(["loop", "show", "words", "--json", *more]) == 0
        assert json.loads(capsys.readouterr().out)["proofs"][0]["proof"] == "vacuous"


AGENT = """\
import json, os, pathlib, sys, time
prompt = sys.stdin.read()
step = prompt.split("executing phase ", 1)[1].split()[0]
with open("calls.log", "a") as log:
    log.write(step + "\\n")
if step == pathlib.Path("die").read_text():
    pathlib.Path("die").write_text("")
    os.kill(os.getppid(), 9)
    time.sleep(60)
search = "alpha" if "cannot fail" in prompt else "x*"
rows = {
    "plan": ["say alpha", "say more", "look again"],
    "checks": [{"rule_id": "a.x.alpha", "type": "content", "search": search}],
    "issues": [
        {"rule_id": "a.x.alpha", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
    ],
}
named = {"PLAN": "plan", "PREPARE": "checks", "CRITIQUE": "issues"}
print(json.dumps({named[step]: rows[named[step]]}) if step in named else "Some alpha.\\n\\nMore.")
"""
CONFIG = """\
agent = "script"
[loop]
evaluator = "{evaluator}"
may_change = ["calls.log", "die"]
[agents.script]
command = [{python!r}, "agent.py"]
timeout = 30
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [slim_python(), "-m", "pytest_reflex", "loop", *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("evaluator", "dies"), [("pytest", ""), ("core", ""), ("core", "CRITIQUE")]
)
def test_a_loop_of_processes_finds_it_whoever_judges_and_dies(
    tmp_path: Path, evaluator: str, dies: str
) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "die").write_text(dies)
    (tmp_path / "prose.yaml").write_text(PROSE)
    config = CONFIG.format(evaluator=evaluator, python=slim_python())
    (tmp_path / "pytest-reflex.toml").write_text(config)
    done = run(tmp_path, "new", "say", "--alias", "words", "--criteria", "prose.yaml", "--yes")
    if dies:
        assert done.returncode == -9
        done = run(tmp_path, "resume", "words")
    told = "Vacuous: a.x.alpha (no weight: what an agent made for it cannot fail)"
    assert (done.returncode, told in done.stderr) == (0, not dies)
    first, second = judged(Stage(tmp_path, PROSE))
    assert [one["proofs"][0]["proof"] for one in (first, second)] == ["vacuous", "proved"]
    calls = (tmp_path / "calls.log").read_text().split()
    assert (calls.count("PREPARE"), calls.count("CRITIQUE")) == (2, 2 if dies else 1)
