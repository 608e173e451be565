"""``pytest-reflex critique`` and ``refine``: one step for one artifact, and results passed on as
JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.one_artifact import (
    ArtifactOptions,
    at_level,
    open_alone,
    step_options,
    write_back,
)
from pytest_reflex.cli.options import GivenPath, load_settings
from pytest_reflex.cli.streams import give, give_artifact, give_json, is_coloured, say
from pytest_reflex.drivers.reflex.single import StepContext, criticise
from pytest_reflex.drivers.reflex.single import refine as refine_once
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.results import Evaluation, evaluation_from_json
from pytest_reflex.model.single import Critique, Issue, Refinement

STDIN = "-"


def read_object(source: str, flag: str) -> Mapping[str, Any]:
    """Return the JSON object in a file, or on stdin for ``-``; raises UsageError."""
    from pytest_reflex.contracts.validate import ContractError, parse_json

    name = "standard input" if source == STDIN else source
    try:
        if source == STDIN:
            text = sys.stdin.read()
        else:
            with open(source, encoding="utf-8") as file:
                text = file.read()
        found = parse_json(text.strip()) if text.strip() else None
    except (OSError, ValueError, ContractError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{flag} {name}: {reason}") from None
    if not isinstance(found, dict):
        what = "it is empty" if not text.strip() else "no JSON object"
        raise UsageError(f"{flag} {name}: {what}", hint="did the command before this one fail?")
    return found


def evaluation_for(alone: StepContext, document: Mapping[str, Any]) -> Evaluation:
    """Return the evaluation of this very artifact from a report, a run.json, or one by itself.

    Raises UsageError where there is none, or where the artifact has other bytes by now.
    """

    if "evaluations" in document:
        found = document["evaluations"]
    else:
        found = [document.get("evaluation", document)]
    rows = [row for row in found if isinstance(row, dict) and "artifact_sha256" in row]
    if not rows:
        raise UsageError("--evaluation: no evaluation is in it", hint="give what `evaluate` prints")
    fitting = [row for row in rows if row["artifact_sha256"] == alone.artifact.sha256]
    if not fitting:
        hashes = ", ".join(str(row["artifact_sha256"])[:8] for row in rows[:5])
        raise UsageError(
            f"--evaluation: it is stale: it is of {hashes}, but {alone.artifact.name} is "
            f"{alone.artifact.short_hash} now",
            hint="evaluate again",
        )
    _check("evaluation", fitting[0], "--evaluation")
    rules = {rule.id: rule for rule in alone.criteria.rules}
    unknown = [row["id"] for row in fitting[0]["rule_results"] if row["id"] not in rules]
    if unknown:
        raise UsageError(
            f"--evaluation: {alone.criteria.name} has no rule {unknown[0]!r}",
            hint="name the criteria of the evaluation",
        )
    return evaluation_from_json(fitting[0], rules)


def issues_for(alone: StepContext, document: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Return the issues of a critique; raises UsageError where they do not fit the artifact."""
    _check("critique", document, "--issues")
    if "artifact_sha256" not in document:
        name = alone.artifact.name
        say(f"--issues: it has no artifact_sha256 and cannot be compared with {name}")
    digest = document.get("artifact_sha256", alone.artifact.sha256)
    if digest != alone.artifact.sha256:
        raise UsageError(
            f"--issues: they are stale: they are of {str(digest)[:8]}, but {alone.artifact.name} "
            f"is {alone.artifact.short_hash} now",
            hint="evaluate and criticise again",
        )
    for issue in document["issues"]:
        if alone.criteria.rule(issue["rule_id"]) is None:
            raise UsageError(
                f"--issues: {alone.criteria.name} has no rule {issue['rule_id']!r}",
                hint="name the criteria of the critique",
            )
    return tuple(document["issues"])


def _check(schema: str, value: Any, flag: str) -> None:
    from pytest_reflex.contracts.validate import problems

    if found := problems(schema, value):
        raise UsageError(f"{flag}: {'; '.join(found)}", hint=f"see: pytest-reflex schema {schema}")


@click.command(short_help="Say what to change in an artifact, as issues.")
@step_options
@click.option(
    "--evaluation", metavar="FILE|-", help="What `evaluate --json` printed (default: evaluate)."
)
def critique(
    asked: ArtifactOptions,
    evaluation: str | None,
    as_json: bool,
) -> int:
    """Say what to change in ARTIFACT (a file), as at most 5 issues; nothing is changed.

    An evaluation of other bytes than the artifact has now is refused.

    Exit status: 0 done, 4 bad criteria or usage, 9 the agent gave no critique.
    """
    from pytest_reflex.reports.single import critique_document, critique_text

    alone, evaluate = open_alone(asked)
    if evaluation:
        judged = evaluation_for(alone, read_object(evaluation, "--evaluation"))
    else:
        judged = evaluate()
    alone = at_level(alone, judged)
    found = criticise(alone, judged)
    if as_json:
        give_json(critique_document(alone.artifact, judged, found))
    else:
        give(critique_text(found, colour=is_coloured(sys.stdout)))
    return ExitCode.OK


@click.command(short_help="Fix an artifact: safe fixes, then the agent for what remains.")
@step_options
@click.option(
    "--issues",
    metavar="FILE|-",
    help="What `critique --json` printed (default: evaluate and criticise).",
)
@click.option("--output", type=GivenPath(), help="Write the result to this file.")
@click.option("--in-place", is_flag=True, help="Write the result over the artifact.")
def refine(
    asked: ArtifactOptions,
    issues: str | None,
    output: Path | None,
    in_place: bool,
    as_json: bool,
) -> int:
    """Fix ARTIFACT (a file) and print it, or write it where --output or --in-place says.

    Safe fixes of the criticised rules are applied first; the agent is asked for what remains. The
    result is not evaluated: run `evaluate` on it.

    Exit status: 0 done, 4 bad criteria or usage, 9 the agent gave no artifact.
    """
    from pytest_reflex.drivers.reflex.named_files import unusable

    if in_place and output:
        raise UsageError("--in-place and --output cannot be combined", hint="name one of them")
    target = asked.artifact if in_place else output
    if target and (why := unusable(target, Path.cwd() / load_settings({})["loop.root"])):
        raise UsageError(f"no result can be written to {target}: {why}")
    alone, evaluate = open_alone(asked)
    if issues:
        critique = Critique(issues=issues_for(alone, read_object(issues, "--issues")))
    else:
        judged = evaluate()
        alone = at_level(alone, judged)
        critique = criticise(alone, judged)
    done = refine_once(alone, critique.issues)
    done = replace(done, costs=critique.costs + done.costs)
    _deliver(alone, done, target, as_json=as_json)
    return ExitCode.OK


def _deliver(alone: StepContext, done: Refinement, target: Path | None, *, as_json: bool) -> None:
    """Write or print the text, and say what was done to it."""
    from pytest_reflex.reports.single import refinement_document, refinement_text

    if target:
        _write(alone, done, target)
    if as_json:
        give_json(refinement_document(alone.artifact, done, target))
        return
    say(refinement_text(alone.artifact, done, target, colour=is_coloured(sys.stderr)))
    if not target:
        give_artifact(done.text)


def _write(alone: StepContext, done: Refinement, target: Path) -> None:
    from pytest_reflex.storage.atomic import replace_file

    real = target.resolve()
    if real == alone.artifact.path.resolve():
        write_back(alone.artifact, done.text, meanwhile="refined")
    else:
        replace_file(real, done.text.encode("utf-8"), mode=0o644)
