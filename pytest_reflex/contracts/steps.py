"""What each step has to answer (seed 001), read from an agent's text or refused with a reason.

Every function raises ContractError; its message is what the agent is told with the one retry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.contracts.chatter import Unusable, without_chatter
from pytest_reflex.contracts.extract import ContractError, Faults, find_json, unwrapped
from pytest_reflex.contracts.limits import is_limit_notice
from pytest_reflex.contracts.validate import problems
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import Rule

__all__ = [
    "ContractError",
    "blockers_left_out",
    "read_artifact",
    "read_checks",
    "read_files",
    "read_issues",
    "read_plan",
    "read_single_checks",
]

ISSUE_KEYS = ("rule_id", "problem", "fix_instruction", "expected_effect")


def read_plan(text: str) -> tuple[str, ...]:
    """Return the 3 to 5 steps of a plan."""
    found = _json(text, lambda value: problems("plan", value))
    return tuple(step.strip() for step in found["plan"])


def read_checks(text: str, rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return checks on the wire, each for one of `rules` and usable as it is."""
    ids = [rule.id for rule in rules]
    found = _json(text, lambda value: problems("checks", value) or _check_faults(value, ids))
    return [dict(check) for check in found["checks"]]


def read_single_checks(text: str, rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return the checks in an answer of those rules whose checks are all usable."""
    ids = [rule.id for rule in rules]
    try:
        found = find_json(text, lambda value: [] if _has_checks(value) else ["no checks"])
    except ContractError:
        return []
    usable = [check for check in found["checks"] if _is_usable({"checks": [check]}, ids)]
    bad = [check.get("rule_id") for check in found["checks"] if _is_a_fault(check, usable)]
    return [dict(check) for check in usable if check["rule_id"] not in bad]


def _is_a_fault(check: Any, usable: Sequence[Any]) -> bool:
    return isinstance(check, dict) and check not in usable


def _is_usable(value: Any, ids: Collection[str]) -> bool:
    return not (problems("checks", value) or _check_faults(value, ids))


def _has_checks(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("checks"), list)


def _check_faults(value: Any, ids: Collection[str]) -> list[str]:
    return [
        f"/checks/{number}{fault}"
        for number, check in enumerate(value["checks"])
        for fault in _faults_of(check, ids)
    ]


def _faults_of(check: dict[str, Any], ids: Collection[str]) -> Iterator[str]:
    if check["rule_id"] not in ids:
        yield f"/rule_id: {check['rule_id']!r} is none of the rules asked about: {', '.join(ids)}"
    key = "search" if check.get("type") == "content" else "expect_output"
    if key in check and not check.get("literal"):
        try:
            re.compile(check[key], re.MULTILINE)
        except (re.error, RecursionError, OverflowError) as error:
            wrong = f"{check[key]!r} is not a valid pattern: {error}"
            yield f"/{key}: {wrong}; literal: true takes text"
    if check.get("min_count", 0) > check.get("max_count", float("inf")):
        yield f"/min_count: {check['min_count']} is more than max_count {check['max_count']}"


MOST_ISSUES = 5


def read_issues(text: str, failed_ids: Sequence[str]) -> list[dict[str, str]]:
    """Return at most 5 issues, each for one of the failed rules, in the order of `failed_ids`."""
    found = _json(
        text, lambda value: problems("critique", value) or _issue_faults(value, failed_ids)
    )
    issues = [{key: issue[key].strip() for key in ISSUE_KEYS} for issue in found["issues"]]
    return sorted(issues, key=lambda issue: failed_ids.index(issue["rule_id"]))


def _issue_faults(value: Any, failed_ids: Sequence[str]) -> list[str]:
    if failed_ids and not value["issues"]:
        return [f"/issues: is empty, although rules failed: {', '.join(failed_ids)}"]
    return [
        f"/issues/{number}/rule_id: {issue['rule_id']!r} is none of the failed rules: "
        f"{', '.join(failed_ids)}"
        for number, issue in enumerate(value["issues"])
        if issue["rule_id"].strip() not in failed_ids
    ]


def blockers_left_out(issues: Sequence[Mapping[str, str]], blockers: Collection[str]) -> str:
    """Return what is wrong with a critique whose places others took from rules that block.

    Empty where every such rule is named, or where some are and there was room for the rest.
    """
    named = [issue["rule_id"] for issue in issues]
    missing = [rule_id for rule_id in blockers if rule_id not in named]
    others = [rule_id for rule_id in named if rule_id not in blockers]
    is_full = len(named) >= MOST_ISSUES or len(others) == len(named)
    if not (missing and others and is_full):
        return ""
    return f"rules of severity fail come first, and these are not named: {', '.join(missing)}"


def read_artifact(text: str) -> str:
    """Return the artifact that an answer is: without words around it, or a fence around it all."""
    found = without_chatter(text.removeprefix("\ufeff"))
    if isinstance(found, Unusable):
        raise ContractError(f"{found.reason}: {one_line(text.strip(), 120)!r}")
    artifact = unwrapped(found)
    if not artifact.strip():
        raise ContractError("the answer is empty; the whole artifact is needed")
    if "\0" in artifact:
        raise ContractError(f"the answer holds a NUL at character {artifact.index(chr(0)) + 1}")
    try:
        artifact.encode()
    except UnicodeEncodeError as error:
        raise ContractError(
            f"the answer is not valid text at character {error.start + 1}: {error.reason}"
        ) from None
    _refuse_notice(artifact)
    return artifact


def read_files(text: str, allowed: Callable[[str], bool]) -> dict[str, str]:
    """Return whole new texts by path, each of a file that may be changed."""
    found = _json(
        text, lambda value: problems("files", value) or list(_file_faults(value, allowed))
    )
    return {file["path"]: file["text"] for file in found["files"]}


def _file_faults(value: Any, allowed: Callable[[str], bool]) -> Iterator[str]:
    paths = [file["path"] for file in value["files"]]
    for number, file in enumerate(value["files"]):
        path = file["path"]
        if not allowed(path):
            yield f"/files/{number}/path: {path!r} may not be changed"
        if paths.count(path) > 1:
            yield f"/files/{number}/path: {path!r} is there twice"
        if "\0" in file["text"]:
            yield f"/files/{number}/text: holds a NUL"


def _json(text: str, faults: Faults) -> Any:
    try:
        return find_json(text, faults)
    except ContractError:
        _refuse_notice(text)
        raise


def _refuse_notice(text: str) -> None:
    if is_limit_notice(text):
        raise ContractError(f"the answer is a notice about a limit: {text.strip()[:200]!r}")
