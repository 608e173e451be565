"""What a file is for: a Compose file, a GitHub workflow, or nothing that is known more closely.

Name and place decide, and else the keys: all of them have to be of the kind, but for single
settings and misspelt keys beside a part that is of no other kind, and what is left of a file in
which a part is missing is known by its other parts.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.checks.structure.configuration.file import Format, Meaning
from pytest_reflex.text.data import Data

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
_SERVICE_KEYS = frozenset(
    {
        *("image", "build", "extends", "ports", "environment", "volumes", "restart", "depends_on"),
        *("cap_add", "cap_drop", "container_name", "env_file", "healthcheck", "network_mode"),
    }
)
_OTHER_SERVICE_KEYS = """
    command configs deploy devices dns entrypoint expose extra_hosts hostname init labels links
    logging networks platform privileged profiles pull_policy read_only secrets security_opt
    shm_size stdin_open stop_grace_period stop_signal sysctls tmpfs tty ulimits user volumes_from
    working_dir
"""
_ALL_SERVICE_KEYS = _SERVICE_KEYS | frozenset(_OTHER_SERVICE_KEYS.split())
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
    keys = {str(key) for key in top if not str(key).startswith("x-")}
    strange = keys - _COMPOSE_KEYS
    if not keys:
        return False
    if top.get("services"):
        if not strange:
            return _are_services(top["services"])
        return all(_is_slip(top, key) for key in strange) and _are_nothing_else(top["services"])
    if strange:
        if any(_is_near(key, "services") and _are_nothing_else(top[key]) for key in strange):
            return len(strange) == 1
        return _are_bare_services([top[key] for key in top if str(key) in strange])
    parts = (_are_parts(top.get(part), known) for part, known in _PART_KEYS.items())
    return _may_lose_services(top) or any(parts)


def _may_lose_services(top: dict[str, Any]) -> bool:
    """Return whether empty services are those of Compose: others have a name and a number."""
    return "services" in top and "name" not in top and isinstance(top.get("version", ""), str)


def _is_slip(top: dict[str, Any], key: str) -> bool:
    """Return whether a key is a single setting or misspelt, and no part of another kind of file."""
    near = get_close_matches(key, _COMPOSE_KEYS, n=1, cutoff=0.8)
    return bool(near) or not isinstance(top.get(key), dict | list)


def _is_near(key: Any, name: str) -> bool:
    return bool(get_close_matches(str(key), [name], n=1, cutoff=0.8))


def _are_nothing_else(services: Any) -> bool:
    """Return whether each of these can be nothing but a service of Compose."""
    return (
        isinstance(services, dict)
        and bool(services)
        and all(
            isinstance(service, dict)
            and bool({"image", "build"} & service.keys())
            and _ALL_SERVICE_KEYS.issuperset(service)
            for service in services.values()
        )
    )


def _are_services(value: Any) -> bool:
    """Return whether these are services, of which some, or all, may have lost what they say."""
    if not isinstance(value, dict):
        return False
    tables = [service for service in value.values() if service is not None]
    if not all(isinstance(service, dict) for service in tables):
        return False
    return not tables or any(map(_is_service, tables))


def _is_service(table: dict[str, Any]) -> bool:
    """Return whether a table has a key of services; one that is misspelt is enough."""
    if not _SERVICE_KEYS.isdisjoint(table):
        return True
    return any(get_close_matches(str(k), ("image", "build"), n=1, cutoff=0.8) for k in table)


def _are_bare_services(entries: list[Any]) -> bool:
    """Return whether tables at the top can be nothing but services that have lost their head."""
    return all(
        isinstance(entry, dict) and _ALL_SERVICE_KEYS.issuperset(entry) for entry in entries
    ) and any(len(entry) > 1 and {"image", "build"} & entry.keys() for entry in entries)


def _are_parts(value: Any, known: frozenset[str]) -> bool:
    """Return whether volumes or networks are defined here, each by nothing or by known keys."""
    parts = list(value.values()) if isinstance(value, dict) else []
    tables = [part or {} for part in parts if part is None or isinstance(part, dict)]
    return bool(parts) and len(tables) == len(parts) and all(known.issuperset(t) for t in tables)


def _is_workflow(top: dict[str, Any]) -> bool:
    jobs = top.get("jobs")
    near = [jobs, *(top[key] for key in top if key != "jobs" and _is_near(key, "jobs"))]
    if "on" in top and any(isinstance(n, dict) and any(map(_has_steps, n.values())) for n in near):
        return True  # whatever else is there: no other kind has both
    if not _WORKFLOW_KEYS.issuperset(top):
        return False
    if isinstance(jobs, dict) and ("on" in top or _are_jobs(jobs)):
        return True
    return not jobs and _are_events(top.get("on"))


def _are_jobs(jobs: dict[str, Any]) -> bool:
    return bool(jobs) and all(map(_is_job, jobs.values()))


def _has_steps(job: Any) -> bool:
    return _is_job(job) or (isinstance(job, dict) and isinstance(job.get("steps"), list))


def _is_job(job: Any) -> bool:
    return isinstance(job, dict) and bool({"runs-on", "uses"} & job.keys())


def _are_events(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value if isinstance(value, list | dict) else ()
    return bool(names) and all(isinstance(name, str) and name in _EVENTS for name in names)
