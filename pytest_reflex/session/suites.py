"""The targets of a session: those of suite files, whoever reads them, and of the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.words import Level
from pytest_reflex.session import options
from pytest_reflex.session.desk import Desk
from pytest_reflex.session.items import Subject, node_name, path_of_id
from pytest_reflex.session.plan import Plan

SUFFIX = ".reflex.yaml"


def expect_suite(
    path: Path, node_id: str, desk: Desk, session: pytest.Session | None = None
) -> dict[str, Subject]:
    """Read a suite and note its targets at the desk; the keys are their node ids.

    The one artifact of a suite adds nothing to the id. Raises CriteriaError, ArtifactError.
    """
    from pytest_reflex.criteria.suite import load_suite

    registry = desk.registry_for(path, session)
    root = desk.config.rootpath
    outside = options.switch(desk.config, "reflex_outside")
    targets = load_suite(
        path, registry=registry, variables=desk.variables, root=root, outside=outside
    )
    found = {}
    for target in targets:
        target_id = node_id if target.alone else f"{node_id}::{node_name(target.label)}"
        found[target_id] = desk.expect(target_id, target, registry)
    return found


def plan_of_ids(ids: Iterable[str], desk: Desk) -> Plan:
    """Return the plan that node ids of workers imply, where no worker could hand over its own.

    Workers on other machines: the suite files are read here. Their marked tests stay unknown.
    """
    chosen = set(ids)
    files = sorted({one.partition("::")[0] for one in chosen if SUFFIX + "::" in one})
    for name in files:
        try:
            expect_suite(desk.config.rootpath / path_of_id(name), name, desk)
        except ReflexError as error:
            desk.plan.problems += error.problems
    desk.plan.left_out = set(desk.plan.expected()) - chosen
    return desk.plan


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
    from pytest_reflex.criteria.header import parse_threshold
    from pytest_reflex.criteria.load import load_criteria
    from pytest_reflex.criteria.suite import make_target

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
