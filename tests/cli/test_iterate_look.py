"""`iterate list` and `iterate info` say what procedures there are and who said what of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.builtin import built_in_names
from pytest_reflex.settings import SETTINGS
from tests.cli.terminal import Terminal
from tests.drivers.iterate.desk import FOUR, write

KEY = "sk-ant-api03-0123456789abcdefghij"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["iterate", *argv]) == 0
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(capsys, *argv, "--json"))
    return found


def test_in_a_pipe_each_procedure_is_a_line_with_tabs(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = write(project, f"[iterate.procedures.mine]\ndescription = 'Mine\\tit'\n{FOUR}")
    rows = [line.split("\t") for line in told(capsys, "list").splitlines()]
    assert [row[0] for row in rows] == [*built_in_names(), "mine"]
    assert rows[-1] == ["mine", "Mine\\tit", str(own)]


@pytest.mark.long
def test_on_a_terminal_it_is_a_table(project: Path) -> None:
    with Terminal(["iterate", "list"], project, columns=120) as terminal:
        assert terminal.end() == 0
        shown = terminal.everything
    assert "procedure" in shown.splitlines()[0]
    assert "Do the next task of the plan, with its tests" in shown


def test_a_procedure_that_cannot_be_used_is_listed_with_its_fault(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "[iterate.procedures.mine]\nobserve = [{path = 'no.md'}]\n")
    last = document(capsys, "list")["procedures"][-1]
    assert last["name"] == "mine"
    assert "no.md: mine: the prompt of observe" in last["problem"]
    assert "mine\t(cannot be used)\t" in told(capsys, "list")


def test_info_has_each_bound_with_its_origin(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = write(project, "[iterate.procedures.build]\nmax_iterations = 2\n")
    bounds = document(capsys, "info", "build")["bounds"]
    assert bounds[0] == {
        "name": "max_iterations",
        "value": 2,
        "origin": f"procedure build: {own}",
    }
    assert bounds[1] == {"name": "failure_threshold", "value": 3, "origin": "default"}


def test_info_has_the_fragments_with_their_origin(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = write(project, '[iterate.procedures.build]\nact = [{content = "Rest."}]\n')
    phases = document(capsys, "info", "build")["phases"]
    assert phases["act"] == [
        {
            "path": None,
            "characters": 5,
            "begins": "Rest.",
            "parameters": {},
            "origin": f"{own}:2:7",
        }
    ]
    assert (phases["observe"][0]["path"], phases["observe"][0]["origin"]) == (
        "read-first.md",
        "built-in",
    )


def test_info_says_which_command_would_run_without_its_secrets(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = json.dumps(sys.executable)
    write(project, f'[iterate]\nagent = "t"\n[agents.t]\ncommand = [{python}, "--key={KEY}"]\n')
    page = told(capsys, "info", "build")
    assert f"COMMAND     {sys.executable} " in page
    assert KEY not in page


@pytest.mark.parametrize(
    "verb", [["iterate", "info", "plan"], ["config"], ["doctor"]], ids=" ".join
)
def test_the_command_of_a_gate_is_shown_without_its_secrets(
    project: Path, capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    write(project, f'[iterate.gates.t]\ncommand = "deploy --api-key={KEY} now"\n')
    main(verb)
    out = capsys.readouterr().out
    assert "deploy --api-key=" in out
    assert KEY not in out


def test_info_of_an_agent_that_takes_no_prompt_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    agent = document(capsys, "info", "build")["agent"]
    assert (agent["name"], agent["origin"], agent["command"]) == ("offline", "default", None)
    assert "'offline' cannot take the prompt" in agent["problem"]


def test_info_tells_gates_and_what_is_wrong_with_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = write(
        project,
        '[iterate.gates]\na = {command = ["x", "y z"]}\n'
        'b = {criteria = "code", artifacts = ["m.py"], required = false}\n',
    )
    page = told(capsys, "info", "plan")
    assert f"GATES       a: x 'y z'  (required, {own})\n" in page
    assert f"            b: criteria code over m.py  (reported only, {own})\n" in page
    write(project, "[iterate.gates.c]\ntimeout = 5\n")
    assert "gate 'c' has neither a command nor criteria" in told(capsys, "info", "plan")


def test_info_says_when_a_prompt_is_over_the_budget(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "[iterate]\ntoken_budget = 10\n")
    assert " / 10 tokens, over the budget\n" in told(capsys, "info", "build")


def test_info_of_a_procedure_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["iterate", "info", "biuld"]) == 4
    assert "no procedure 'biuld' (did you mean build?)" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["iterate", "list"], ["iterate", "info", "build"], ["config"]])
def test_an_unknown_key_is_told_once_and_not_in_the_data(
    project: Path, capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    write(project, "[iterate]\nmax_iteration = 2\n")
    assert main([*verb, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert err.count("unknown key 'iterate.max_iteration' is ignored (did you mean ") == 1


def test_looking_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "list")
    told(capsys, "info", "build")
    assert list(project.iterdir()) == []


def test_info_has_the_time_that_a_round_may_take_among_the_bounds(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "            timeout = 3600  (default)\n" in told(capsys, "info", "build")
    own = write(project, '[iterate]\nagent = "a"\n[agents.a]\ncommand = "cat"\ntimeout = 9\n')
    assert f"            timeout = 9  ({own})\n" in told(capsys, "info", "build")


def test_an_agent_that_there_is_not_is_told_with_its_place(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = write(project, '[iterate.procedures.build]\nagent = "cluade"\n')
    assert main(["iterate", "run", "build"]) == 4
    said = capsys.readouterr().err
    assert f"{own}:2:9: no agent named 'cluade' (did you mean claude?)" in said
