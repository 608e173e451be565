"""What `criteria compile` prints is what runs: held against programs that log their start."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.cli.main import main
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.model.enums import Level
from pytest_reflex.model.targets import Target

pytestmark = pytest.mark.long

CRITERIA = """\
name: traced
vars: {limit: 5, own: "lint --all 'x y'", nothing: ""}
rules:
  - {id: a.x.text, description: d, severity: fail, check: {type: executable,
     command: 'tool "$PYTEST_REFLEX_ARTIFACT" {a} %s', timeout: {var: limit}}}
  - {id: a.x.list, description: d, severity: fail, check: {type: executable,
     command: [tool, '$HOME', 'a b'], retries: 1, expect_exit: 3}}
  - {id: a.x.shell, description: d, severity: fail, check: {type: executable,
     command: tool | tool, shell: bash-strict}}
  - {id: a.x.linter, description: d, severity: fail, check: {type: findings,
     command: [tool, --json], format: jsonl, fields: {message: m}, silent: true}}
  - {id: a.x.either, description: d, severity: fail, check: {any_of: [
     {type: content, search: nowhere}, {type: executable, command: [tool, either]}]}}
  - {id: a.x.own, description: d, severity: fail, check: {type: code, aspect: bugs,
     command: {var: own}}}
  - {id: a.x.bugs, description: d, severity: fail, check: {type: code, aspect: bugs,
     command: {var: nothing}}}
  - {id: a.x.style, description: d, severity: fail, check: {type: code, aspect: conventions,
     line_length: 77}}
  - {id: a.x.types, description: d, severity: fail, check: {type: code, aspect: types}}
  - {id: a.x.tests, description: d, severity: fail, check: {type: code, aspect: tests}}
  - {id: a.x.bodies, description: d, severity: fail, check: {type: code, aspect: functions}}
"""
PROGRAM = """\
#!{python}
import json, os, sys
with open({log!r}, "a") as log:
    argv = [{name!r}, *sys.argv[1:]]
    log.write(json.dumps({{"argv": argv, "cwd": os.getcwd()}}) + "\\n")
if {real!r}:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
"""


class Traced:
    """A project whose shell, tools and interpreter write down how they were started."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.log = folder, folder / "log.jsonl"
        (folder / "bin").mkdir()
        for name, real in {"tool": "", "bash": "/bin/bash", "lint": ""}.items():
            self._program(name, name, real)
        python = self._program("python-log", "python", sys.executable)
        (folder / "traced.yaml").write_text(CRITERIA)
        (folder / "code").mkdir()
        (folder / "code" / "test_a.py").write_text("def test_a() -> None:\n    assert True\n")
        monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
        monkeypatch.setattr(sys, "executable", str(python))
        monkeypatch.chdir(folder)

    def _program(self, file: str, name: str, real: str) -> Path:
        path = self.folder / "bin" / file
        values = {"python": sys.executable, "log": str(self.log), "name": name, "real": real}
        path.write_text(PROGRAM.format(**values))
        path.chmod(0o755)
        return path

    def run(self, rule_id: str) -> list[dict[str, Any]]:
        """Return what was started by one rule on the folder `code`, as it was logged."""
        criteria = load_criteria("traced.yaml", registry=built_in_registry())
        (rule,) = (rule for rule in criteria.rules if rule.id == rule_id)
        self.log.write_text("")
        one = Target(
            criteria=criteria.__class__(
                name="one", version=1, thresholds=criteria.thresholds, rules=(rule,),
                vars=criteria.vars,
            ),
            level=Level.A, artifact=self.folder / "code", root=self.folder,
        )  # fmt: skip
        evaluate(one, built_in_registry())
        logged = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [one for one in logged if "-I" not in one["argv"]]  # the guard is not a check's


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Traced:
    return Traced(tmp_path, monkeypatch)


def _printed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    assert main(["criteria", "compile", "traced.yaml", "--phase", "A", "--json"]) == 0
    return {check["rule"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def _fits(printed: list[str], started: list[str]) -> bool:
    """Return whether what was started is what was printed, words in angle brackets apart."""
    first, last = Path(printed[0]).name, Path(started[0]).name
    if len(printed) != len(started) or first.removesuffix("-log") != last:
        return False
    return all(p == s or p.startswith("<") for p, s in zip(printed[1:], started[1:], strict=True))


# Of a rule: which of the programs that were started is the check's own command, and how often.
TIMES = {
    "a.x.text": 1, "a.x.list": 2, "a.x.shell": 1, "a.x.linter": 1, "a.x.own": 1, "a.x.bugs": 1,
    "a.x.style": 1, "a.x.types": 1, "a.x.tests": 1, "a.x.bodies": 0,
}  # fmt: skip


@pytest.mark.parametrize("rule_id", TIMES)
def test_what_is_printed_is_what_is_started(
    traced: Traced, rule_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check = _printed(capsys)[rule_id]
    started = traced.run(rule_id)
    if not TIMES[rule_id]:
        assert (started, "argv" in check, check["in_process"]) == ([], False, True)
        return
    own = [one for one in started if _fits(check["argv"], one["argv"])]
    assert own[:1] == started[:1], (check["argv"], started)
    assert len(own) == TIMES[rule_id] <= check["retries"] + 1
    if not check["cwd"].startswith("<"):
        assert {one["cwd"] for one in own} == {check["cwd"]}


def test_an_alternative_is_printed_as_it_is_started(
    traced: Traced, capsys: pytest.CaptureFixture[str]
) -> None:
    check = _printed(capsys)["a.x.either"]
    (one,) = traced.run("a.x.either")
    assert one["argv"] == check["one_of"][1]["argv"] == ["tool", "either"]


def test_limits_and_options_are_printed_with_their_defaults(
    traced: Traced, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(capsys)
    assert printed["a.x.text"]["timeout"] == 5.0
    assert printed["a.x.list"]["expect_exit"] == 3
    assert printed["a.x.style"]["options"]["line_length"] == 77
    assert printed["a.x.bugs"]["options"]["language"] == "python"
    assert printed["a.x.linter"]["options"] == {
        "silent": True, "ran": [0, 1], "max_findings": 0, "levels": {}, "rules": {},
        "stream": "stdout", "format": "jsonl", "fields": {"message": "m"}, "allow_empty": False,
    }  # fmt: skip
    assert printed["a.x.either"]["one_of"][0]["options"] == {
        "literal": False, "negate": False, "ignore_case": False, "raw": False, "each": False,
        "across": False, "min_count": 1,
    }  # fmt: skip
