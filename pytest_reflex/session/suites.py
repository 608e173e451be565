"""Suite files: their targets by node id, whoever reads them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_reflex.criteria.suite import load_suite
from pytest_reflex.errors import ReflexError
from pytest_reflex.session import options
from pytest_reflex.session.desk import Desk
from pytest_reflex.session.items import Subject
from pytest_reflex.session.names import node_name
from pytest_reflex.session.plan import Plan

SUFFIX = ".reflex.yaml"


def expect_suite(
    path: Path, node_id: str, desk: Desk, session: pytest.Session | None = None
) -> dict[str, Subject]:
    """Read a suite and note its targets at the desk; the keys are their node ids.

    The one artifact of a suite adds nothing to the id. Raises CriteriaError, ArtifactError.
    """
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
            expect_suite(desk.config.rootpath / name, name, desk)
        except ReflexError as error:
            desk.plan.problems += error.problems
    desk.plan.left_out = set(desk.plan.expected()) - chosen
    return desk.plan
