"""Agent files: front matter and instructions in Markdown, with places that are filled in.

Places that are not ours stay as they are: an agent file may have some for its own run time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.criteria.diagnostics import Table
from pytest_reflex.criteria.document import parse_document, read_bytes, shown
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.fields import filled_text_at, text_at, texts_at
from pytest_reflex.errors import CriteriaError, FlowError, Place, Problem

_FENCE = re.compile(r"\A---[ \t]*\n(?P<front>.*?)^---[ \t]*$\n?", re.S | re.M)
_BARE = re.compile(r"^(?P<key>[A-Za-z][\w-]*:[ \t]+)(?P<value>[^\s\"'|>\[{].*?)[ \t]*$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """One agent file: its front matter, and the whole text that an agent is given.

    `tools` and `disallowed` are those of the front matter, told to the agent and not enforced;
    `model` is empty where it names none.
    """

    path: str
    name: str
    text: str
    description: str = ""
    tools: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    model: str = ""

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the text with ``{name}`` of the values replaced, in one pass."""
        places = "|".join(map(re.escape, values))
        return re.sub(rf"\{{({places})\}}", lambda match: values[match[1]], self.text)


def read_agent_file(path: Path) -> AgentFile:
    """Return what an agent file says; raises FlowError with everything that is wrong with it."""
    name = shown(path)
    try:
        data = read_bytes(path, name)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        match = _FENCE.match(text)
        if not match:
            hint = "begin it with ---, `name: ...` and ---"
            raise FlowError("the agent file has no front matter", place=Place(name, 1), hint=hint)
        # A line more in front: places are those of the whole file.
        table, faults = _front_matter("\n" + match["front"], name)
        found = _agent(name, table, text, faults)
        _refuse_empty(text[match.end() :], faults)
    except UnicodeDecodeError:
        raise FlowError("the agent file is not UTF-8 text", place=Place(name)) from None
    except CriteriaError as error:
        raise FlowError(map(_of_agent, error.problems)) from None
    if faults.found:
        raise FlowError(faults.found)
    return found


def _front_matter(text: str, name: str) -> tuple[Table, Faults]:
    """Return what the front matter says; raises CriteriaError.

    Where it is not YAML, a value on a line of its own counts as if it stood in quotes, as the
    clients that such files are written for have it.
    """
    try:
        return parse_document(text.encode(), name, "`name`")
    except CriteriaError:
        quoted = _BARE.sub(lambda match: f"{match['key']}{json.dumps(match['value'])}", text)
        if quoted == text:
            raise
        with suppress(CriteriaError):
            return parse_document(quoted.encode(), name, "`name`")
        raise


def _agent(path: str, table: Table, text: str, faults: Faults) -> AgentFile:
    return AgentFile(
        path=path,
        name=filled_text_at(table, "name", faults),
        text=text,
        description=_text(table, "description", faults),
        tools=_words(table, "tools", faults),
        disallowed=_words(table, "disallowedTools", faults),
        model=_text(table, "model", faults),
    )


def _text(table: Table, key: str, faults: Faults) -> str:
    """Return a text that need not be there; a key without a value has none."""
    return "" if table.get(key) is None else text_at(table, key, faults)


def _words(table: Table, key: str, faults: Faults) -> tuple[str, ...]:
    """Return a list of words, which may be written as one text with commas."""
    texts: list[tuple[str, Any]] = texts_at(table, key, faults)
    words = (word.strip() for text, _ in texts for word in text.split(","))
    return tuple(word for word in words if word)


def _refuse_empty(body: str, faults: Faults) -> None:
    if not body.strip():
        faults.add("the agent file has no instructions", (1, 1), hint="write them below the ---")


def _of_agent(problem: Problem) -> Problem:
    return Problem(message=f"agent file: {problem.message}", place=problem.place, hint=problem.hint)
