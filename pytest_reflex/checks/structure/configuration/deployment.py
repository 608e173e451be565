"""What ties a configuration file to one machine or one day: floating tags, a person's folders."""

from __future__ import annotations

import re

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.configuration.file import (
    ConfigFile,
    Meaning,
    Setting,
    Wishes,
    texts,
)

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


def portability(config: ConfigFile, wishes: Wishes) -> Report:
    """Find images and actions without a fixed version, and paths into a person's home."""
    findings: list[Finding] = []
    for setting, value in texts(config):
        if message := _floating(setting, value, config) or _homely(setting, value):
            findings.append(setting.finding(message))
    return Report(findings, "versions are fixed, and no path leads to a person's home")


def _homely(setting: Setting, value: str) -> str:
    for found in _HOME.finditer(value):
        if (found[1] or found[2]) not in _ACCOUNTS:
            return f"{setting.name} holds a path of one person: {found[0]}"
    return ""


def _floating(setting: Setting, value: str, config: ConfigFile) -> str:
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


def _is_built(setting: Setting, config: ConfigFile) -> bool:
    """Whether the image of a service is what its own build makes, so that it needs no tag."""
    if config.meaning is not Meaning.COMPOSE:
        return False
    for _, name, service in config.tables("services"):
        if setting.path == ("services", name, "image"):
            return "build" in service
    return True  # not the image of a service
