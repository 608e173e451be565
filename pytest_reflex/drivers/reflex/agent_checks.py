"""The checks in an answer to PREPARE: those that can be used, and the rules that are left without.

An answer that cannot be used, or leaves a rule out, is asked for once more. After that nothing but
a rule of severity fail whose answer was bad ends the run: any other rule is not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.contracts.steps import ContractError, read_checks, read_single_checks
from pytest_reflex.drivers.reflex.prepared_checks import commands_made, settle, unusable
from pytest_reflex.model.enums import Severity
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.steps import Reply, StepRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundChecks:
    """Checks as they will be evaluated, and the commands that the agent made up.

    `lacking` has the rules that got none, each with the reason. `refusal` says why the answer is
    not taken; `checks` are then those of it that are good for the next try.
    """

    checks: list[dict[str, Any]] = field(default_factory=list)
    commands: list[dict[str, Any]] = field(default_factory=list)
    lacking: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""


def checks_in(
    reply: Reply, request: StepRequest, *, allow_commands: bool, is_last: bool
) -> FoundChecks:
    """Return the checks in an answer; `is_last` says that no agent is asked again."""
    rules, criteria = request.rules, request.criteria
    fault, given = _parse_checks(reply, rules)
    made = settle(given, criteria, allow_commands=allow_commands)
    if problems := unusable(made):
        fault = fault or "; ".join(problems)
        bad = {check["rule_id"] for check in made if unusable([check])}
        given = [check for check in given if check["rule_id"] not in bad]
        made = [check for check in made if check["rule_id"] not in bad]
    covered = {check["rule_id"] for check in made}
    if is_last:
        made += [dict(check) for check in request.kept if check["rule_id"] not in covered]
        covered |= {check["rule_id"] for check in made}
    lacking = [rule for rule in rules if rule.id not in covered]
    if refusal := _refusal(reply, fault, lacking, is_last=is_last):
        return FoundChecks(
            checks=[one for one in made if one["type"] == "content"], refusal=refusal
        )
    why = fault or "PREPARE gave no check for it, twice"
    reported = lacking if is_last else []  # else the agent is free, and was not asked again
    return FoundChecks(
        checks=made,
        commands=commands_made(given, criteria, allow_commands=allow_commands),
        lacking={rule.id: one_line(why, 300) for rule in reported},
    )


def _parse_checks(reply: Reply, rules: Sequence[Rule]) -> tuple[str, list[dict[str, Any]]]:
    """Return what is wrong with an answer, and its checks; only good ones where something is."""
    if reply.error:
        return reply.error, []
    try:
        return "", read_checks(reply.text, rules)
    except ContractError as error:
        return str(error), read_single_checks(reply.text, rules)


def _refusal(reply: Reply, fault: str, lacking: Sequence[Rule], *, is_last: bool) -> str:
    """Return why an answer is not taken, empty where the run goes on with it."""
    if reply.error and not _is_bad_answer(reply):
        return reply.error
    if fault:
        blocks = any(rule.severity is Severity.FAIL for rule in lacking)
        return fault if blocks or not is_last else ""
    if not lacking or is_last or reply.details.get("free"):  # a free agent answers the same again
        return ""
    ids = ", ".join(rule.id for rule in lacking)
    return f"it gives no check for {ids}; every rule needs one or more"


def _is_bad_answer(reply: Reply) -> bool:
    """Return whether a failed tool was the cause: no limit, denial, person or recording."""
    from pytest_reflex.agents.command import END, NOT_STARTED, STOPPED
    from pytest_reflex.agents.replay import MISSED
    from pytest_reflex.agents.stream import DENIED

    details = reply.details
    ended = details.get(END) in (NOT_STARTED, STOPPED)
    return not (ended or any(details.get(key) for key in ("limited", DENIED, MISSED)))
