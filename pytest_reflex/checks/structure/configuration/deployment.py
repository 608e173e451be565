"""Risks of a deployment: permissions that are given away, and ties to one machine or day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.configuration.file import (
    ConfigExpectations,
    ConfigFile,
    ConfigValue,
    Meaning,
    texts,
)
from pytest_reflex.checks.structure.data.source import finding_at
from pytest_reflex.text.lines import bare

_HOME = re.compile(
    r"""(?<![\w.$}~-])(?:/home|/Users)/([A-Za-z][\w.-]*)|[A-Za-z]:\\+Users\\+([\w.-]+)"""
)
_ACCOUNTS = frozenset(
    {
        *("runner", "node", "app", "appuser", "user", "vscode", "jovyan", "ubuntu", "ec2-user"),
        *("vagrant", "git", "www-data", "circleci", "coder", "nonroot", "Shared", "Public"),
    }
)
"""Users of machines and images; the others are people."""

_FLOATING_TEXT = """
    latest edge nightly stable lts mainline current rolling main master dev devel develop head
    snapshot canary next unstable testing
"""
_FLOATING = frozenset(_FLOATING_TEXT.split())
_RELEASES_TEXT = """
    debian:buster debian:bullseye debian:bookworm debian:trixie debian:forky ubuntu:bionic
    ubuntu:focal ubuntu:jammy ubuntu:noble buildpack-deps:bookworm buildpack-deps:trixie
"""
_RELEASES = frozenset(_RELEASES_TEXT.split())
"""Images of systems whose releases have names for versions."""

_BRANCHES = frozenset({"main", "master", "latest", "develop", "dev", "trunk", "HEAD"})
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp)$|^[a-z]+://", re.IGNORECASE)
_IMAGE = re.compile(r"[a-z0-9][\w.:/@-]*")


def portability(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Find images and actions without a fixed version, and paths into a person's home."""
    findings: list[Finding] = []
    for setting, value in texts(config):
        if message := _describe_floating(setting, value, config) or _homely(setting, value):
            findings.append(setting.finding(message))
    return Report(findings, "versions are fixed, and no path leads to a person's home")


def _homely(setting: ConfigValue, value: str) -> str:
    for found in _HOME.finditer(value):
        if (found[1] or found[2]) not in _ACCOUNTS:
            return f"{setting.name} holds a path of one person: {found[0]}"
    return ""


def _describe_floating(setting: ConfigValue, value: str, config: ConfigFile) -> str:
    last = setting.path[-1]
    if last == "uses" and config.meaning is Meaning.WORKFLOW:
        return _action(value)
    if config.meaning is Meaning.WORKFLOW and last in ("image", "container"):
        return _image(value)
    if last == "image" and not _is_built(setting, config):
        return _image(value)
    if last == "tag" and "image" in setting.path and _moves("", value):
        return f"the image has the tag {value!r}, which moves"
    return ""


def _action(value: str) -> str:
    if value.startswith("docker://"):
        return _image(value.removeprefix("docker://"))
    if value.startswith("./"):
        return ""
    name, _, version = value.partition("@")
    if not version:
        return f"the action {name} names no version"
    return f"the action {name} follows the branch {version}" if version in _BRANCHES else ""


def _image(value: str) -> str:
    if not _IMAGE.fullmatch(value) or "@sha256:" in value:
        return ""
    tag = value.rpartition("/")[2].partition(":")[2]
    if not tag and (value == "scratch" or _PICTURE.search(value)):
        return ""
    if not tag:
        return f"the image {value} has no tag"
    return f"the image {value} has a tag that moves" if _moves(value, tag) else ""


def _moves(image: str, tag: str) -> bool:
    """Return whether a tag means another image tomorrow: a word for the newest, or no number."""
    words = re.split(r"[-_.]", tag.lower())
    if words[0] in _FLOATING:
        return True
    release = f"{image.rpartition('/')[2].partition(':')[0]}:{words[0]}"
    return not any(map(str.isdigit, tag)) and "$" not in tag and release not in _RELEASES


def _is_built(setting: ConfigValue, config: ConfigFile) -> bool:
    """Whether the image of a service is what its own build makes, so that it needs no tag."""
    if config.meaning is not Meaning.COMPOSE:
        return False
    for _, name, service in config.tables("services"):
        if setting.path == ("services", name, "image"):
            return "build" in service
    return True  # not the image of a service


_FLAGS = {
    "privileged": "gives the container the rights of root on the host",
    "allowPrivilegeEscalation": "may raise its own rights",
    "hostNetwork": "shares the network of the host",
    "hostPID": "sees the processes of the host",
    "hostIPC": "shares the memory of the host",
}
_CAPABILITIES = frozenset({"ALL", "SYS_ADMIN", "CAP_SYS_ADMIN"})
_MODE_NAME = re.compile(r"(?:.*[._-])?(?:mode|chmod|permissions?|perms?)|defaultMode", re.I)
_MODE = re.compile(r"(?:0o?)?([0-7]{3,4})")
_CHMOD = re.compile(
    r"\bchmod\s+(?:-[A-Za-z]+\s+)*(0?[0-7]{2}[2367]\b|[ugoa]*[oa][ugoa]*[+=][rx]*w\S*|\+[rx]*w)"
)
_UMASK = re.compile(r"\bumask\s+0+\b")


def permissions(config: ConfigFile, expected: ConfigExpectations) -> Report:
    """Find what may do more than it needs."""
    findings = [f for setting in config.settings() for f in _of_setting(setting, config)]
    if config.meaning is Meaning.COMPOSE:
        findings += _of_services(config)
    if config.meaning is Meaning.WORKFLOW:
        findings += _of_workflow(config)
    return Report(findings, "no right is given away")


def _of_setting(setting: ConfigValue, config: ConfigFile) -> Iterator[Finding]:
    value = setting.value
    if value is True and setting.name in _FLAGS:
        yield setting.finding(f"{setting.name}: true {_FLAGS[setting.name]}")
    if _MODE_NAME.fullmatch(setting.name) and _is_open(setting, config):
        yield setting.finding(f"{setting.name} {value} lets everybody write")
    if isinstance(value, str) and (found := _CHMOD.search(value) or _UMASK.search(value)):
        yield setting.finding(f"{found[0]!r} lets everybody write")
    if isinstance(value, str) and "/docker.sock" in value and config.meaning is Meaning.COMPOSE:
        yield setting.finding("the socket of Docker gives the rights of root on the host")


def _is_open(setting: ConfigValue, config: ConfigFile) -> bool:
    value = setting.value
    if isinstance(value, int) and not isinstance(value, bool):
        lines = bare(config.text)
        own = lines[setting.line - 1] if setting.line <= len(lines) else ""
        if config.is_json or "0o" in own:
            return bool(value & 0o002)
        value = str(value)
    found = _MODE.fullmatch(value.strip()) if isinstance(value, str) else None
    return bool(found) and bool(int(found[1], 8) & 0o002) if found else False


def _of_services(config: ConfigFile) -> Iterator[Finding]:
    for document, name, service in config.tables("services"):
        for key in ("network_mode", "pid", "ipc", "userns_mode"):
            if service.get(key) == "host":
                message = f"the service {name!r} shares the {key.split('_')[0]} of the host"
                yield finding_at(document, message, ("services", name, key))
        added = service.get("cap_add")
        for capability in added if isinstance(added, list) else ():
            if capability in _CAPABILITIES:
                message = f"the service {name!r} gets the capability {capability}"
                yield finding_at(document, message, ("services", name, "cap_add"))
        options = service.get("security_opt")
        if isinstance(options, list) and any("unconfined" in str(o) for o in options):
            message = f"the service {name!r} runs unconfined"
            yield finding_at(document, message, ("services", name, "security_opt"))


def _of_workflow(config: ConfigFile) -> Iterator[Finding]:
    document, top = config.documents[0], config.top
    if _is_all(top.get("permissions")):
        yield finding_at(document, "permissions: write-all", ("permissions",))
    is_called = _is_called_only(config)
    for _, name, job in config.tables("jobs"):
        if _is_all(job.get("permissions")):
            message = f"the job {name!r} has permissions: write-all"
            yield finding_at(document, message, ("jobs", name, "permissions"))
        elif "permissions" not in job and "permissions" not in top and not is_called:
            message = f"the job {name!r} does not say which permissions its token has"
            yield finding_at(document, message, ("jobs", name))


def _is_called_only(config: ConfigFile) -> bool:
    """Return whether a workflow is only called by others, whose permissions it has."""
    events = config.top.get("on")
    names = [events] if isinstance(events, str) else events
    return isinstance(names, list | dict) and list(names) == ["workflow_call"]


def _is_all(value: Any) -> bool:
    return bool(value == "write-all")
