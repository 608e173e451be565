"""What PREPARE, CRITIQUE, PRODUCE and REFINE have to answer."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from pytest_reflex.contracts.limits import is_limit_notice
from pytest_reflex.contracts.steps import ContractError, read_artifact, read_checks, read_issues
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.rules import Rule

RULES = [
    Rule(id=name, description=name, severity=Severity.FAIL, weight=Fraction(2), level=Level.A)
    for name in ("a.x.one", "a.x.two")
]


def checks(*found: dict[str, Any]) -> list[dict[str, Any]]:
    return read_checks(json.dumps({"checks": [{"rule_id": "a.x.one", **c} for c in found]}), RULES)


GOOD_CHECKS: list[dict[str, Any]] = [
    {"type": "content", "search": "GET /courses/{id}/chapters", "expected": "an endpoint"},
    {"type": "content", "search": '"example":|examples:', "min_count": 2, "negate": False},
    {"type": "content", "search": "(", "literal": True, "section": "Usage"},
    {"type": "executable", "command": "test -s x", "expected": "not empty"},
    {"type": "executable", "command": ["test", "-s", "x"], "expect_exit": 0, "timeout": 2.5},
    {"command": "lint", "args": {"file": "x.md"}},
]


@pytest.mark.parametrize("check", GOOD_CHECKS, ids=range(len(GOOD_CHECKS)))
def test_check_of_every_kind_is_read(check: dict[str, Any]) -> None:
    assert checks(check) == [{"rule_id": "a.x.one", **check}]


def test_no_checks_are_an_answer() -> None:
    assert checks() == []


BAD_CHECKS: dict[str, tuple[dict[str, Any], str]] = {
    "other rule": (
        {"rule_id": "b.y.z", "type": "content", "search": "a"},
        "/checks/0/rule_id: 'b.y.z' is none of the rules asked about: a.x.one, a.x.two",
    ),
    "no search": ({"type": "content"}, "/checks/0: 'search' is a required property"),
    "no command": ({"type": "executable"}, "/checks/0: 'command' is a required property"),
    "nothing": ({}, "/checks/0: 'command' is a required property"),
    "other type": ({"type": "openapi"}, "/checks/0/type: 'openapi' is not one of"),
    "other key": (
        {"type": "content", "search": "a", "pattern": "b"},
        r"/checks/0: Additional properties are not allowed \('pattern' was unexpected\)",
    ),
    "pattern": (
        {"type": "content", "search": "a("},
        r"/checks/0/search: 'a\(' is not a valid pattern: missing \)",
    ),
    "output pattern": (
        {"type": "executable", "command": "x", "expect_output": "["},
        r"/checks/0/expect_output: '\[' is not a valid pattern",
    ),
    "B064 flag": (
        {"type": "content", "search": "a", "negate": 1},
        "/checks/0/negate: 1 is not of type 'boolean'",
    ),
    "B064 count": (
        {"type": "content", "search": "a", "min_count": True},
        "/checks/0/min_count: True is not of type 'integer'",
    ),
    "bounds": (
        {"type": "content", "search": "a", "min_count": 3, "max_count": 2},
        "/checks/0/min_count: 3 is more than max_count 2",
    ),
    "argument": (
        {"command": "lint", "args": {"n": 1}},
        "/checks/0/args/n: 1 is not of type 'string'",
    ),
}


@pytest.mark.parametrize(("check", "message"), BAD_CHECKS.values(), ids=BAD_CHECKS.keys())
def test_bad_check_is_refused(check: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        checks(check)


def issue(rule_id: str, **more: Any) -> dict[str, Any]:
    words = {"problem": "p", "fix_instruction": "f", "expected_effect": "e"}
    return {"rule_id": rule_id, **words, **more}


def issues(
    *found: dict[str, Any], failed: tuple[str, ...] = ("a.f", "b.w")
) -> list[dict[str, str]]:
    return read_issues(json.dumps({"issues": list(found)}), failed)


def test_issues_come_in_the_order_of_the_failed_rules() -> None:
    found = issues(issue("b.w"), issue("a.f", note="x"), issue("b.w", problem=" q "))
    assert found == [issue("a.f"), issue("b.w"), issue("b.w", problem="q")]


BAD_ISSUES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "rule that did not fail": (
        [issue("a.f"), issue("a.g")],
        "/issues/1/rule_id: 'a.g' is none of the failed rules: a.f, b.w",
    ),
    "several rules in one": ([issue("a.f, b.w")], "'a.f, b.w' is none of the failed rules"),
    "none": ([], "/issues: is empty, although rules failed: a.f, b.w"),
    "six": ([issue("a.f")] * 6, "/issues: has 6 items, at most 5 are needed"),
    "empty words": ([issue("a.f", fix_instruction=" ")], "/issues/0/fix_instruction: is empty"),
    "missing words": ([{"rule_id": "a.f"}], "/issues/0: 'problem' is a required property"),
    "number": ([issue("a.f", problem=7)], "/issues/0/problem: 7 is not of type 'string'"),
}


@pytest.mark.parametrize(("found", "message"), BAD_ISSUES.values(), ids=BAD_ISSUES.keys())
def test_bad_issue_is_refused(found: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        issues(*found)


def test_no_issues_are_an_answer_where_no_rule_failed() -> None:
    assert issues(failed=()) == []


INNER = "# T\n\n```yaml\na: 1\n```\n\nend\n"
ARTIFACTS: dict[str, tuple[str, str]] = {
    "plain": (INNER, INNER),
    "no final line end": ("a: 1", "a: 1"),
    "windows line ends": ("# T\r\n\r\nx\r\n", "# T\r\n\r\nx\r\n"),
    "byte-order mark": ("\ufeff# T\n", "# T\n"),
    "fence": ("```yaml\na: 1\n```", "a: 1\n"),
    "fence and blanks": ("\n\n```\na: 1\n```\n\n", "a: 1\n"),
    "longer fence": (f"````markdown\n{INNER}````\n", INNER),
    "fence with fences inside": (f"```markdown\n{INNER}```\n", INNER),
    "fence without a word around fences": (f"```\n{INNER}```\n", INNER),
    "fence with bare fences inside": (
        "```md\n# T\n```\nx\n```\nend\n```",
        "# T\n```\nx\n```\nend\n",
    ),
    "tildes": (f"~~~markdown\n{INNER}~~~", INNER),
    "document that begins and ends with blocks": ("```yaml\na\n```\nx\n```json\n{}\n```\n",) * 2,
    "document of bare blocks": ("```\na\n```\nx\n```\nb\n```\n",) * 2,
    "fence that is not around all": ("```yaml\na: 1\n```\nThat is it.\n",) * 2,
    "B032 zero": ("0\n", "0\n"),
    "braces": ("{{ user }} {% raw %} %d\n",) * 2,
    "limits as a subject": ("# Limits\n\nYou have hit your limit.\n",) * 2,
}


@pytest.mark.parametrize(("answer", "artifact"), ARTIFACTS.values(), ids=ARTIFACTS.keys())
def test_artifact_is_the_text(answer: str, artifact: str) -> None:
    assert read_artifact(answer) == artifact


DOCUMENT = "# T\n\n## Usage\n\nrun it\n"
FENCED = f"```markdown\n{DOCUMENT}```"
CHATTER: dict[str, tuple[str, str]] = {
    "before and after": (f"Here it is:\n\n{FENCED}\n\nLet me know if you need more!\n", DOCUMENT),
    "before": (f"Here is the updated README:\n```\n{DOCUMENT}```", DOCUMENT),
    "after": (f"{FENCED}\n\nI've added the usage section as requested.", DOCUMENT),
    "a greeting": ("Certainly!\n\n```yaml\na: 1\n```\n\nI hope this helps.", "a: 1\n"),
    "what was done": (
        f"I've updated the artifact to fix the issues.\n\n~~~markdown\n{DOCUMENT}~~~\n",
        DOCUMENT,
    ),
    "a file's name": (
        f"Here's the revised `README.md` with the usage:\n\n{FENCED}\n\nChanges:\n- usage",
        DOCUMENT,
    ),
    "around a document with blocks": (
        f"The updated file is below.\n\n```markdown\n{INNER}```\n\nThis version has the usage.",
        INNER,
    ),
    "code": ("Okay, here you go:\n```python\nprint(1)\n```\nFeel free to ask.", "print(1)\n"),
}


@pytest.mark.parametrize(("answer", "artifact"), CHATTER.values(), ids=CHATTER.keys())
def test_words_around_one_fence_are_no_part_of_the_artifact(answer: str, artifact: str) -> None:
    assert read_artifact(answer) == artifact


NO_CHATTER = [
    "# T\n\nHere is how to install:\n\n```sh\npip install x\n```\n\nLet me know if it works.\n",
    "Install it:\n\n```sh\npip install x\n```\n",
    "Dear Ann,\n\nI'm sorry, but I can't come.\n\nLet me know if Friday works.\n",
    "Here is how to install:\n\n```sh\npip install x\n```\n",
    "To use it, run:\n\n```console\n$ tidy\n```\n\nIt sorts files. This should be enough.\n",
    "Files are sorted by month.\n\n```sh\ntidy\n```\n\nThe file has three columns.\n",
    "Here is the file format:\n\n```\na\n```\n",
    "See the file list:\n\n```\na\n```\n",
    "I wrote a letter to my mother about the file.",
    "I've written code for ten years.",
    "Access is required for admins only.",
    "# Permissions\n\nI need permission to write.",
    "Let me explain:\n\nwater is wet",
    "The parcel has arrived.",
]


@pytest.mark.parametrize("text", NO_CHATTER, ids=range(len(NO_CHATTER)))
def test_a_document_with_blocks_and_words_of_its_own_stays_whole(text: str) -> None:
    assert read_artifact(text) == text


REFUSED = {
    "I need permission to write the file. Please approve the edit.": "is a refusal",
    "I don't have permission to write to artifact.md.": "is a refusal",
    "I'm unable to edit the file because write access was not granted.": "is a refusal",
    "It seems I don't have access to the Write tool. Could you grant it?": "is a refusal",
    "I'm sorry, but I can't help with that.": "is a refusal",
    "Permission to use Write has been denied. Please grant it.": "is a refusal",
    "I've updated README.md with the new Usage section.": "describes what was done",
    "Done! I have written the document to artifact.md as requested.": "describes what was done",
    "Here is the updated document:\n\n# T\n\nx\n": "there is text around the artifact",
    "Here it is:\n\n# T\n\n```sh\nls\n```\n\nLet me know!\n": "there is text around the artifact",
    "Sure, here's the updated guide:\n\n# T\n\n```sh\nls\n```\n\nx\n": (
        "there is text around the artifact"
    ),
}


@pytest.mark.parametrize(("answer", "message"), REFUSED.items(), ids=range(len(REFUSED)))
def test_an_answer_that_shows_no_artifact_is_refused(answer: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        read_artifact(answer)


@pytest.mark.parametrize("word", ["i ", "here is the ", "i'll ", "sure ", "a.b ", "the x file "])
def test_repeated_words_of_an_agent_cost_no_time(word: str) -> None:
    text = (word * 600)[:590]
    assert read_artifact(f"{text}!\n```\na\n```\n{text}!x")


BAD_ARTIFACTS = {
    "nothing": ("", "the answer is empty; the whole artifact is needed"),
    "blanks": (" \n\ufeff".replace("\ufeff", "\t"), "the answer is empty"),
    "empty fence": ("```markdown\n```", "the answer is empty"),
    "nul": ("ab\0c", "holds a NUL at character 3"),
    "surrogate": ("ab\ud800", "not valid text at character 3: surrogates not allowed"),
    "B084 limit": ("You have hit your limit, resets 5pm\n", "notice about a limit: 'You have hit"),
    "limit in a fence": ("```\nRate limit exceeded\n```", "notice about a limit: 'Rate limit"),
}


@pytest.mark.parametrize(("answer", "message"), BAD_ARTIFACTS.values(), ids=BAD_ARTIFACTS.keys())
def test_bad_artifact_is_refused(answer: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        read_artifact(answer)


NOTICES = [
    "You've hit your limit · resets 3pm (UTC)",
    "Claude AI usage limit reached|1760000000",
    "You've reached your usage limit. Upgrade to Pro or try again at 5:00 PM.",
    "Error: 429 Too Many Requests",
    "Rate limit exceeded.\nPlease try again in 20s.",
    "5-hour limit reached ∙ resets 2am",
    "You exceeded your current quota, please check your plan and billing details.",
    "stream error: exceeded retry limit, last status: 429 Too Many Requests",
    "Your credit balance is too low to access the API.",
    "API Error: overloaded_error",
]


@pytest.mark.parametrize("notice", NOTICES, ids=range(len(NOTICES)))
def test_b084_notice_about_a_limit_is_known(notice: str) -> None:
    assert is_limit_notice(notice)


PROSE = [
    "",
    "The function returns the time limit.",
    "# Rate limits\n\nRate limit exceeded.",
    "The API answers.\nToo many requests give 429.\nClients should back off.",
    '{"error": "rate limit exceeded"}',
    "rate limit exceeded " * 100,
    "- Too many requests",
]


@pytest.mark.parametrize("text", PROSE, ids=range(len(PROSE)))
def test_text_about_limits_is_no_notice(text: str) -> None:
    assert not is_limit_notice(text)
