"""The targets that the command line names: --reflex-criteria on --reflex-artifact."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reflex.criteria.header import parse_threshold
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.criteria.suite import make_target
from pytest_reflex.errors import UsageError
from pytest_reflex.model.words import Level
from pytest_reflex.session import options
from pytest_reflex.session.desk import Desk
from pytest_reflex.session.names import node_name


def expect_named(desk: Desk) -> None:
    """Compile what the options name; raises ReflexError where they do not fit together."""
    config = desk.config
    criteria = options.text(config, "reflex_criteria")
    artifacts = options.texts(config, "reflex_artifact")
    if not criteria:
        _refuse_alone(config)
        return
    if not artifacts:
        raise UsageError(
            f"--reflex-criteria {criteria} has nothing to judge",
            hint="add --reflex-artifact PATH",
        )
    registry = desk.registry_for(config.rootpath)
    start = config.invocation_params.dir
    loaded = load_criteria(criteria, registry=registry, variables=desk.variables, relative_to=start)
    phase = options.text(config, "reflex_phase")
    threshold = options.text(config, "reflex_threshold")
    for artifact in artifacts:
        path = Path(os.path.abspath(start / artifact))
        target = make_target(
            loaded,
            path,
            level=Level(phase) if phase else None,
            threshold=parse_threshold(threshold) if threshold else None,
            root=config.rootpath,
            outside=options.switch(config, "reflex_outside"),
        )
        target_id = f"{desk.id_of_file(path)}::{node_name(loaded.name)}"
        desk.expect(target_id, target, registry)
        desk.named[path] = target_id


def _refuse_alone(config: pytest.Config) -> None:
    """Options that only say something about --reflex-criteria mean nothing without it."""
    for key in ("reflex_artifact", "reflex_phase", "reflex_threshold"):
        if getattr(config.option, key):
            flag = "--" + key.replace("_", "-")
            raise UsageError(
                f"{flag} needs --reflex-criteria NAME|FILE",
                hint="a *.reflex.yaml file states its own artifacts, phase and thresholds",
            )
