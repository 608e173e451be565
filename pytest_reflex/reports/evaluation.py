"""Lines about an evaluation: failed rules, votes, what it lacks to pass, what does not count."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.model.artifact import Reason, SkippedFile
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.extras import install
from pytest_reflex.model.pattern_leads import leads_with
from pytest_reflex.model.plain import escape_control, list_first, one_line, pluralize
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.model.rules import SwitchedOff
from pytest_reflex.verdict.formatting import gap, rules_not_installed
from pytest_reflex.verdict.gate import GateStatus, JudgedTarget, NotRunCause, SessionVerdict

MESSAGE = 400


def rule_line(row: RuleResult) -> str:
    """Return the rule with what its first check found that did not pass."""
    check = row.decisive
    return f"{row.rule.id}: {finding(check) if check else row.message}"


def finding(check: CheckResult) -> str:
    """Return what a check found, and where."""
    could_not = "check error: " if check.outcome is Outcome.ERROR else ""
    place = f" ({check.location})" if check.location else ""
    return f"{could_not}{one_line(check.message, MESSAGE)}{place}"


def remedy(row: RuleResult) -> str:
    """Return the rule's hint, or else what it wants; nothing where the message says that."""
    if row.decisive and row.decisive.cause:
        return ""
    if row.rule.hint and not (row.decisive and row.decisive.is_unjudged):
        return f"hint: {one_line(row.rule.hint, MESSAGE)}"
    wanted = (row.decisive.expected if row.decisive else "") or row.rule.description
    is_redundant = row.decisive is not None and leads_with(row.decisive, wanted)
    return "" if is_redundant else f"expected: {one_line(wanted, MESSAGE)}"


def not_installed_lines(evaluations: Iterable[Evaluation]) -> Iterator[str]:
    """Yield a line for each thing that is not installed and without which rules are not measured.

    It is said once, however many artifacts and rules there are.
    """
    rows = (row for one in evaluations for row in one.results)
    for name, ids in rules_not_installed(rows).items():
        count = len(set(ids))
        rules = f"{count} rule{' is' if count == 1 else 's are'}"
        yield f"{name} is not installed, so {rules} not measured: {install(name)}"


def why_not(row: RuleResult) -> str:
    """Return why a rule was not measured."""
    if row.needs:
        return f"without {row.needs}"
    missing = (c.message for c in row.checks if c.outcome is Outcome.NOT_MEASURED)
    return next(missing, row.message)


def format_votes(evaluation: Evaluation) -> str:
    """Return how many rules agents voted on, who did, and that another run may differ."""
    ballots = evaluation.ballots
    votes = sum(len(ballot.votes) for ballot in ballots)
    agents = dict.fromkeys(vote.agent for ballot in ballots for vote in ballot.votes)
    by = f" ({', '.join(agents)})" if agents else ""
    asked = "1 vote" if votes == 1 else f"{votes} votes"
    cached = sum(vote.cached for ballot in ballots for vote in ballot.votes)
    if cached:
        asked += ", cached" if cached == votes else f", {cached} of them cached"
    return (
        f"{evaluation.judged} of {len(evaluation.results)} rules by an agent{by}, {asked}: "
        "another run may come to another verdict"
    )


def judge_line(judge: str, votes: int) -> str:
    """Return which agent is the LLM judge of a loop, and its votes in each evaluation at most."""
    return f"LLM judge: {escape_control(judge)}, up to {votes} votes in each evaluation"


def question_rows(check: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what an LLM judge would be asked, with labels; nothing for checks without an agent."""
    if "quorum" not in check:
        return
    no_judge = "no LLM judge is configured: it is not measured (--judge NAME)"
    yield "JUDGE", check["judge"] or no_judge
    yield "VOTES", f"{check['votes']} at most, {check['quorum']} have to pass"
    for number, line in enumerate((check["prompt"] or "").splitlines()):
        yield "" if number else "PROMPT", line


def distance(evaluation: Evaluation) -> str:
    """Return what is missing, and the progress, in one sentence (seed 000, distance to success)."""
    rows, others = evaluation.applicable, len(evaluation.not_applicable)
    passed = sum(row.passed for row in rows)
    unasked = sum(row.not_asked for row in evaluation.results)
    blockers = evaluation.blockers
    failing = sum(row.outcome is not Outcome.NOT_MEASURED for row in blockers)
    unmeasured = sum(row.outcome is Outcome.NOT_MEASURED and not row.not_asked for row in blockers)
    return (
        f"+{gap(evaluation)} and {pluralize(failing, 'failing rule')}, "
        + (f"{unmeasured} not measured, " if unmeasured else "")
        + f"{passed} of {len(rows)} rules pass"
        + (f", {unasked} not asked" if unasked else "")
        + (f", {others} not applicable" if others else "")
    )


LABEL = "LEFT OUT"


def skipped_lines(
    left_out: Sequence[SkippedFile], *, listed: int, verbose: bool = False
) -> Iterator[str]:
    """Yield what was not checked, at most `listed` of it; with `verbose`, all that was not read."""
    unchecked = [one for one in left_out if one.is_unchecked]
    yield from map(str, unchecked[:listed])
    if len(unchecked) > listed:
        yield f"and {len(unchecked) - listed} more"
    if not verbose:
        return
    excluded = [one_line(one.path, 120) for one in left_out if one.reason is Reason.EXCLUDED]
    if excluded:
        yield f"excluded by name: {', '.join(excluded)}"
    for one in left_out:
        if not one.is_unchecked and one.reason is not Reason.EXCLUDED:
            yield str(one)


def next_step(judged: JudgedTarget, decision: SessionVerdict) -> str:
    """Return the command or the act that brings a reader on; "" where there is nothing to do."""
    not_run = {row.cause: row for row in decision.not_run if row.target_id == judged.id}
    if lost := not_run.get(NotRunCause.LOST):
        return f"run it alone: pytest -n 0 {shlex.quote(lost.node_id)}"
    if judged.status is GateStatus.FAILED and judged.blockers:
        suite = judged.id.partition("::")[0]
        named = not suite.endswith(".reflex.yaml")
        command = "the same again" if named else f"pytest {shlex.quote(suite)}"
        return f"fix {judged.blockers[0].rule.id}, then: {command}"
    if judged.status is not GateStatus.INCOMPLETE:
        return ""
    if judged.narrowed or NotRunCause.DESELECTED in not_run:
        return (
            "run all rules: no -k, -m, --lf, --deselect, no single ids; or let this run be "
            "partial: --reflex-allow-partial"
        )
    return "let the session run to its end" if NotRunCause.CUT_OFF in not_run else ""


_LONGEST = 400


def out_of_score(
    evaluation: Evaluation, *, listed: int, patterns: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the rules that do not apply, those for the same reason together, and those off.

    With `patterns` they follow that conditions looked for.
    """
    reasons: dict[str, list[str]] = {}
    for row in evaluation.not_applicable:
        reasons.setdefault(one_line(row.message, _LONGEST), []).append(row.rule.id)
    for reason, ids in reasons.items():
        yield "N/A", f"not applicable ({reason}): {list_first(ids, listed)}"
    for row in evaluation.not_applicable if patterns else ():
        for pattern in {check.pattern: None for check in row.checks if check.pattern}:
            yield "", f"pattern of {row.rule.id}: {one_line(pattern, _LONGEST)}"
    if line := switched_off_line(evaluation.switched_off):
        yield "OFF", line


def switched_off_line(found: Sequence[SwitchedOff]) -> str:
    """Return the rules that are switched off, with where they are; empty where none is."""
    return f"switched off: {', '.join(map(str, found))}" if found else ""
