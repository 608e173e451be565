"""Commit messages of a flow: written and read here alone, so that `git log` is its history (pure).

Promises: no text that comes from elsewhere can begin a line of a message, so that none forges the
subject or a field; what `message` wrote, `read` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import Spend

LONGEST_SUMMARY = 72
_LONGEST_SENSORS = 100_000
_SUBJECT = re.compile(
    r"ai-loop\[(?P<nodes>[^]]+)\]: iteration (?P<label>[0-9.]+) — (?P<summary>.*)"
)
_FIELD = re.compile(r"\[(?P<name>[a-z-]+)\] ?(?P<value>.*)")
_TRAILER = re.compile(r"(?P<name>[A-Z][A-Za-z-]+): (?P<value>.*\S)")
_SEPARATOR = " > "
RUN, KEY = "Reflex-Run", "Reflex-Boundary"
"""Trailers of git that name a boundary."""
SETPOINT, SPENT = "Reflex-Setpoint", "Reflex-Spent"
"""Trailers of what a node was entered for, and of what it used since its last boundary."""
REFUSED = "Reflex-Refused"
"""Trailer of a boundary without the changes of its act: the hook of git that refused these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """What one commit says: where a node stood, how its sensors were, and what was done.

    `status` is running, complete, max-iterations-reached or error; `sensors` are states by name;
    `run` and `key` name the boundary, so that none is made twice. `setpoint` is the first line of
    what the node has to reach, where it was entered; `spent` has the time of the steps. `refused`
    is what a hook of git said that refused to have the changes in the commit.
    """

    path: str
    label: str
    summary: str
    action: str
    status: str = "running"
    target_met: bool = False
    sensors: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    key: str = ""
    setpoint: str = ""
    spent: Spend | None = None
    refused: str = ""

    @property
    def level(self) -> int:
        return self.path.count("/")


def fold(text: str) -> str:
    """Return a text as one line of at most 72 characters, without what could end a field."""
    return one_line(" ".join(text.split()), LONGEST_SUMMARY)


def message(boundary: Boundary) -> str:
    """Return the message of the commit at a boundary (seed 002, "Commit Format")."""
    nodes = boundary.path.replace("/", _SEPARATOR)
    subject = f"ai-loop[{nodes}]: iteration {boundary.label} — {fold(boundary.summary)}"
    sensors = ", ".join(f"{name}: {state}" for name, state in boundary.sensors.items())
    fields = {
        "node-path": boundary.path,
        "level": str(boundary.level),
        "iteration": boundary.label,
        "status": boundary.status,
        "target-met": "true" if boundary.target_met else "false",
        "sensors": one_line(sensors, _LONGEST_SENSORS),
        "action": fold(boundary.action),
    }
    body = "\n".join(f"[{name}] {value}".rstrip() for name, value in fields.items())
    return f"{subject}\n\n{body}\n{_trailers(boundary) if boundary.run else ''}"


def _trailers(boundary: Boundary) -> str:
    used = {} if boundary.spent is None else boundary.spent.to_json()
    trailers = {
        RUN: boundary.run,
        KEY: boundary.key,
        SETPOINT: fold(boundary.setpoint),
        SPENT: " ".join(f"{key}={value}" for key, value in used.items() if value),
        REFUSED: fold(boundary.refused),
    }
    return "".join(f"\n{name}: {value}" for name, value in trailers.items() if value) + "\n"


def read(text: str) -> Boundary | None:
    """Return what a commit message of a flow says, None for any other."""
    lines = text.rstrip("\n").split("\n")
    match = _SUBJECT.fullmatch(lines[0])
    if not match or len(lines) < 3 or lines[1]:
        return None
    fields = dict(_fields(lines[2:]))
    path = fields.get("node-path", "")
    if path.replace("/", _SEPARATOR) != match["nodes"] or fields.get("iteration") != match["label"]:
        return None
    pairs = (part.rpartition(": ") for part in fields.get("sensors", "").split(", ") if part)
    return Boundary(
        path=path,
        label=match["label"],
        summary=match["summary"],
        action=fields.get("action", ""),
        status=fields.get("status", ""),
        target_met=fields.get("target-met") == "true",
        sensors={name: state for name, _, state in pairs},
        run=fields.get(RUN, ""),
        key=fields.get(KEY, ""),
        setpoint=fields.get(SETPOINT, ""),
        spent=_parse_spend(fields.get(SPENT, "")),
        refused=fields.get(REFUSED, ""),
    )


def is_same(known: Boundary, boundary: Boundary) -> bool:
    """Return whether a commit's message, as it was read, is ours of this very boundary.

    A key alone does not do: an agent may commit too, but it does not know what its act has taken.
    """
    if (known.run, known.key) != (boundary.run, boundary.key):
        return False
    ours = read(message(boundary))
    if ours is None:
        return False
    if known.refused:
        ours = replace(ours, refused=known.refused, action=known.action)
    if known.spent is None:  # of an older version
        ours = replace(ours, spent=None, setpoint=known.setpoint)
    return known == ours


def _parse_spend(text: str) -> Spend | None:
    """Return what a trailer says was used, None where that cannot be read."""
    pairs = (word.partition("=") for word in text.split())
    try:
        wire = {key: int(value) if value.isdigit() else float(value) for key, _, value in pairs}
        return Spend.from_json(wire) if wire else None
    except ValueError:
        return None


def _fields(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        if match := _FIELD.fullmatch(line) or _TRAILER.fullmatch(line):
            yield match["name"], match["value"]
