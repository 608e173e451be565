"""Which commands a check starts: every kind says it, and a kind of a plugin may."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import prepare
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckCommand, CompiledCheck
from tests.checks.building import rule, target

VARIABLES = {"tool": "lint it", "none": "", "slow": 7}
CODE = {"type": "code", "aspect": "bugs"}
KINDS: dict[str, tuple[dict[str, Any], list[Any], bool]] = {
    "a search": ({"type": "content", "search": "x"}, [], False),
    "a structure": ({"type": "structure", "links": True}, [], False),
    "a list": ({"type": "executable", "command": ["a", "b"]}, [("a", "b")], True),
    "a text": ({"type": "executable", "command": "a b"}, ["a b"], True),
    "a variable": ({"type": "executable", "command": {"var": "tool"}}, ["lint it"], True),
    "a linter": ({"type": "findings", "command": ["a"], "format": "sarif"}, [("a",)], True),
    "a linter by a variable": (
        {"type": "findings", "command": {"var": "tool"}, "format": "sarif"}, ["lint it"], True,
    ),
    "a tool of ours": (CODE, [()], False),
    "tests in the artifact": ({**CODE, "aspect": "tests"}, [()], True),
    "what is read in this process": ({**CODE, "aspect": "functions"}, [], False),
    "a command in place of a tool": ({**CODE, "command": {"var": "tool"}}, ["lint it"], True),
    "an empty one": ({**CODE, "command": {"var": "none"}}, [()], False),
    "no language of ours": ({**CODE, "language": "java"}, [], False),
    "what is not run": ({"type": "withheld", "command": "x", "reason": "no"}, [], False),
    "alternatives": (
        {"type": "any_of", "any_of": [CODE, {"type": "executable", "command": ["a"]}]},
        [(), ("a",)],
        True,
    ),
    "alternatives that only look": (
        {"type": "any_of", "any_of": [{"type": "content", "search": w} for w in "ab"]}, [], False,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wire", "written", "foreign"), KINDS.values(), ids=KINDS.keys())
def test_a_check_says_what_it_starts(
    wire: dict[str, Any], written: list[Any], foreign: bool
) -> None:
    check = built_in_registry().compile(CheckSpec.from_json(wire), VARIABLES)
    assert [one.written for one in check.commands] == written
    assert check.in_process is not bool(written)
    assert check.runs_foreign_code is foreign


def test_limits_are_said_with_the_command() -> None:
    params = {"command": "a", "timeout": {"var": "slow"}, "retries": 2}
    spec = CheckSpec(type="executable", params=params)
    (command,) = built_in_registry().compile(spec, VARIABLES).commands
    assert (command.timeout, command.tries) == (7.0, 3)
    assert command.argv[1:] == ("-c", "a")
    assert command.environment == ("PYTEST_REFLEX_ARTIFACT", "PYTEST_REFLEX_BLOCKS")


def test_a_tool_of_ours_is_said_with_its_arguments() -> None:
    spec = CheckSpec.from_json({**CODE, "aspect": "types"})
    (command,) = built_in_registry().compile(spec, {}).commands
    assert command.argv[:4] == (sys.executable, "-P", "-m", "mypy")
    assert command.argv[-2:] == ("--", "<the files>")
    assert command.cwd == "<a folder with copies of the Python files>"


class Fetched:
    """A kind of a plugin, which says what it starts."""

    name = "fetched"

    def problems(self, spec: CheckSpec) -> list[Any]:
        return []

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        names = spec.params["names"]
        commands = [CheckCommand(argv=("fetch", n), written=("fetch", n), timeout=3) for n in names]
        passed = CheckResult(outcome=Outcome.PASS)
        return CompiledCheck(
            spec,
            lambda artifact, context: passed,
            commands=tuple(commands),
            starts_more=spec.params.get("more", False),
        )


@pytest.mark.parametrize(
    ("params", "in_process", "foreign"),
    [
        ({"names": ["a", "b"]}, False, True),
        ({"names": []}, True, False),
        ({"names": [], "more": True}, False, True),
        ({"names": ["a"], "more": True}, False, True),
    ],
    ids=["what it starts", "nothing", "what it does not name", "both"],
)
def test_a_kind_of_a_plugin_says_what_it_starts(
    params: dict[str, Any], in_process: bool, foreign: bool
) -> None:
    registry = built_in_registry()
    registry.register(Fetched())
    spec = CheckSpec(type="fetched", params=params)
    check = registry.compile(spec, {})
    assert [one.argv[1] for one in check.commands] == params["names"]
    assert (check.in_process, check.runs_foreign_code) == (in_process, foreign)
    either = {"type": "any_of", "any_of": [spec.to_json(), {"type": "content", "search": "x"}]}
    either_check = registry.compile(CheckSpec.from_json(either), {})
    assert either_check.commands == check.commands
    assert (either_check.in_process, either_check.runs_foreign_code) == (in_process, foreign)


def test_a_target_knows_which_of_its_checks_start_a_process(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a\n")
    specs = [CheckSpec.from_json(KINDS[name][0]) for name in ("a search", "a list", "alternatives")]
    prepared = prepare(target(tmp_path / "a.md", rule("a.x.y", *specs)), built_in_registry())
    assert [prepared.in_process("a.x.y", index) for index in range(3)] == [True, False, False]
