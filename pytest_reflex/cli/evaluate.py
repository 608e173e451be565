"""``pytest-reflex evaluate`` and ``hook pre-commit``: the verdict on artifacts, without a loop."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import (
    ARTIFACT,
    choose_criteria,
    criteria_options,
    judge_option,
    load_settings,
    parse_variables,
)
from pytest_reflex.cli.streams import give, is_coloured, say, verdict, wrap_width
from pytest_reflex.errors import ExitCode, TooLargeError, UsageError
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.results import Evaluation

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.host import Renderer
    from pytest_reflex.settings import Settings


@click.command(short_help="Check artifacts against criteria and print the verdict.")
@click.argument("artifacts", nargs=-1, type=ARTIFACT)
@criteria_options
@click.option("--phase", metavar="A|B", help="Level (default: B, or A without rules of B).")
@click.option("--threshold", metavar="F", help="Threshold instead of the criteria's own.")
@judge_option
@click.option("--outside", is_flag=True, help="Follow links that lead out of a folder.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show rules that passed, patterns, evidence, and all that was left out of a folder.",
)
@click.option(
    "--no-cache", is_flag=True, help="Ask the LLM judge again, and keep none of its votes."
)
@click.option("--cache-clear", is_flag=True, help="First remove the votes kept for this folder.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document; with --watch, one per line."
)
@click.option("--format", "report", metavar="NAME", help="Report format: json, or one of a plugin.")
@click.option("--watch", is_flag=True, help="Evaluate again at each save, until Ctrl-C.")
def evaluate(
    artifacts: tuple[Path, ...],
    criteria: str | None,
    template: str | None,
    variables: tuple[str, ...],
    phase: str | None,
    threshold: str | None,
    judge: str | None,
    outside: bool,
    verbose: bool,
    no_cache: bool,
    cache_clear: bool,
    as_json: bool,
    report: str | None,
    watch: bool,
) -> int:
    """Evaluate ARTIFACTS (files or folders) and print score, gate and what to fix.

    With --watch, artifacts and criteria files are evaluated at each save, and what a
    save fixed and broke is reported; problems in them are reported and waited out. Those that are
    named must be there at the start.

    Exit status: 0 passed, 1 gate failed, 4 bad criteria or usage, 5 nothing measured;
    130 where Ctrl-C ended it.
    """
    from pytest_reflex.host import open_host, register_judge

    settings = load_settings({"judge": judge, "judge_cache": False if no_cache else None})
    if not artifacts:
        raise UsageError(
            "no artifact was named", hint="pytest-reflex evaluate FILE --criteria NAME"
        )
    chosen = choose_criteria(criteria, template, settings)
    host = open_host(settings["plugins"], Path.cwd())
    register_judge(host, settings)
    judging = EvaluationJob(
        artifacts=_each_once(artifacts),
        criteria=chosen,
        registry=host.registry,
        phase=phase,
        threshold=threshold,
        variables=parse_variables(variables),
        outside=outside,
    )
    if as_json and report not in (None, "json"):
        raise UsageError("--json and --format cannot be combined", hint="name one of them")
    name = "json" if as_json else report
    if name is not None and name not in host.reporters:
        raise UsageError(f"no reporter named {name!r}", hint="known: " + ", ".join(host.reporters))
    render = host.reporters[name] if name else partial(_for_people, verbose=verbose)
    with _votes(host.registry, settings, clear=cache_clear):
        if watch:
            _follow(judging, render, as_json=as_json)
        evaluations = _evaluate(judging)
    status = status_of(evaluations)
    with verdict(status):
        give(render(evaluations))
    return status


def _votes(registry: Registry, settings: Settings, *, clear: bool) -> AbstractContextManager[None]:
    if registry.judge is None and not clear:
        return nullcontext()
    from pytest_reflex.agents.vote_cache import vote_cache

    return vote_cache(registry, settings, Path.cwd(), clear=clear)


def _evaluate(judging: EvaluationJob) -> list[Evaluation]:
    try:
        return judging.run()
    except TooLargeError as error:
        error.exit_code = ExitCode.NOTHING_MEASURED
        raise


@dataclass(slots=True, kw_only=True)
class EvaluationJob:
    """What is evaluated by what; `sources` are the files that the criteria were last read from."""

    artifacts: Sequence[Path]
    criteria: str
    registry: Registry
    phase: str | None
    threshold: str | None
    variables: Mapping[str, Any]
    outside: bool = False
    sources: tuple[Path, ...] = ()

    def look(self) -> None:
        """Raise ReflexError where an artifact or the file of the criteria is not there."""
        from pytest_reflex.checks.reading import read_artifact
        from pytest_reflex.criteria.templates import find_template

        self.sources = (find_template(self.criteria),)
        for artifact in self.artifacts:
            read_artifact(artifact, limit=self.registry.size_limit, outside=self.outside)

    def run(self) -> list[Evaluation]:
        """Return the evaluation of each artifact; raises ReflexError."""
        from pytest_reflex.api import make_target
        from pytest_reflex.checks.run import evaluate as run_checks
        from pytest_reflex.criteria.load import read_criteria

        criteria, self.sources = read_criteria(
            self.criteria, registry=self.registry, variables=self.variables
        )
        targets = [
            make_target(
                artifact,
                criteria,
                registry=self.registry,
                phase=self.phase,
                threshold=self.threshold,
                variables=self.variables,
                root=Path.cwd(),
                outside=self.outside,
            )
            for artifact in self.artifacts
        ]
        return [run_checks(target, self.registry) for target in targets]


def _follow(judging: EvaluationJob, render: Renderer, *, as_json: bool) -> None:
    """Evaluate again at each save, until a signal ends it."""
    from pytest_reflex.cli.on_save import OnSave

    judging.look()
    OnSave(judging, render, as_json=as_json).follow()


def status_of(evaluations: Iterable[Evaluation]) -> int:
    """Return the exit status of some evaluations: all must pass."""
    found = list(evaluations)
    if not any(one.measured and one.decides for one in found):
        return ExitCode.NOTHING_MEASURED
    return ExitCode.OK if all(e.passed for e in found) else ExitCode.GATE_FAILED


def _each_once(artifacts: Iterable[Path]) -> list[Path]:
    """Return the artifacts without those that were named before, which is reported."""
    found: dict[str, Path] = {}
    for path in artifacts:
        first = found.setdefault(os.path.realpath(path), path)
        if first is not path:
            also = "" if path == first else f" (also as {escape_control(str(path))})"
            say(f"{escape_control(str(first))} is named twice{also}; it is evaluated once")
    return list(found.values())


def _for_people(evaluations: list[Evaluation], *, verbose: bool) -> str:
    from pytest_reflex.reports.evaluation import not_installed_lines
    from pytest_reflex.reports.lines import lines_of, plain, wrap_lines
    from pytest_reflex.reports.terminal import evaluation_text
    from pytest_reflex.verdict.gate import JudgedTarget, gate_over

    colour = is_coloured(sys.stdout)
    alone = len(evaluations) == 1
    texts = [
        evaluation_text(one, colour=colour, verbose=verbose, alone=alone) for one in evaluations
    ]
    text = "\n\n".join(texts) + "\n"
    if not alone:
        for note in not_installed_lines(evaluations):
            text += plain(wrap_lines(lines_of(f"\nNOTE        {note}"), wrap_width(), indent=12))
        gate = gate_over([JudgedTarget(evaluation=one) for one in evaluations])
        reasons = f": {'; '.join(gate.reasons)}" if gate.reasons else ""
        line = lines_of(f"\nGATE        {gate.status.value.upper()}{reasons}")
        text += plain(wrap_lines(line, wrap_width(), indent=12))
    return text


@click.command("pre-commit", short_help="Check files that are about to be committed.")
@click.argument("files", nargs=-1, type=ARTIFACT)
@criteria_options
@click.option("--phase", metavar="A|B", help="Level (default: B, or A without rules of B).")
@click.option("--threshold", metavar="F", help="Threshold instead of the criteria's own.")
def pre_commit(
    files: tuple[Path, ...],
    criteria: str | None,
    template: str | None,
    variables: tuple[str, ...],
    phase: str | None,
    threshold: str | None,
) -> int:
    """Evaluate FILES, which pre-commit names, and print those that fail; no agent is asked.

    Exit status: 0 all passed (or no file), 1 one did not, 4 bad criteria or usage, 5 nothing
    measured.
    """
    from pytest_reflex.host import open_host
    from pytest_reflex.reports.terminal import evaluation_text

    settings = load_settings({})
    chosen = choose_criteria(criteria, template, settings)
    if not files:
        return ExitCode.OK
    host = open_host(settings["plugins"], Path.cwd())
    judging = EvaluationJob(
        artifacts=tuple(dict.fromkeys(files)),
        criteria=chosen,
        registry=host.registry,
        phase=phase,
        threshold=threshold,
        variables=parse_variables(variables),
    )
    evaluations = judging.run()
    status = status_of(evaluations)
    failed = [one for one in evaluations if not one.passed]
    if failed:
        give("\n\n".join(evaluation_text(one, colour=False) for one in failed))
    return status
