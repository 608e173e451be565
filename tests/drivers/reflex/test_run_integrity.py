"""What judges may not change: each kind of tampering ends a run before the next verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reflex.checks.registry import built_in_registry, compile_all
from pytest_reflex.drivers.common.judging_files import commands_in, files_of_commands
from pytest_reflex.errors import PausedError, StateError, TamperedError
from pytest_reflex.integrity.project import ProjectTree
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.steps import StepRequest
from tests.drivers.reflex.stage import CRITERIA, Script, Stage, history_of, story
from tests.verdict.sets import criteria as criteria_of
from tests.verdict.sets import rule

BASE = CRITERIA
LINTER = """\
name: words
vars: {tool: "sh checks/judge.py"}
rules:
  - {id: a.x.ok, description: it holds, severity: fail, check: {type: findings,
     command: {var: tool}, format: jsonl, fields: {message: m}}}
"""
EXTENDING = "name: words\nextends: base.yaml\n"
COMMAND = """\
name: words
rules:
  - {id: a.x.ok, description: it holds, severity: fail, check: {type: executable,
     command: [python, checks/judge.py, --strict]}}
  - {id: a.x.tests, description: its tests pass, severity: fail, check: {type: executable,
     command: "pytest -q 'tests/test_a.py::test_b' more"}}
"""


NAMING = (
    CRITERIA
    + """\
  - {id: a.x.named, description: it holds, severity: fail, check: {type: executable,
     command: ["true", more/b.py]}}
"""
)


class Tampering:
    """An agent that does something to the project while it produces."""

    def __init__(self, deed: Callable[[Path], object], project: Path) -> None:
        self.deed, self.project = deed, project

    def __call__(self, request: StepRequest) -> str:
        self.deed(self.project)
        return "alpha beta gamma\n"


def _stage(folder: Path, criteria: str = CRITERIA) -> Stage:
    for name in ("checks/judge.py", "tests/test_a.py", "more/b.py", "more/c.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x = 1\n")
    (folder / "base.yaml").write_text(BASE)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-q'\n")
    return Stage(folder, criteria)


def _write(name: str, text: str = "x = 2\n") -> Callable[[Path], object]:
    def deed(project: Path) -> None:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)

    return deed


STATE = ".ai-factory/evolution/words"
DEEDS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "a lowered threshold": (
        CRITERIA, _write("criteria.yaml", BASE.replace("0.9", "0.1")), "criteria.yaml was changed",
    ),
    "criteria that are gone": (
        CRITERIA, lambda p: (p / "criteria.yaml").unlink(), "criteria.yaml was removed",
    ),
    "a file that the criteria extend": (
        EXTENDING, _write("base.yaml", BASE.replace("gamma", "a")), "base.yaml was changed",
    ),
    "a script that a check runs": (
        COMMAND, _write("checks/judge.py"), "checks/judge.py was changed",
    ),
    "a linter that a variable names": (
        LINTER, _write("checks/judge.py"), "checks/judge.py was changed",
    ),
    "a test that a check names by its id": (
        COMMAND, _write("tests/test_a.py"), "tests/test_a.py was changed",
    ),
    "a module in a folder that a check names": (
        COMMAND, _write("more/deep/conftest.py"), "more/deep/conftest.py was added",
    ),
    "a planted conftest.py": (CRITERIA, _write("conftest.py"), "conftest.py was added"),
    "a planted conftest.py beside the artifact": (
        CRITERIA, _write(f"{STATE}/conftest.py"), f"{STATE}/conftest.py was added",
    ),
    "addopts": (
        CRITERIA,
        _write("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-k nothing'\n"),
        "pyproject.toml was changed",
    ),
    "options beside the draft": (
        CRITERIA, _write("docs/.pytest.ini", "[pytest]\n"), "docs/.pytest.ini was added",
    ),
    "a sitecustomize.py on the path": (
        CRITERIA, _write("lib/sitecustomize.py"), "lib/sitecustomize.py was added",
    ),
    "run.json edited": (CRITERIA, _write(f"{STATE}/run.json", "{}"), "run.json was changed"),
    "another table of pyproject.toml": (
        CRITERIA,
        _write(
            "pyproject.toml", "[project]\nname = 'x'\n[tool.pytest.ini_options]\naddopts = '-q'\n"
        ),
        "pyproject.toml was changed",
    ),
    "what no check names": (CRITERIA, _write("more/c.txt"), "more/c.txt was changed"),
    "what no check names and was not there": (
        CRITERIA, _write("more/new/d.txt"), "more/new/d.txt was added",
    ),
    "what no check names and is gone": (
        CRITERIA, lambda p: (p / "more/c.txt").unlink(), "more/c.txt was removed",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("criteria", "deed", "told"), DEEDS.values(), ids=DEEDS.keys())
def test_t12_tampering_ends_the_run_before_a_verdict(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    criteria: str,
    deed: Callable[[Path], object],
    told: str,
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/draft.md").write_text("alpha\n")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    stage = _stage(tmp_path, criteria)
    script = Script(produce=Tampering(deed, tmp_path))
    events = stage.play(script, draft=tmp_path / "docs/draft.md", sequential=True)
    assert story(events)[-2:] == ["artifact_created", "failed"]
    assert "evaluation_done" not in story(events)
    assert told in events[-1].payload["detail"]
    assert stage.run_json()["stop"]["reason"] == "tampered"


WORDS = {
    "a list": (["python", "judge.py", "more/c.txt"], {"judge.py", "more/c.txt"}),
    "a shell's line": ("cd . && sh 'judge.sh'; ./judge.py|cat", {"judge.sh", "judge.py"}),
    "a test by its id": ("pytest tests/test_a.py::test_b", {"tests/test_a.py"}),
    "a folder": ("ruff check tests", {"tests/**/*.py"}),
    "where it writes": ("sh judge.sh > more/c.txt 2>> judge.py -o tests/test_a.py", {"judge.sh"}),
    "an open quote": ("sh judge.sh 'oops", {"judge.sh"}),
    "what is not there, or not ours": ("sh nothing.sh /etc/passwd ../x .", set()),
}


@pytest.mark.parametrize(("command", "held"), WORDS.values(), ids=WORDS.keys())
def test_the_files_that_a_command_names_are_held(
    tmp_path: Path, command: str | list[str], held: set[str]
) -> None:
    for name in ("judge.py", "judge.sh", "more/c.txt", "tests/test_a.py"):
        _write(name)(tmp_path)
    found = files_of_commands([command], project=tmp_path, artifact=tmp_path / "state/artifact.md")
    assert set(found) == held


NAMED: dict[str, dict[str, object]] = {
    "an executable check": {"type": "executable", "command": "sh judge.sh"},
    "a linter": {"type": "findings", "command": ["sh", "judge.sh"], "format": "sarif"},
    "a command for code": {"type": "code", "aspect": "bugs", "command": "./judge.sh"},
    "a variable": {"type": "code", "aspect": "bugs", "command": {"var": "own"}},
    "an alternative": {
        "type": "any_of",
        "any_of": [
            {"type": "content", "search": "x"},
            {"type": "findings", "command": {"var": "own"}, "format": "sarif"},
        ],
    },
}


@pytest.mark.parametrize("wire", NAMED.values(), ids=NAMED.keys())
def test_the_command_of_any_kind_of_check_is_held(tmp_path: Path, wire: dict[str, object]) -> None:
    for name in ("judge.sh", "check/a.py", "mypy/b.py"):  # words of our own tools are not files
        _write(name)(tmp_path)
    judged = criteria_of(
        replace(rule("a.x.y"), checks=(CheckSpec.from_json(wire),)),
        replace(rule("a.x.z"), checks=(CheckSpec.from_json({"type": "code", "aspect": "bugs"}),)),
    )
    judged = replace(judged, vars={"own": "sh judge.sh"})
    commands = commands_in(judged, compile_all(judged, built_in_registry()))
    found = files_of_commands(commands, project=tmp_path, artifact=tmp_path / "artifact.md")
    assert set(found) == {"judge.sh"}


def test_the_command_that_an_agent_may_call_is_held() -> None:
    declared = {"lint": {"argv": ["sh", "judge.sh"], "args": []}, "odd": {}}
    judged = replace(criteria_of(rule("a.x.y")), commands=declared)
    assert ["sh", "judge.sh"] in commands_in(judged, compile_all(judged, built_in_registry()))


UNTOUCHED: dict[str, Callable[[Path], object]] = {
    "nothing": lambda p: None,
    "our own leavings": lambda p: _write("__pycache__/x.pyc")(p) or _write(".pytest_cache/a")(p),
    "the draft": _write("draft.md", "something else\n"),
    "the output": _write("more/b.py"),
    "what may change": lambda p: _write("logs/deep/a.log")(p) or _write("more/c.txt")(p),
    "the same bytes": _write("criteria.yaml", NAMING),
    "bytes that are the same again": lambda p: _write("more/c.txt")(p)
    or _write("more/c.txt", "x = 1\n")(p),
    "a folder without files": lambda p: (p / "more/empty/deeper").mkdir(parents=True),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("deed", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_what_bears_on_no_verdict_may_change(
    tmp_path: Path, deed: Callable[[Path], object]
) -> None:
    (tmp_path / "draft.md").write_text("alpha\n")
    stage = _stage(tmp_path, NAMING)
    script = Script(produce=Tampering(deed, tmp_path))
    flags = {"loop.may_change": ["logs/**", "more/c.txt"]}
    stage.play(script, flags, draft=tmp_path / "draft.md", output=tmp_path / "more/b.py")
    assert stage.run_json()["stop"]["reason"] == "threshold_reached"


def _deed_after(stage: Stage, level: str, deed: Callable[[Path], object]) -> None:
    """Play a loop in which somebody does something when a phase has been judged."""
    with stage.begin(Script(produce="alpha beta gamma\n")) as loop:
        for event in history_of(loop):
            if event.kind == "evaluation_done" and event.level.value == level:
                deed(stage.project)


AFTER: dict[str, tuple[Callable[[Path], object], str]] = {
    "a lowered threshold": (
        _write("criteria.yaml", BASE.replace("0.9", "0.1")), "criteria.yaml was changed",
    ),
    "criteria that are gone": (
        lambda p: (p / "criteria.yaml").unlink(), "criteria.yaml was removed",
    ),
    "a conftest.py beside the artifact": (
        _write(f"{STATE}/conftest.py"), f"{STATE}/conftest.py was added",
    ),
}  # fmt: skip


@pytest.mark.parametrize("level", ["A", "B"])
@pytest.mark.parametrize(("deed", "told"), AFTER.values(), ids=AFTER.keys())
def test_tampering_after_a_verdict_takes_it_back(
    tmp_path: Path, level: str, deed: Callable[[Path], object], told: str
) -> None:
    stage = _stage(tmp_path)
    _deed_after(stage, level, deed)
    stop = stage.run_json()["stop"]
    assert (stop["reason"], stop["passed"], stop["detail"]) == ("tampered", False, told)


def test_a_planted_conftest_between_two_verdicts_pauses_the_run(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    with pytest.raises(
        PausedError, match=r"since the run last looked at it: conftest\.py was added"
    ):
        _deed_after(stage, "A", _write("conftest.py"))
    assert stage.run_json()["status"] == "running"
    (tmp_path / "conftest.py").unlink()
    with stage.resume(Script(produce="alpha beta gamma\n")) as loop:
        list(history_of(loop))
    assert stage.run_json()["stop"]["reason"] == "threshold_reached"


def test_what_changed_while_nobody_ran_ends_a_resume(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        next(iter(history_of(loop)))
    stage.criteria.write_text(CRITERIA.replace("0.9", "0.1"))
    with stage.resume(Script(produce="alpha beta gamma\n")) as loop:
        events = list(history_of(loop))
    assert story(events) == ["failed"]
    assert events[-1].payload["detail"] == "criteria.yaml was changed"


def test_the_manifest_is_in_the_first_event(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        first = next(iter(history_of(loop)))
    sealed = first.payload["sealed"]
    assert len(sealed["files"]["criteria.yaml"]) == 64
    assert f"{STATE}/conftest.py" in sealed["patterns"]


def test_the_state_of_the_project_is_in_the_first_event(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    with stage.begin(Script(produce="x\n"), {"loop.may_change": ["*.log"]}) as loop:
        first = next(iter(history_of(loop)))
    record = first.payload["project"]
    known = ProjectTree(tmp_path, record["apart"]).decode(record["files"])
    assert (known.changes(), record["may_change"]) == ({}, ["*.log"])
    _write("conftest.py")(tmp_path)
    _write("more/c.txt", "x = 3\n")(tmp_path)
    (tmp_path / "more/b.py").unlink()
    found = [str(change) for change in known.describe(known.changes())]
    assert found == ["conftest.py was added", "more/b.py was removed", "more/c.txt was changed"]


def _rewritten(path: Path) -> None:
    """Lower the threshold in a history, with every sum made anew."""
    from pytest_reflex.storage.lines import NO_LINE, digest_of, encode

    data, last = b"", NO_LINE
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        record = json.loads(line)
        if number == 1:
            record["payload"]["criteria"]["phase"]["B"]["threshold"] = 0
        made = encode({k: v for k, v in record.items() if k not in ("prev", "crc")}, number, last)
        data, last = data + made, digest_of(made[:-1])
    path.write_bytes(data)


def test_a_history_made_anew_ends_the_run_and_every_resume(tmp_path: Path) -> None:
    stage = _stage(tmp_path)
    history = stage.root / "words/history.jsonl"
    script = Script(produce=Tampering(lambda p: _rewritten(history), tmp_path))
    with pytest.raises(TamperedError, match=r"history\.jsonl was changed"):
        stage.play(script, sequential=True)
    assert stage.run_json()["stop"]["reason"] == "tampered"
    with pytest.raises(StateError, match=r"history\.jsonl"), stage.resume(Script()):
        pass
