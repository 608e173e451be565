"""What `critique`, `refine` and `criteria fix` share: the artifact by itself, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.one_artifact import Asked, open_target
from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.reflex.draft import read_draft
from pytest_reflex.drivers.reflex.single import Alone
from pytest_reflex.errors import ArtifactError, ReflexError, UsageError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import Target


def open_alone(asked: Asked) -> tuple[Alone, Callable[[], Evaluation]]:
    """Return the artifact with its criteria and agents, and a function that evaluates it.

    Raises UsageError, CriteriaError or ArtifactError where no step could be made.
    """
    from pytest_reflex.host import employ

    settings = configured({})
    host, target = open_target(asked, settings)
    read = read_text_artifact(asked.artifact)
    employ(host, settings, asked.agents)
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


@contextmanager
def unchanged(artifact: Artifact, criteria: Criteria, *, meanwhile: str) -> Iterator[None]:
    """Hold the artifact and the files of its rules to what they are now.

    Raises UsageError at the end where one of them is another one by then, whoever did it, and also
    where the work itself failed: nothing that it says of the artifact would be true.
    """
    from pytest_reflex.checks.reading import files_of_rules, watches

    held = watches(artifact, files_of_rules(criteria))
    failed: ReflexError | None = None
    try:
        yield
    except ReflexError as error:
        failed = error
    for watch in held:
        if watch.changed():
            raise _changed(watch.artifact, meanwhile)
    if failed:
        raise failed


def _changed(artifact: Artifact, meanwhile: str) -> UsageError:
    done = "changed" if artifact.path.exists() else "removed"
    name = one_line(artifact.name)
    return UsageError(
        f"{name} was {done} while the artifact was {meanwhile}, by a formatter, a check or "
        "somebody else: nothing is written",
        hint=f"look at {name}, and start again",
    )


def write_back(artifact: Artifact, text: str, *, meanwhile: str) -> None:
    """Write the text over the artifact; one that somebody changed meanwhile is left as it is."""
    from pytest_reflex.checks.reading import read_artifact
    from pytest_reflex.storage.atomic import replace_file

    if read_artifact(artifact.path).sha256 != artifact.sha256:
        raise UsageError(
            f"{artifact.name} was changed while it was {meanwhile}; it was not written",
            hint="start again",
        )
    if text != artifact.raw_text:
        replace_file(artifact.path.resolve(), text.encode("utf-8"), mode=0o644)
