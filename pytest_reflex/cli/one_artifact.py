"""What a command asks of one artifact: its options, one meaning of them, and the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.criteria_option import chosen_criteria, criteria_options, parse_variables
from pytest_reflex.cli.options import agents_option, json_option
from pytest_reflex.cli.parsing import ARTIFACT

if TYPE_CHECKING:
    from pytest_reflex.host import Host
    from pytest_reflex.model.targets import Target
    from pytest_reflex.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the options say: the artifact, what it is held to, and who works on it."""

    artifact: Path
    criteria: str | None
    template: str | None
    variables: tuple[str, ...]
    phase: str | None
    agents: tuple[str, ...] = ()


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which artifact is held to what; the command gets one `Asked` for all of it."""

    @wraps(command)
    def asked(**given: Any) -> Any:
        known = {f.name: given.pop(f.name) for f in fields(Asked) if f.name in given}
        return command(Asked(**known), **given)

    phase = click.option(
        "--phase", metavar="A|B", help="Level (default: B, or A without rules of B)."
    )
    return click.argument("artifact", type=ARTIFACT)(criteria_options(phase(asked)))


def step_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every single step takes: `target_options`, the agents, and --json."""
    return target_options(agents_option(json_option(command)))


def open_target(asked: Asked, settings: Settings) -> tuple[Host, Target]:
    """Return the artifact with its criteria, and the plugins that know them.

    Raises UsageError, CriteriaError or ArtifactError.
    """
    from pytest_reflex.api import make_target
    from pytest_reflex.host import open_host

    chosen = chosen_criteria(asked.criteria, asked.template, settings)
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
