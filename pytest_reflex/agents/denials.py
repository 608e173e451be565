"""What a tool was not allowed to do, by its own settings or its sandbox: read from marks.

A mark is a place with values, as of a limit, or a line of stderr. Words of an answer are none: a
tool may say anything about permissions.
"""

from __future__ import annotations

from pytest_reflex.agents.answers import Output
from pytest_reflex.agents.limits import Mark
from pytest_reflex.model.plain import one_line

# In the details of an answer: the sentence about it, and whether the tool may change files.
DENIED, MAY_EDIT = "denied", "may_edit"
_SHOWN = 200


def denied_by(marks: tuple[Mark, ...], output: Output) -> str:
    """Return what a tool was not allowed to do, each thing once; empty where that was nothing."""
    found = [one_line(text, _SHOWN) for mark in marks for text in mark.texts(output)]
    return one_line(", ".join(dict.fromkeys(found)), 2 * _SHOWN)


def denied_text(name: str, what: str, *, may_edit: bool) -> str:
    """Return what to tell of it: who, what, and which setting decides; empty for nothing."""
    if not what:
        return ""
    key = "edit_options" if may_edit else "answer_options"
    return f"{name} was not allowed: {what} (what it may do: {key} in agents.{name})"
