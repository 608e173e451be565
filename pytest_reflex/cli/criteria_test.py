"""``pytest-reflex criteria lint``, ``test``, ``prove``: criteria files put to the test."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.criteria_look import (
    find_rule,
    registry_here,
    trace_criteria,
    variables_option,
)
from pytest_reflex.cli.options import ARTIFACT, json_option, judge_option
from pytest_reflex.cli.streams import give, give_json, verdict
from pytest_reflex.errors import CriteriaError, ExitCode, Place, UsageError, did_you_mean
from pytest_reflex.model.plain import escape_control

if TYPE_CHECKING:
    from pytest_reflex.criteria.author.proof import Original
    from pytest_reflex.criteria.author.prove import RuleProof
    from pytest_reflex.criteria.author.samples import RuleSampleResult
    from pytest_reflex.model.rules import Criteria, Rule


@click.command(short_help="Say what is wrong with criteria files, and what is odd.")
@click.argument("references", metavar="FILE...", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Exit with status 1 where there are warnings.")
@click.option("--ignore", "ignored", metavar="NAME", multiple=True, help="Leave a warning out.")
@json_option
def lint(references: tuple[str, ...], strict: bool, ignored: tuple[str, ...], as_json: bool) -> int:
    """Name all errors of each FILE, or its warnings where there are none.

    What a file inherits is looked at for errors only.

    Exit status: 4 with errors, else 0; with --strict 1 where there are warnings.
    """
    from pytest_reflex.criteria.linting.diagnostic import WARNINGS
    from pytest_reflex.criteria.linting.lint import lint as look
    from pytest_reflex.reports.authoring import lint_text

    for name in ignored:
        if name not in WARNINGS:
            hint = did_you_mean(name, WARNINGS)
            raise UsageError(f"--ignore {name}: there is no such warning", hint=hint)
    registry = registry_here()
    files = dict.fromkeys(references)
    remarks = [
        remark
        for reference in files
        for remark in look(reference, registry)
        if remark.code not in ignored
    ]
    errors = sum(remark.is_error for remark in remarks)
    status = ExitCode.GATE_FAILED if strict and remarks else ExitCode.OK
    status = ExitCode.USAGE if errors else status
    with verdict(status):
        if as_json:
            give_json(
                {
                    "files": list(files),
                    "errors": errors,
                    "warnings": len(remarks) - errors,
                    "remarks": [remark.to_json() for remark in remarks],
                }
            )
        else:
            give(lint_text(remarks, Sources().line, len(files)))
    return status


class Sources:
    """The lines of criteria files, each file read once."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def line(self, place: Place) -> str:
        """Return the line that a place is in; empty where it cannot be read."""
        if place.path not in self._files:
            self._files[place.path] = _lines(place.path)
        lines = self._files[place.path]
        return lines[place.line - 1] if 0 < place.line <= len(lines) else ""


def _lines(path: str) -> list[str]:
    from pytest_reflex.criteria.document import read_bytes

    try:
        text = read_bytes(Path(path), path).decode("utf-8-sig", "replace")
    except CriteriaError:
        return []
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@click.command(short_help="Try rules on their good and bad samples.")
@click.argument("reference", metavar="NAME|FILE")
@click.argument("rule_ids", metavar="[RULE]...", nargs=-1)
@variables_option
@click.option("--strict", is_flag=True, help="A rule without good or bad samples fails too.")
@judge_option
@json_option
def test(
    reference: str,
    rule_ids: tuple[str, ...],
    variables: tuple[str, ...],
    strict: bool,
    judge: str | None,
    as_json: bool,
) -> int:
    """Check the samples of the rules of NAME|FILE, or of each RULE that is named.

    A good sample that passes is validated, a bad one that fails is reported. Noisy is a good
    sample that fails, missing a bad one that passes, unclear one that could not be evaluated, not
    applicable one for which `when` of the rule does not hold. LLM-graded rules are not tried,
    unless --judge names an agent.

    Exit status: 0 all as it should be, 1 not, 4 bad criteria or usage.
    """
    from pytest_reflex.criteria.author.samples import BROKEN, MEANING, SampleVerdict, try_samples
    from pytest_reflex.reports.authoring import samples_text

    registry = registry_here(judge)
    criteria = trace_criteria(reference, variables, registry).criteria
    tried = list(try_samples(criteria, _choose_rules(criteria, rule_ids), registry, Path.cwd()))
    unasked = [one for one in tried if one.verdict is SampleVerdict.NOT_ASKED]
    lacking = [one for one in tried if not (one.count("good") and one.count("bad"))]
    uninstalled = _missing_programs(tried)
    open_yet = lacking or unasked or uninstalled
    fine = not any(one.verdict in BROKEN for one in tried) and not (strict and open_yet)
    status = ExitCode.OK if fine else ExitCode.GATE_FAILED
    with verdict(status):
        if as_json:
            rules = [one.to_json() for one in tried]
            give_json({"criteria": criteria.name, "passed": fine, "rules": rules})
            return status
        give(samples_text(tried))
        if strict and lacking:
            named = _format_rules([one.rule for one in lacking])
            give(f"strict: a good or a bad sample is missing: {named}")
        if unasked:
            meaning = MEANING[SampleVerdict.NOT_ASKED]
            give(f"not asked: {_format_rules([one.rule for one in unasked])}: {meaning}")
        for line in uninstalled:
            give(line)
    return status


def _missing_programs(tried: Sequence[RuleSampleResult]) -> list[str]:
    """Return a line for each thing that is not installed and keeps rules from being tried."""
    from pytest_reflex.criteria.author.samples import SampleVerdict
    from pytest_reflex.model.extras import install

    rules: dict[str, list[Rule]] = {}
    for one in tried:
        for name in sorted(
            {s.needs for s in one.samples if s.verdict is SampleVerdict.NOT_MEASURED}
        ):
            rules.setdefault(name, []).append(one.rule)
    return [
        f"not measured: {_format_rules(found)}: {name} is not installed: {install(name)}"
        for name, found in rules.items()
    ]


def _choose_rules(criteria: Criteria, rule_ids: Sequence[str]) -> list[Rule]:
    """Return the named rules, all where none is named; raises UsageError for an unknown one."""
    named = [find_rule(rule_id, criteria) for rule_id in dict.fromkeys(rule_ids)]
    return named or list(criteria.rules)


def _format_rules(rules: Sequence[Rule]) -> str:
    return ", ".join(rule.id for rule in rules)


_ALL = 10_000


@click.command(short_help="Show that rules can fail.")
@click.argument("reference", metavar="NAME|FILE")
@click.argument("artifacts", metavar="[ARTIFACT]...", nargs=-1, type=ARTIFACT)
@variables_option
@click.option("--strict", is_flag=True, help="What is not proved fails too, for any reason.")
@click.option("--run-commands", is_flag=True, help="Run checks that run commands, many times.")
@json_option
def prove(
    reference: str,
    artifacts: tuple[Path, ...],
    variables: tuple[str, ...],
    strict: bool,
    run_commands: bool,
    as_json: bool,
) -> int:
    """Try each rule of NAME|FILE on what it has to fail on.

    That is an empty artifact, and good samples and ARTIFACTs that pass, with a region removed,
    garbled or planted, in one file of a folder after the other and in all of them at once, or grown
    far beyond their length; and bad samples. A rule that passes on the empty artifact is one of
    absence. One that fails on nothing is vacuous.

    Exit status: 0 no rule is vacuous, 1 one is or has a check error, 4 bad criteria
    or usage.
    """
    from pytest_reflex.criteria.author.prove import Prover
    from pytest_reflex.reports.authoring import proof_text

    registry = registry_here()
    criteria = trace_criteria(reference, variables, registry).criteria
    prover = Prover(
        criteria=criteria,
        registry=registry,
        root=Path.cwd(),
        seeds=tuple(_seeds(artifacts)),
        run_commands=run_commands,
    )
    proofs = list(prover.prove(criteria.rules))
    fine = not any(_speaks_against(one, strict=strict) for one in proofs)
    status = ExitCode.OK if fine else ExitCode.GATE_FAILED
    with verdict(status):
        if as_json:
            rules = [one.to_json() for one in proofs]
            give_json({"criteria": criteria.name, "passed": fine, "rules": rules})
        else:
            # A pipe has no width.
            give(proof_text(proofs) if sys.stdout.isatty() else proof_text(proofs, widest=_ALL))
    return status


def _speaks_against(one: RuleProof, *, strict: bool) -> bool:
    from pytest_reflex.criteria.author.prove import Proof

    if strict:
        return one.proof is not Proof.PROVED or bool(one.idle)
    return one.proof in (Proof.VACUOUS, Proof.UNCLEAR)


def _seeds(artifacts: Iterable[Path]) -> Iterable[Original]:
    """Yield the artifacts; raises ArtifactError for a file that is not text, or too much of it."""
    from pytest_reflex.checks.reading import read_artifact
    from pytest_reflex.criteria.author.proof import Original
    from pytest_reflex.criteria.author.prove import MOST_BYTES

    for path in dict.fromkeys(artifacts):
        artifact = read_artifact(path, limit=MOST_BYTES)
        if artifact.files is not None:
            texts = {f.name: f.data.decode("utf-8", "surrogateescape") for f in artifact.files}
            yield Original(escape_control(path.resolve().name), "", "", None, texts)
            continue
        text = artifact.raw_text
        base = path.absolute().parent
        # A file is known by where it lies, too: .github/workflows/ci.yml.
        name = f"artifacts/{base.parent.name}/{base.name}/{path.name}".replace("//", "/")
        yield Original(escape_control(path.name), text, name, base)
