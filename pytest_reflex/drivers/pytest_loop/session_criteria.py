"""One criteria over a whole session: the rules of all its evaluations, and that all of it passes.

Score and gate come from `verdict.score.judge` as everywhere. A rule of weight 0 and severity fail
stands for each evaluation's own gate and one for everything that is not a rule, and the threshold
is the lowest of the parts: so the whole passes exactly where every gate passes and nothing is red.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from pytest_reflex.checks.not_run import SESSION as SESSION_CHECK
from pytest_reflex.drivers.pytest_loop.child import EvaluatedPart, Session
from pytest_reflex.model.enums import Level, Outcome, Severity
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Criteria, Fix, Rule, exact

NAME = "pytest-session"
OTHERS = "b.session.other-tests"
_LONGEST_SLUG = 50
_LONGEST_EVIDENCE = 2_000

Results = Mapping[tuple[str, int], CheckResult]


def criteria_of(session: Session) -> Criteria:
    """Return the criteria that a first session implies."""
    counts = Counter(row["id"] for part in session.parts for row in part.evaluation["rule_results"])
    taken: set[str] = {OTHERS}
    rules: list[Rule] = []
    for part in session.parts:
        for row in part.evaluation["rule_results"]:
            shared = counts[row["id"]] > 1
            name = f"{row['id']}.{_slug(part)}" if shared else row["id"]
            rules.append(_rule(_unique(name, taken), part, row))
    for part in session.parts:
        rules.append(_gate(_unique(f"b.gate.{_slug(part)}", taken), part))
    rules.append(_others())
    bar = min(exact(part.evaluation["threshold"]) for part in session.parts)
    return Criteria(
        name=NAME, version=1, thresholds={Level.A: bar, Level.B: bar}, rules=tuple(rules)
    )


def _slug(part: EvaluatedPart) -> str:
    """Return what distinguishes a part from others, as a part of an id."""
    name = part.evaluation["artifact"] if part.artifact else part.id
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return slug[-_LONGEST_SLUG:].strip("-") or "part"


def _unique(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found


def _rule(name: str, part: EvaluatedPart, row: Mapping[str, Any]) -> Rule:
    known = part.rules[row["id"]]
    params = {"part": part.id, "rule": row["id"]}
    if part.artifact:
        params |= {"artifact": part.artifact, "fix": known["fix"]}
        params |= {"commands": known["commands"]} if known["commands"] else {}
    return Rule(
        id=name,
        description=known["description"],
        severity=Severity(row["severity"]),
        weight=Fraction(known["weight"]),
        level=Level(row["phase"]),
        hint=known["hint"],
        checks=(_check(params),),
    )


def _gate(name: str, part: EvaluatedPart) -> Rule:
    what = part.evaluation["artifact"]
    params = {"gate": part.id, "threshold": part.evaluation["threshold"]}
    return _whole(name, f"the gate over {what} passes", params)


def _others() -> Rule:
    return _whole(OTHERS, "the session has no other failure", {"others": True})


def _whole(name: str, description: str, params: Mapping[str, Any]) -> Rule:
    return Rule(
        id=name,
        description=description,
        severity=Severity.FAIL,
        weight=Fraction(0),
        level=Level.B,
        checks=(_check(params),),
    )


def _check(params: Mapping[str, Any]) -> CheckSpec:
    return CheckSpec(type=SESSION_CHECK, params=params)


def speaks_for_others(rule: Rule) -> bool:
    """Return whether a rule only sums up what others say: the gate of a part."""
    return "gate" in rule.checks[0].params


def artifact_of(rule: Rule) -> str:
    """Return the path of the artifact that a rule is about, empty for none."""
    return str(rule.checks[0].params.get("artifact", ""))


def fixes_of(rule: Rule) -> tuple[Fix, ...]:
    """Return the safe fixes that a rule carries for its artifact."""
    return tuple(Fix.from_json(fix) for fix in rule.checks[0].params.get("fix", ()))


def commands_of(rule: Rule) -> Mapping[str, Any]:
    """Return the declared commands that the fixes of a rule run, by name."""
    commands: Mapping[str, Any] = rule.checks[0].params.get("commands", {})
    return commands


def results_of(criteria: Criteria, session: Session) -> Results:
    """Return what a session says of each rule; what it does not say is not measured."""
    parts = {part.id: part for part in session.parts}
    about = {(p.get("part"), p.get("rule")): r.id for r in criteria.rules for p in [_params(r)]}
    return {(rule.id, 0): _result(rule, parts, session, about) for rule in criteria.rules}


def _params(rule: Rule) -> Mapping[str, Any]:
    return rule.checks[0].params


def _result(
    rule: Rule,
    parts: Mapping[str, EvaluatedPart],
    session: Session,
    about: Mapping[tuple[Any, Any], str],
) -> CheckResult:
    """Return what a session says of a rule; `about` has the rules by part and rule of that."""
    params = rule.checks[0].params
    if "others" in params:
        return _of_others(parts.values(), session)
    part = parts.get(params.get("part") or params.get("gate", ""))
    if part is None:
        return _silent(session)
    if "gate" in params:
        return _of_gate(part, params["threshold"])
    rows = part.evaluation["rule_results"]
    row = next((row for row in rows if row["id"] == params["rule"]), None)
    if row is None:
        return _silent(session)
    if (row["severity"], part.rules[row["id"]]["weight"]) != (rule.severity, str(rule.weight)):
        message = f"{row['id']} has another severity or weight than at the start"
        return CheckResult(outcome=Outcome.ERROR, message=message)
    same_cause = about.get((part.id, row.get("same_cause")), "")
    return replace(_of_row(row, part, session), same_cause=same_cause)


def _silent(session: Session) -> CheckResult:
    message = session.ended or "the session did not check it"
    if uncollected := session.uncollected:
        message = f"{uncollected[0]['node']} could not be collected: {uncollected[0]['message']}"
    return CheckResult(outcome=Outcome.NOT_MEASURED, message=message)


def _of_row(row: Mapping[str, Any], part: EvaluatedPart, session: Session) -> CheckResult:
    checks = [CheckResult.from_json(check) for check in row["checks"]]
    decisive = next((one for one in checks if one.outcome is not Outcome.PASS), None)
    text = session.text_of(part.id, row["id"])
    where = f"{part.evaluation['artifact']}: " if part.artifact else ""
    message = f"{where}{row['details']}" if row["outcome"] != "pass" else ""
    return CheckResult(
        outcome=Outcome(row["outcome"]),
        message=one_line(message, 500),
        expected=decisive.expected if decisive else "",
        pattern=decisive.pattern if decisive else "",
        evidence=(decisive.evidence or text)[-_LONGEST_EVIDENCE:] if decisive else "",
        location=decisive.location if decisive else None,
        findings=decisive.findings if decisive else (),
        more_findings=decisive.more_findings if decisive else 0,
        duration=row["duration"],
        not_asked=bool(decisive and decisive.not_asked),
        ballots=tuple(ballot for check in checks for ballot in check.ballots),
    )


def _of_gate(part: EvaluatedPart, threshold: float) -> CheckResult:
    if part.evaluation["threshold"] != threshold:
        message = f"the threshold is {part.evaluation['threshold']}, not {threshold}"
        return CheckResult(outcome=Outcome.ERROR, message=message)
    if part.evaluation["passed"]:
        return CheckResult(outcome=Outcome.PASS)
    return CheckResult(outcome=Outcome.FAIL, message=one_line(part.reason, 500))


def _of_others(parts: Iterable[EvaluatedPart], session: Session) -> CheckResult:
    """Judge all that is not a rule: other tests, collection, and the status of the session."""
    faults = [*session.uncollected, *session.others]
    if faults or session.ended or session.problems:
        first = next(_reasons(faults, session))
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        text = str(faults[0]["text"])[-_LONGEST_EVIDENCE:] if faults else session.output[-1000:]
        message = one_line(first, 500) + more
        return CheckResult(outcome=Outcome.FAIL, message=message, evidence=text)
    explained = any(not part.evaluation["passed"] for part in parts)
    if session.status == 0 or (session.status == 1 and explained):
        return CheckResult(outcome=Outcome.PASS)
    message = f"the session left with status {session.status}: {session.last_line}"
    return CheckResult(outcome=Outcome.FAIL, message=one_line(message, 500))


def _reasons(faults: Iterable[Mapping[str, Any]], session: Session) -> Iterator[str]:
    for fault in faults:
        yield f"{fault['node']}: {fault['message']}"
    yield from session.problems
    yield session.ended
