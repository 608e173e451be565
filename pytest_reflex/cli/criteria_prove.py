"""``pytest-reflex criteria prove``: whether rules can fail."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.criteria_look import registry_here, traced, variables_option
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.parsing import ARTIFACT
from pytest_reflex.cli.streams import give, give_json, verdict
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.plain import visible

if TYPE_CHECKING:
    from pytest_reflex.criteria.author.prove import RuleProof
    from pytest_reflex.criteria.seeds import Seed


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

    Exit status: 0 no rule is vacuous, 1 one is or cannot judge, 4 bad criteria
    or usage.
    """
    from pytest_reflex.criteria.author.prove import Prover
    from pytest_reflex.reports.proof import proof_text

    registry = registry_here()
    criteria = traced(reference, variables, registry).criteria
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
            # Whoever reads a pipe has no width.
            give(proof_text(proofs) if sys.stdout.isatty() else proof_text(proofs, widest=_ALL))
    return status


def _speaks_against(one: RuleProof, *, strict: bool) -> bool:
    from pytest_reflex.criteria.author.prove import Proof

    if strict:
        return one.proof is not Proof.PROVED or bool(one.idle)
    return one.proof in (Proof.VACUOUS, Proof.UNCLEAR)


def _seeds(artifacts: Iterable[Path]) -> Iterable[Seed]:
    """Yield the artifacts; raises ArtifactError for a file that is not text, or too much of it."""
    from pytest_reflex.checks.reading import read_artifact
    from pytest_reflex.criteria.author.prove import MOST_BYTES
    from pytest_reflex.criteria.seeds import Seed

    for path in dict.fromkeys(artifacts):
        artifact = read_artifact(path, limit=MOST_BYTES)
        if artifact.files is not None:
            texts = {f.name: f.data.decode("utf-8", "surrogateescape") for f in artifact.files}
            yield Seed(visible(path.resolve().name), "", "", None, texts)
            continue
        text = artifact.raw_text
        base = path.absolute().parent
        # A file is known by where it lies, too: .github/workflows/ci.yml.
        name = f"artifacts/{base.parent.name}/{base.name}/{path.name}".replace("//", "/")
        yield Seed(visible(path.name), text, name, base)
