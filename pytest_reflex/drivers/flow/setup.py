"""Flows to start from: files of the package, filled in, and written where there are none yet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from pytest_reflex.criteria.author.yaml_writer import scalar
from pytest_reflex.criteria.document import read_bytes
from pytest_reflex.errors import CriteriaError, UsageError, did_you_mean
from pytest_reflex.model.plain import escape_control
from pytest_reflex.storage.files import refuse_links

FLOW_FILE = ".ai-loop/flow.yaml"
SCHEMA_FILE = ".ai-loop/flow.schema.json"
AGENTS = ".claude/agents"
DEFAULT = "red-to-green"
COMMAND = "python -m pytest -q"
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateValues:
    """What is filled into a template: the command that measures, and iterations of the loops."""

    command: str = COMMAND
    max_iterations: int = 3
    inner_iterations: int = 5


@cache
def templates() -> Mapping[str, str]:
    """Return the names of all templates, each with the line that says what it is."""
    folders = sorted(path.parent for path in _TEMPLATES.glob("*/flow.yaml"))
    return {
        folder.name: (folder / "flow.yaml").read_text(encoding="utf-8").split("\n")[1].lstrip("# ")
        for folder in folders
    }


def has_inner(name: str) -> bool:
    """Return whether a template has a loop within its loop."""
    return "$inner_iterations" in _flow_text(name)


def files_of(name: str, choices: TemplateValues) -> dict[str, str]:
    """Return the files of a template by their path in a project; raises UsageError."""
    if name not in templates():
        raise UsageError(f"there is no flow {name!r}", hint=did_you_mean(name, templates()))
    if not choices.command.strip():
        raise UsageError("the command is empty", hint=f"--command {COMMAND!r}")
    text = Template(_flow_text(name)).substitute(
        command=scalar(choices.command),
        max_iterations=choices.max_iterations,
        inner_iterations=choices.inner_iterations,
    )
    agents = sorted((_TEMPLATES / name / "agents").glob("*.md"))
    return {
        FLOW_FILE: text,
        SCHEMA_FILE: _schema(),
        **{f"{AGENTS}/{path.name}": path.read_text(encoding="utf-8") for path in agents},
    }


def write(project: Path, files: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Write the files that are not there yet; yield the name of each, and whether it was written.

    Where flow.yaml is kept, agent files that it does not name are left out. Raises ReflexError.
    """
    flow = (
        _read_existing_flow(project) if os.path.lexists(project / FLOW_FILE) else files[FLOW_FILE]
    )
    for name, text in files.items():
        if name in flow or not name.startswith(AGENTS):
            yield name, _write(project, name, text)


def _read_existing_flow(project: Path) -> str:
    """Return the flow that is there; what cannot be read names no agent file."""
    try:
        return read_bytes(project / FLOW_FILE, FLOW_FILE).decode("utf-8", "replace")
    except CriteriaError:
        return ""


def _write(project: Path, name: str, text: str) -> bool:
    path = project / name
    if os.path.lexists(path):
        return False
    refuse_links(project, path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{escape_control(name)} cannot be written: {error.strerror}") from None
    return True


def _flow_text(name: str) -> str:
    return (_TEMPLATES / name / "flow.yaml").read_text(encoding="utf-8")


def _schema() -> str:
    from pytest_reflex.contracts.validate import schema

    return json.dumps(schema("flow"), indent=1, ensure_ascii=False) + "\n"
