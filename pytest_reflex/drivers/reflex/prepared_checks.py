"""The checks of PREPARE: which the rules bring, what an agent may give, and what that has to show.

An agent's text never becomes a command by itself: it may give content checks, or call one of the
criteria's `commands` by name; any other command is kept as a check that reports why it was not run.
What it gave is put to the proof in EVALUATE: what is not proved earns no weight.
Promises: no agent is asked for a proof and nothing of the run is written; the same artifact and
checks come to the same, unless the time runs out. Limits: what passes is proved; what fails has
shown that it can. That a check can fail does not say that it looks for the right thing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.checks.command import find_argv
from pytest_reflex.checks.registry import built_in_registry, compile_rule
from pytest_reflex.criteria.author.fault_injection import without_example
from pytest_reflex.criteria.author.prove import MOST_BYTES, Original, Proof, Prover, RuleProof
from pytest_reflex.criteria.author.samples import judge_text, passes
from pytest_reflex.errors import CriteriaError, ReflexError
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.targets import Target
from pytest_reflex.process.deadline import Deadline
from pytest_reflex.process.guard import temporary_folder
from pytest_reflex.verdict.score import with_results

WireCheck = Mapping[str, Any]

ALLOW = "--allow-agent-commands"
WITHHELD = "withheld"


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
    """Return what keeps checks from being evaluated, each with its rule: a retry may fix it."""
    registry, problems = built_in_registry(), []
    for check in checks:
        try:
            registry.compile(CheckSpec.from_json(check), {})
        except CriteriaError as error:
            problems += [f"{check['rule_id']}: {problem.message}" for problem in error.problems]
    return problems


def _settle(check: WireCheck, criteria: Criteria, allow_commands: bool) -> dict[str, Any]:
    if check.get("type") not in (None, "executable"):
        return dict(check)
    rest = {key: check[key] for key in ("rule_id", "expected") if key in check}
    command = check["command"]
    if _is_declared(check, criteria):
        argv = find_argv(criteria.commands[command], check.get("args") or {})
        if argv:
            return {**rest, "type": "executable", "command": argv}
        return {
            **rest,
            "type": WITHHELD,
            "command": command,
            "reason": "its arguments do not fit",
        }
    if allow_commands:
        return {**dict(check), "type": "executable"}
    reason = f"an agent made this command; a loop that begins with {ALLOW} runs it"
    return {**rest, "type": WITHHELD, "command": str(command), "reason": reason}


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


SECONDS = 30.0
"""What all proofs of one evaluation may take."""
RUN_DIR = "PYTEST_REFLEX_RUN_DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCheckedRules:
    """What was judged by checks of an agent's: `rules` with them, of an artifact that is `text`."""

    target: Target
    rules: tuple[Rule, ...]
    text: str


def find_agent_checked(
    criteria: Criteria, target: Target, evaluation: Evaluation
) -> tuple[Rule, ...]:
    """Return the rules that passed by checks that the criteria do not have themselves."""
    passed = {row.rule.id for row in evaluation.results if row.passed}
    own = {rule.id for rule in criteria.rules if rule.checks}
    return tuple(
        rule for rule in target.rules if rule.checks and rule.id in passed and rule.id not in own
    )


def prove(made: AgentCheckedRules, *, seconds: float = SECONDS) -> list[RuleProof]:
    """Return what is known of each rule; what could not be proved is `unproven`, and says why."""
    if not made.rules:
        return []
    if len(made.text.encode()) > MOST_BYTES:
        why = f"the artifact is larger than {MOST_BYTES} bytes"
        return [_unproven(rule, why) for rule in made.rules]
    with temporary_folder("reflex-prove-") as folder:
        prove_one = _in(folder, made, Deadline(seconds))
        return [
            _explain_proof(prove_one(rule), made.target.criteria, seconds) for rule in made.rules
        ]


def _in(folder: Path, made: AgentCheckedRules, deadline: Deadline) -> Callable[[Rule], RuleProof]:
    """Return what proves a rule by texts in `folder`, which commands take for that of the run."""
    target, name = made.target, made.target.artifact.name
    environment = dict(target.environment)
    if RUN_DIR in environment:
        environment[RUN_DIR] = str(folder)
    prover = Prover(
        criteria=target.criteria,
        registry=built_in_registry(),
        root=target.root,
        seeds=(Original("the artifact", made.text, name, target.link_base),),
        run_commands=True,
        folder=folder,
        name=name,
        environment=environment,
        deadline=deadline,
    )

    def prove_one(rule: Rule) -> RuleProof:
        moved = replace(
            rule, checks=tuple(_move(spec, target, folder / name) for spec in rule.checks)
        )
        if deadline.has_passed():
            return RuleProof(rule=rule, proof=Proof.UNPROVEN, cut=True)
        try:
            (proof,) = prover.prove([moved])
            # What counts its runs, or leaves a mark, fails by now on the artifact itself.
            if any(proof.failed_on) and not _stands(prover, moved, made.text):
                return _elsewhere(rule, proof.tried)
        except ReflexError as error:
            return _unproven(rule, error.problems[0].message)
        except Exception as error:  # it must not cost the verdict that is there
            return _unproven(rule, f"{type(error).__name__}: {error}")
        return replace(proof, rule=rule)

    return prove_one


def _stands(prover: Prover, rule: Rule, text: str) -> bool:
    """Return whether the artifact still passes by a rule that has failed on other texts."""
    assert prover.folder is not None
    results = judge_text(
        prover.criteria,
        rule,
        text,
        prover.registry,
        prover.root,
        prover.folder,
        name=prover.name,
        base=prover.seeds[0].base,
        environment=prover.environment,
    )
    return passes(results) is True


def _move(spec: CheckSpec, target: Target, path: Path) -> CheckSpec:
    """Return a check whose command names `path` where it named the artifact."""
    command = spec.params.get("command")
    if not command:
        return spec
    places = [str(target.artifact.absolute()), str(target.artifact)]
    if target.artifact.absolute().is_relative_to(target.root.absolute()):
        places.append(str(target.artifact.absolute().relative_to(target.root.absolute())))

    def replace_path(word: str) -> str:
        for place in places:
            if place in word:
                return word.replace(place, str(path))
        return word

    words = (
        replace_path(command)
        if isinstance(command, str)
        else [replace_path(word) for word in command]
    )
    return replace(spec, params={**spec.params, "command": words})


def _explain_proof(found: RuleProof, criteria: Criteria, seconds: float) -> RuleProof:
    """Return a proof that says in its message why it is not proved, or cannot fail as it did."""
    if found.proof is Proof.UNCLEAR and any(found.failed_on):
        return replace(found, proof=Proof.PROVED)
    if found.proof is Proof.VACUOUS and _without_example(found.rule, criteria):
        return _unproven(found.rule, "no example of what it forbids could be made", found.tried)
    if found.proof is Proof.UNPROVEN and found.cut:
        why = f"{seconds:g} seconds were over after {found.tried} texts"
        return _unproven(found.rule, why, found.tried)
    if found.proof is Proof.UNPROVEN and found.empty is not None:
        return _elsewhere(found.rule, found.tried)
    if found.proof is Proof.UNCLEAR:
        text = f": {found.message}" if found.message else ""
        return replace(found, message=one_line(f"the empty artifact cannot be checked{text}", 200))
    return replace(found, message="") if found.proof is Proof.VACUOUS else found


def _without_example(rule: Rule, criteria: Criteria) -> bool:
    return without_example(compile_rule(rule, criteria.vars, built_in_registry()))


def _elsewhere(rule: Rule, tried: int) -> RuleProof:
    """Return the proof of a check that says two things of one text, so judges something else."""
    why = "a copy of the artifact does not pass"
    return RuleProof(rule=rule, proof=Proof.VACUOUS, message=why, tried=tried)


def _unproven(rule: Rule, why: str, tried: int = 0) -> RuleProof:
    message = one_line(why, 200)
    return RuleProof(rule=rule, proof=Proof.UNPROVEN, message=message, tried=tried)


def exclude_unproved(evaluation: Evaluation, proofs: Iterable[RuleProof]) -> Evaluation:
    """Return the evaluation in which rules by checks that are not proved were not measured.

    For whatever reason: it is the agent's that wrote the check, and mostly the artifact as well.
    """
    open_yet = {one.rule.id: one for one in proofs if one.proof is not Proof.PROVED}
    if not open_yet:
        return evaluation
    rows = tuple(
        replace(
            row,
            outcome=Outcome.NOT_MEASURED,
            checks=tuple(_unproved_result(check, open_yet[row.rule.id]) for check in row.checks),
        )
        if row.rule.id in open_yet
        else row
        for row in evaluation.results
    )
    return with_results(evaluation, rows)


def _unproved_result(check: CheckResult, proof: RuleProof) -> CheckResult:
    message = (
        f"{describe_unproved(proof.to_json())}; PREPARE gets this message when it is asked again"
    )
    return CheckResult(
        outcome=Outcome.NOT_MEASURED,
        message=f"{message}, or give the rule a check in the criteria",
        expected=check.expected,
        duration=check.duration,
    )


def describe_unproved(proof: Mapping[str, Any]) -> str:
    """Return what is wrong with the checks of a rule, from a proof on the wire that is none."""
    if proof["proof"] != Proof.VACUOUS.value:
        return f"what an agent made to check it is not proved: {proof['message']}"
    if proof["message"]:
        return f"what an agent made to check it checks something else: {proof['message']}"
    checks = "check" if len(proof["failed_on"]) == 1 else "checks"
    return (
        f"the {checks} that an agent made cannot fail: passed on the artifact and on all of "
        f"{proof['tried']} texts in which something of it is missing, garbled or added"
    )


def refusal_text(proofs: Sequence[Mapping[str, Any]]) -> str:
    """Return the message to PREPARE about its last checks; empty where all can fail."""
    found = [one for one in proofs if one["proof"] != Proof.PROVED.value]
    text = "; ".join(f"{one['rule']}: {describe_unproved(one)}" for one in found)
    return f"{text}. Give checks that fail where the rule is broken" if text else ""


def find_given_checks(proofs: Sequence[Mapping[str, Any]], checks: Iterable[WireCheck]) -> str:
    """Return the checks that PREPARE gave for rules that are not proved, as it gave them."""
    found = {one["rule"] for one in proofs if one["proof"] != Proof.PROVED.value}
    made = [dict(check) for check in checks if check["rule_id"] in found]
    return json.dumps({"checks": made}, ensure_ascii=False) if made else ""
