"""PREPARE made concrete: which checks the rules bring, which an agent has to give, which may run.

An agent's text never becomes a command by itself: it may give content checks, or call one of the
criteria's `commands` by name; any other command is kept as a check that reports why it was not run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pytest_reflex.checks.command import named_argv
from pytest_reflex.checks.registry import built_in
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule

WireCheck = Mapping[str, Any]

ALLOW = "--allow-agent-commands"


def own_checks(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return the concrete checks that rules carry, on the wire (seed 001, PREPARE)."""
    return [{"rule_id": rule.id, **check.to_json()} for rule in rules for check in rule.checks]


def needs_agent(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules whose check is prose only."""
    return tuple(rule for rule in rules if not rule.checks)


def settle(
    checks: Iterable[WireCheck], criteria: Criteria, *, allow_commands: bool
) -> list[dict[str, Any]]:
    """Return an agent's checks as they will be evaluated."""
    return [_settle(check, criteria, allow_commands) for check in checks]


def commands_made(
    checks: Iterable[WireCheck], criteria: Criteria, *, allow_commands: bool
) -> list[dict[str, Any]]:
    """Return the commands in an agent's checks that the criteria do not declare, exactly as made.

    Each with the SHA-256 that an approval is for, and with what approved it (None: nothing did).
    """
    return [
        {
            "rule_id": check["rule_id"],
            "command": check["command"],
            "sha256": _hash_of(check["command"]),
            "approved_by": ALLOW if allow_commands else None,
        }
        for check in checks
        if check.get("type") in (None, "executable") and not _is_declared(check, criteria)
    ]


def _hash_of(command: Any) -> str:
    text = json.dumps(command, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_declared(check: WireCheck, criteria: Criteria) -> bool:
    command = check["command"]
    return isinstance(command, str) and command in criteria.commands_for_agents


def unusable(checks: Iterable[WireCheck]) -> list[str]:
    """Return what keeps checks from being evaluated, each with its rule: a retry may mend it."""
    registry, problems = built_in(), []
    for check in checks:
        try:
            registry.get(check["type"]).compile(CheckSpec.from_json(check), {})
        except CriteriaError as error:
            problems += [f"{check['rule_id']}: {problem.message}" for problem in error.problems]
    return problems


def _settle(check: WireCheck, criteria: Criteria, allow_commands: bool) -> dict[str, Any]:
    if check.get("type") not in (None, "executable"):
        return dict(check)
    rest = {key: check[key] for key in ("rule_id", "expected") if key in check}
    command = check["command"]
    if _is_declared(check, criteria):
        argv = named_argv(criteria.commands[command], check.get("args") or {})
        if argv:
            return {**rest, "type": "executable", "command": argv}
        return {
            **rest,
            "type": "withheld",
            "command": command,
            "reason": "its arguments do not fit",
        }
    if allow_commands:
        return {**dict(check), "type": "executable"}
    reason = f"an agent made this command; {ALLOW} runs it"
    return {**rest, "type": "withheld", "command": str(command), "reason": reason}


def effective(criteria: Criteria, checks: Iterable[WireCheck] | None) -> Criteria:
    """Return the criteria with prepared checks attached to the rules that had none."""
    prepared: dict[str, list[CheckSpec]] = {}
    for check in checks or ():
        prepared.setdefault(check["rule_id"], []).append(CheckSpec.from_json(check))
    rules = tuple(
        rule if rule.checks else replace(rule, checks=tuple(prepared.get(rule.id, ())))
        for rule in criteria.rules
    )
    return replace(criteria, rules=rules)
