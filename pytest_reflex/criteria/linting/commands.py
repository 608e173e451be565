"""Warnings about the commands of executable checks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.linting.remark import Remark, warning
from pytest_reflex.criteria.nodes import Table
from pytest_reflex.criteria.wording import quoted
from pytest_reflex.model.rules import CheckSpec

LONG = 600

_SUCCEEDS = re.compile(
    r"\s*(?:true|:|exit\s+0)\s*|.*(?:\|\||;)\s*(?:true|:|exit\s+0)\s*", re.DOTALL
)
_PIPE = re.compile(r"(?<!\|)\|(?![|&])")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_GIVEN = ("PYTEST_REFLEX_ARTIFACT", "PYTEST_REFLEX_BLOCKS")


def command_warnings(
    spec: CheckSpec, table: Table, faults: Faults, rule_id: str
) -> Iterator[Remark]:
    """Yield what is odd about the command of an executable check."""
    command = spec.params.get("command")
    if spec.type != "executable" or not isinstance(command, (str, list)):
        return
    spot = table.at("command")
    for code, message, hint in _odd(command, "shell" in spec.params, spec):
        yield warning(code, message, faults, spot, hint=hint, rule_id=rule_id)
    timeout = spec.params.get("timeout")
    if isinstance(timeout, (int, float)) and timeout > LONG:
        message = f"the command may take {timeout:g} seconds each time the artifact is judged"
        yield warning("long-timeout", message, faults, table.at("timeout"), rule_id=rule_id)


def _odd(
    command: str | list[str], has_shell: bool, spec: CheckSpec
) -> Iterator[tuple[str, str, str]]:
    text = command if isinstance(command, str) else " ".join(map(str, command))
    judged_by_status = spec.params.get("expect_exit", 0) == 0
    if judged_by_status and "expect_output" not in spec.params and _succeeds(command):
        hint = "leave out what hides the exit status"
        yield "cannot-fail", f"{quoted(text)} succeeds whatever the artifact is", hint
    elif not any(name in text for name in _GIVEN):
        message = f"{quoted(text)} does not name the artifact"
        hint = 'its path is in "$PYTEST_REFLEX_ARTIFACT", its blocks in "$PYTEST_REFLEX_BLOCKS"'
        yield "ignores-artifact", message, hint
    if isinstance(command, str) and not has_shell and _PIPE.search(_QUOTED.sub("", command)):
        message = f"of {quoted(text)} only the last part of the pipe decides"
        yield "hidden-failure", message, "add shell: bash-strict"


def _succeeds(command: str | list[str]) -> bool:
    if isinstance(command, list):
        return command[:1] == ["true"]
    return bool(_SUCCEEDS.fullmatch(command))
