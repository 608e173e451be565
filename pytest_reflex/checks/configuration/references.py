"""Names in Compose files and GitHub workflows that the same file has to define."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.finding import Finding
from pytest_reflex.checks.finding_at import finding_at
from pytest_reflex.checks.structure.configuration.file import ConfigFile, Meaning
from pytest_reflex.text.data import Data

_NAMED_VOLUME = re.compile(r"([A-Za-z0-9][\w.-]+):")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STEP_OR_NEED = re.compile(r"\b(steps|needs)\.([A-Za-z_][\w-]*)")
_REFERENCE_PARTS = ("networks", "volumes", "secrets", "configs")


def undefined(config: ConfigFile) -> Iterator[Finding]:
    """Find names that lead nowhere in the file."""
    if config.meaning is Meaning.COMPOSE:
        yield from _of_compose(config)
    elif config.meaning is Meaning.WORKFLOW:
        yield from _of_workflow(config)


def _of_compose(config: ConfigFile) -> Iterator[Finding]:
    top = config.top
    if "include" in top:
        return  # what it names may stand in the other files
    services = _keys(top.get("services"))
    defined = {part: _keys(top.get(part)) for part in _REFERENCE_PARTS}
    defined["networks"].add("default")
    for document, name, service in config.tables("services"):
        for other in _names(service.get("depends_on")):
            if other not in services:
                yield _missing(document, ("services", name, "depends_on"), "service", other)
        for part in _REFERENCE_PARTS:
            for other in _used(part, service.get(part)):
                if other not in defined[part] and "$" not in other:
                    yield _missing(document, ("services", name, part), part[:-1], other)


def _used(part: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        return
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            source = item.get("source")
            if isinstance(source, str) and (part != "volumes" or item.get("type") == "volume"):
                yield source
        elif isinstance(item, str) and part != "volumes":
            yield item
        elif isinstance(item, str) and (named := _NAMED_VOLUME.match(item)):
            yield named[1]


def _of_workflow(config: ConfigFile) -> Iterator[Finding]:
    jobs = _keys(config.top.get("jobs"))
    for document, name, job in config.tables("jobs"):
        needs = set(_names(job.get("needs")))
        for other in sorted(needs - jobs):
            yield _missing(document, ("jobs", name, "needs"), "job", other)
        steps = job.get("steps")
        entries = steps if isinstance(steps, list) else []
        ids = {str(step.get("id")) for step in entries if isinstance(step, dict)}
        known = {"steps": ids, "needs": needs}
        for path, text in _strings(job, ("jobs", name)):
            for expression in _EXPRESSION.findall(text):
                for kind, other in _STEP_OR_NEED.findall(expression):
                    if other not in known[kind]:
                        yield _missing(document, path, f"entry of {kind}", other)


def _strings(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(inner, (*path, index))


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value if isinstance(value, list | dict) else ()
    return [item for item in items if isinstance(item, str)]


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def _missing(document: Data, path: tuple[Any, ...], kind: str, name: str) -> Finding:
    where = ".".join(map(str, path))
    return finding_at(document, f"{where} names the {kind} {name!r}, which is not defined", path)
