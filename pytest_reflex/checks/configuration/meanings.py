"""What a file is for: a Compose file, a GitHub workflow, or nothing that is known more closely.

Name and place decide, and else the keys: all of them have to be of the kind, and what is left of a
file in which a part is missing is known by its other parts.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.checks.configuration.file import Format, Meaning
from pytest_reflex.documents.data import Data

KINDS = {"plain": Meaning.PLAIN, "compose": Meaning.COMPOSE, "workflow": Meaning.WORKFLOW}

_COMPOSE_NAME = re.compile(r"(docker-)?compose[\w.-]*\.ya?ml", re.IGNORECASE)
_COMPOSE_KEYS = frozenset(
    {
        "version",
        "name",
        "services",
        "networks",
        "volumes",
        "secrets",
        "configs",
        "include",
        "models",
    }
)
_SERVICE_KEYS = frozenset({"image", "build", "extends", "ports", "environment", "volumes"})
_PART_KEYS = {
    "volumes": frozenset({"driver", "driver_opts", "external", "labels", "name"}),
    "networks": frozenset(
        {"driver", "driver_opts", "external", "labels", "name", "ipam", "internal", "attachable"}
    ),
}
_WORKFLOW_KEYS = frozenset(
    {"name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"}
)
_EVENT_NAMES = """
    branch_protection_rule check_run check_suite create delete deployment deployment_status
    discussion discussion_comment fork gollum issue_comment issues label merge_group milestone
    page_build public pull_request pull_request_review pull_request_review_comment
    pull_request_target push registry_package release repository_dispatch schedule status watch
    workflow_call workflow_dispatch workflow_run
"""
_EVENTS = frozenset(_EVENT_NAMES.split())


def meaning_of(name: str, path: Path, form: Format, documents: tuple[Data, ...]) -> Meaning:
    """Return what a file is for."""
    top = documents[0].value if len(documents) == 1 else None
    if form not in (Format.YAML, Format.JSON) or not isinstance(top, dict):
        return Meaning.PLAIN
    if _COMPOSE_NAME.fullmatch(PurePath(name).name) or _is_compose(top):
        return Meaning.COMPOSE
    in_place = path.parent.name == "workflows" and path.parent.parent.name == ".github"
    return Meaning.WORKFLOW if in_place or _is_workflow(top) else Meaning.PLAIN


def _is_compose(top: dict[str, Any]) -> bool:
    keys = {key for key in top if not str(key).startswith("x-")}
    if not keys or not keys <= _COMPOSE_KEYS:
        return False
    if top.get("services"):
        return _are_services(top["services"])
    return any(_are_parts(top.get(part), known) for part, known in _PART_KEYS.items())


def _are_services(value: Any) -> bool:
    services = list(value.values()) if isinstance(value, dict) else []
    tables = [service for service in services if isinstance(service, dict)]
    return any(not _SERVICE_KEYS.isdisjoint(service) for service in tables) and len(tables) == len(
        services
    )


def _are_parts(value: Any, known: frozenset[str]) -> bool:
    """Return whether volumes or networks are defined here, each by nothing or by known keys."""
    parts = list(value.values()) if isinstance(value, dict) else []
    tables = [part or {} for part in parts if part is None or isinstance(part, dict)]
    return bool(parts) and len(tables) == len(parts) and all(known.issuperset(t) for t in tables)


def _is_workflow(top: dict[str, Any]) -> bool:
    if not _WORKFLOW_KEYS.issuperset(top):
        return False
    jobs = top.get("jobs")
    if isinstance(jobs, dict) and ("on" in top or _are_jobs(jobs)):
        return True
    return "jobs" not in top and _are_events(top.get("on"))


def _are_jobs(jobs: dict[str, Any]) -> bool:
    return bool(jobs) and all(
        isinstance(job, dict) and bool({"runs-on", "uses"} & job.keys()) for job in jobs.values()
    )


def _are_events(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value if isinstance(value, list | dict) else ()
    return bool(names) and all(isinstance(name, str) and name in _EVENTS for name in names)
