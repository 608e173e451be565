"""What is not installed is said once; what cannot be proved without it is neither good nor bad."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems

RULES: dict[str, tuple[str, str, str, str, dict[str, Any]]] = {
    "detect-secrets": (
        *("detect_secrets", "secrets", "a.yaml", "a: 1\n"),
        {"type": "structure", "configuration": "secrets"},
    ),
    "openapi-spec-validator": (
        *("openapi_spec_validator", "openapi", "a.yaml"),
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {}\n",
        {"type": "structure", "openapi": "valid"},
    ),
    "ruff": ("ruff", "code", "a.py", "x = 1\n", {"type": "code", "aspect": "bugs"}),
    "ast-grep-py": (
        *("ast_grep_py", "code", "a.py", "x = 1\n"),
        {"type": "structure", "code": {"language": "python", "pattern": "y", "negate": True}},
    ),
}


@pytest.fixture(params=RULES)
def part(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str, list[str]]:
    """A part that is not there: its name, its extra, and three artifacts for rules that need it."""
    module, extra, name, text, check = RULES[request.param]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    sample = {"file": name, "text": text}
    rules = [
        {
            "id": f"a.x.{word}",
            "description": word,
            "severity": "fail",
            "hint": f"make it {word}",
            "check": check,
            "samples": {"good": [sample], "bad": [sample]},
        }
        for word in ("one", "two")
    ]
    Path("rules.yaml").write_text(json.dumps({"name": "rules", "rules": rules}))
    artifacts = [f"{letter}{Path(name).suffix}" for letter in "abc"]
    for artifact in artifacts:
        Path(artifact).write_text(text)
    return request.param, extra, artifacts


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("count", [1, 3])
def test_evaluate_says_it_in_one_line(
    count: int, part: tuple[str, str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    name, extra, artifacts = part
    main(["evaluate", *artifacts[:count], "--criteria", "rules.yaml"])
    out = told(capsys)
    line = f"{name} is not installed, so 2 rules are not measured: pip install 'pytest-reflex["
    assert out.count(f"{line}{extra}]'") == 1
    assert out.count("is not installed") == 1
    assert out.count(f"without {name}: a.x.one, a.x.two") == count
    assert "hint" not in out


def test_report_says_what_a_check_needs(
    part: tuple[str, str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    name, _, artifacts = part
    assert main(["evaluate", artifacts[0], "--criteria", "rules.yaml", "--json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert not problems("report", document)
    (row, _) = document["evaluations"][0]["rule_results"]
    assert (row["outcome"], row["checks"][0]["needs"]) == ("not_measured", name)


def test_rule_is_not_provable_without_it(
    part: tuple[str, str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    name, extra, artifacts = part
    assert main(["criteria", "prove", "rules.yaml", artifacts[0]]) == 0
    out = told(capsys)
    assert f"a.x.one is not provable without {name}, which is not installed" in out
    assert f"= pip install 'pytest-reflex[{extra}]'" in out
    assert "2 rules: 2 not provable" in out
    assert "vacuous" not in out
    assert main(["criteria", "prove", "rules.yaml", "--json", "--strict"]) == 1
    wire = json.loads(capsys.readouterr().out)["rules"]
    assert [(one["proof"], one["needs"]) for one in wire] == [("not provable", name)] * 2


def test_samples_are_not_measured_without_it(
    part: tuple[str, str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    name, extra, _ = part
    assert main(["criteria", "test", "rules.yaml"]) == 0
    out = told(capsys)
    line = f"{name} is not installed: pip install 'pytest-reflex[{extra}]'"
    assert out.count(f"not measured: a.x.one, a.x.two: {line}") == 1
    assert main(["criteria", "test", "rules.yaml", "--strict"]) == 1


@pytest.mark.long
def test_doctor_ends_with_what_is_missing(
    part: tuple[str, str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    name, extra, _ = part
    main(["doctor"])
    last = capsys.readouterr().out.rpartition("\nNot installed\n")[2]
    assert last == f"  {name}: pip install 'pytest-reflex[{extra}]'\n"


def test_alternative_that_needs_it_is_not_provable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "detect_secrets", None)
    check = [{"type": "content", "search": "^a"}, RULES["detect-secrets"][4]]
    rule = {"id": "a.x.one", "description": "d", "severity": "fail", "check": {"any_of": check}}
    Path("rules.yaml").write_text(json.dumps({"name": "r", "rules": [rule]}))
    Path("a.yaml").write_text("a: 1\n")
    assert main(["criteria", "prove", "rules.yaml", "a.yaml"]) == 0
    assert "not provable without detect-secrets" in told(capsys)
