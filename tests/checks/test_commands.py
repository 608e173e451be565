"""Which commands a check starts: every kind says it, and a kind of a plugin may."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.commands import commands_of, runs_foreign_code, starts_process
from pytest_reflex.checks.registry import built_in
from pytest_reflex.checks.run import prepare
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckCommand, RunCheck
from tests.checks.building import rule, target

VARIABLES = {"tool": "lint it", "none": "", "slow": 7}
CODE = {"type": "code", "aspect": "bugs"}
KINDS: dict[str, tuple[dict[str, Any], list[Any], bool]] = {
    "a search": ({"type": "content", "search": "x"}, [], False),
    "a structure": ({"type": "structure", "links": {}}, [], False),
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
    "a command in the place of a tool": ({**CODE, "command": {"var": "tool"}}, ["lint it"], True),
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
    spec, registry = CheckSpec.from_json(wire), built_in()
    assert [one.written for one in commands_of(spec, VARIABLES, registry)] == written
    assert starts_process(spec, VARIABLES, registry) is bool(written)
    assert runs_foreign_code(spec, VARIABLES, registry) is foreign


def test_limits_are_said_with_the_command() -> None:
    params = {"command": "a", "timeout": {"var": "slow"}, "retries": 2}
    spec = CheckSpec(type="executable", params=params)
    (command,) = commands_of(spec, VARIABLES, built_in())
    assert (command.timeout, command.tries) == (7.0, 3)
    assert command.argv[1:] == ("-c", "a")
    assert command.environment == ("PYTEST_REFLEX_ARTIFACT", "PYTEST_REFLEX_BLOCKS")


def test_a_tool_of_ours_is_said_with_its_arguments() -> None:
    (command,) = commands_of(CheckSpec.from_json({**CODE, "aspect": "types"}), {}, built_in())
    assert command.argv[:3] == (sys.executable, "-m", "mypy")
    assert command.argv[-2:] == ("--", "<the files>")
    assert command.cwd == "<a folder with copies of the Python files>"


class Silent:
    """A kind of a plugin that starts a process and does not say which."""

    name, in_process = "own", False

    def problems(self, spec: CheckSpec) -> list[Any]:
        return []

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> RunCheck:
        raise NotImplementedError


class Saying(Silent):
    """One that says it."""

    def commands(self, spec: CheckSpec, variables: Mapping[str, Any]) -> Iterable[CheckCommand]:
        yield from (
            CheckCommand(argv=("fetch", name), written=("fetch", name), timeout=3)
            for name in spec.params.get("names", ())
        )


def test_a_kind_of_a_plugin_says_what_it_starts() -> None:
    registry = built_in()
    registry.register(Saying())
    spec = CheckSpec(type="own", params={"names": ["a", "b"], "command": "another"})
    assert [one.argv[1] for one in commands_of(spec, {}, registry)] == ["a", "b"]
    assert starts_process(spec, {}, registry)
    assert not starts_process(CheckSpec(type="own", params={}), {}, registry)


def test_of_a_kind_that_does_not_say_the_command_is_taken() -> None:
    registry = built_in()
    registry.register(Silent())
    spec = CheckSpec(type="own", params={"command": {"var": "tool"}, "timeout": {"var": "slow"}})
    (command,) = commands_of(spec, VARIABLES, registry)
    assert (command.written, command.timeout) == ("lint it", 7.0)
    bare = CheckSpec(type="own", params={"command": 3})
    assert commands_of(bare, {}, registry) == ()
    assert starts_process(bare, {}, registry)
    assert runs_foreign_code(bare, {}, registry)


def test_a_target_knows_which_of_its_checks_start_a_process(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a\n")
    specs = [CheckSpec.from_json(KINDS[name][0]) for name in ("a search", "a list", "alternatives")]
    prepared = prepare(target(tmp_path / "a.md", rule("a.x.y", *specs)), built_in())
    assert [prepared.in_process("a.x.y", index) for index in range(3)] == [True, False, False]
