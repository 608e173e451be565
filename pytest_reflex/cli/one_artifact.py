"""What `critique`, `refine` and `criteria fix` share: one artifact, its options, its evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import (
    ARTIFACT,
    agents_option,
    choose_criteria,
    criteria_options,
    json_option,
    load_settings,
    parse_variables,
)
from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.reflex.named_files import read_draft
from pytest_reflex.drivers.reflex.single import StepContext
from pytest_reflex.errors import ArtifactError, ReflexError, UsageError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import escape_control, one_line
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import Target

if TYPE_CHECKING:
    from pytest_reflex.host import Host
    from pytest_reflex.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactOptions:
    """What the options say: the artifact, what it is checked against, and the agent."""

    artifact: Path
    criteria: str | None
    template: str | None
    variables: tuple[str, ...]
    phase: str | None
    agents: tuple[str, ...] = ()


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for artifact and criteria; the command gets one `ArtifactOptions` for all."""

    @wraps(command)
    def call_with_options(**given: Any) -> Any:
        known = {f.name: given.pop(f.name) for f in fields(ArtifactOptions) if f.name in given}
        return command(ArtifactOptions(**known), **given)

    phase = click.option(
        "--phase", metavar="A|B", help="Level (default: B, or A without rules of B)."
    )
    return click.argument("artifact", type=ARTIFACT)(criteria_options(phase(call_with_options)))


def step_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every single step takes: `target_options`, the agents, and --json."""
    return target_options(agents_option(json_option(command)))


def open_target(asked: ArtifactOptions, settings: Settings) -> tuple[Host, Target]:
    """Return the artifact with its criteria, and the plugins that know them.

    Raises UsageError, CriteriaError or ArtifactError.
    """
    from pytest_reflex.api import make_target
    from pytest_reflex.host import open_host

    chosen = choose_criteria(asked.criteria, asked.template, settings)
    host = open_host(settings["plugins"], Path.cwd())
    target = make_target(
        asked.artifact,
        chosen,
        registry=host.registry,
        phase=asked.phase,
        threshold=None,
        variables=parse_variables(asked.variables),
        root=Path.cwd(),
    )
    return host, target


def open_alone(asked: ArtifactOptions) -> tuple[StepContext, Callable[[], Evaluation]]:
    """Return the artifact with its criteria and agents, and a function that evaluates it.

    Raises UsageError, CriteriaError or ArtifactError where no step could be made.
    """
    from pytest_reflex.host import register_agents

    settings = load_settings({})
    host, target = open_target(asked, settings)
    read = read_text_artifact(asked.artifact)
    register_agents(host, settings, asked.agents)
    alone = StepContext(
        artifact=read,
        criteria=target.criteria,
        level=target.level,
        hooks=host.hooks,
        notice=lambda text: say(escape_control(text)),
    )
    return alone, lambda: _evaluate(target, host.registry, read)


def _evaluate(target: Target, registry: Any, artifact: Artifact) -> Evaluation:
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


def at_level(alone: StepContext, evaluation: Evaluation) -> StepContext:
    """Return the artifact at the level of its evaluation."""
    return replace(alone, level=evaluation.level)


@contextmanager
def refuse_changes(artifact: Artifact, criteria: Criteria, *, meanwhile: str) -> Iterator[None]:
    """Refuse changes of the artifact and of the files of its rules until the block ends.

    Raises UsageError at the end where one of them was changed meanwhile, also where the work itself
    failed: what it reports of the artifact would not be true.
    """
    from pytest_reflex.checks.reading import files_of_rules, watches

    held = watches(artifact, files_of_rules(criteria))
    failed: ReflexError | None = None
    try:
        yield
    except ReflexError as error:
        failed = error
    for watch in held:
        if watch.has_changed():
            raise _change_error(watch.artifact, meanwhile)
    if failed:
        raise failed


def _change_error(artifact: Artifact, meanwhile: str) -> UsageError:
    done = "changed" if artifact.path.exists() else "removed"
    name = one_line(artifact.name)
    return UsageError(
        f"{name} was {done} while the artifact was {meanwhile}, by a formatter, a check or "
        "another process: nothing is written",
        hint=f"look at {name}, and start again",
    )


def write_back(artifact: Artifact, text: str, *, meanwhile: str) -> None:
    """Write the text over the artifact, unless that was changed meanwhile."""
    from pytest_reflex.checks.reading import read_artifact
    from pytest_reflex.storage.atomic import replace_file

    if read_artifact(artifact.path).sha256 != artifact.sha256:
        raise UsageError(
            f"{artifact.name} was changed while it was {meanwhile}; it was not written",
            hint="start again",
        )
    if text != artifact.raw_text:
        replace_file(artifact.path.resolve(), text.encode("utf-8"), mode=0o644)
