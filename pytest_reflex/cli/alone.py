"""What `critique` and `refine` share: their options, the artifact by itself, its evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.criteria_option import chosen_criteria, criteria_options, parse_variables
from pytest_reflex.cli.given import ARTIFACT
from pytest_reflex.cli.streams import say
from pytest_reflex.errors import ArtifactError
from pytest_reflex.loops.setup import read_draft
from pytest_reflex.loops.single import Alone
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import visible
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.targets import Target


def step_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every single step takes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        click.option(
            "--agent",
            "agents",
            multiple=True,
            metavar="[STEP=]NAME",
            help="Agent of all steps, or of one (default: offline).",
        ),
        click.option("--phase", metavar="A|B", help="Level (default: B, or A without rules of B)."),
        criteria_options,
        click.argument("artifact", type=ARTIFACT),
    ):
        command = option(command)
    return command


def open_alone(
    artifact: Path,
    *,
    criteria: str | None,
    template: str | None,
    phase: str | None,
    variables: Iterable[str],
    agents: Iterable[str],
) -> tuple[Alone, Callable[[], Evaluation]]:
    """Return the artifact with its criteria and agents, and a function that evaluates it.

    Raises UsageError, CriteriaError or ArtifactError where no step could be made.
    """
    from pytest_reflex.api import make_target
    from pytest_reflex.host import employ, open_host

    settings = configured({})
    chosen = chosen_criteria(criteria, template, settings)
    host = open_host(settings["plugins"], Path.cwd())
    target = make_target(
        artifact,
        chosen,
        registry=host.registry,
        phase=phase,
        threshold=None,
        variables=parse_variables(variables),
        root=Path.cwd(),
    )
    read = read_text_artifact(artifact)
    employ(host, settings, agents)
    alone = Alone(
        artifact=read,
        criteria=target.criteria,
        level=target.level,
        hooks=host.hooks,
        notice=lambda text: say(visible(text)),
    )
    return alone, lambda: _evaluated(target, host.registry, read)


def _evaluated(target: Target, registry: Any, artifact: Artifact) -> Evaluation:
    from pytest_reflex.checks.run import evaluate

    evaluation = evaluate(target, registry)
    if evaluation.artifact_sha256 != artifact.sha256:
        raise ArtifactError(f"{artifact.name} changed while it was evaluated", hint="start again")
    return evaluation


def read_text_artifact(path: Path) -> Artifact:
    """Return an artifact that an agent can be given: one file with text. Raises ReflexError."""
    artifact = read_draft(path)
    if not artifact.raw_text.strip():
        raise ArtifactError(f"{path} is empty", hint="there is nothing to refine")
    return artifact


def at_level(alone: Alone, evaluation: Evaluation) -> Alone:
    """Return the artifact at the level of its evaluation."""
    return replace(alone, level=evaluation.level)
