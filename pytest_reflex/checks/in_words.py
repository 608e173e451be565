"""A check as a sentence for people: what has to hold, in the words of its type."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from pytest_reflex.checks.executable import TIMEOUT
from pytest_reflex.checks.options import variable_name
from pytest_reflex.model.judged import JUDGED
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import ALTERNATIVES, CheckSpec

_LONGEST = 400


def in_words(spec: CheckSpec) -> str:
    """Return one line that says what the check asks for."""
    teller = _TELLERS.get(spec.type, _other)
    return one_line(teller(spec), _LONGEST)


def _content(spec: CheckSpec) -> str:
    params = spec.params
    wanted = f"/{params.get('search')}/"
    if params.get("literal"):
        wanted = f"the text {params.get('search')!r}"
    where = "the artifact"
    if params.get("block"):
        where = f"the fenced blocks of {_value(params['block'])}"
    if params.get("section"):
        where += f" under the heading {_value(params['section'])}"
    if params.get("files"):
        which = "every file of" if params.get("each") else "one of the files"
        where += f" ({which} {_value(params['files'])})"
    notes = [
        words
        for key, words in (("ignore_case", "whatever its case"), ("raw", "line ends as they are"))
        if params.get(key)
    ]
    return ", ".join([f"{wanted} is {_how_often(params)} in {where}", *notes])


def _how_often(params: Mapping[str, Any]) -> str:
    least, most = params.get("min_count"), params.get("max_count")
    if params.get("negate") is True or most == 0:
        return "nowhere"
    if least is None:
        return "somewhere" if most is None else f"at most {_times(most)}"
    return f"at least {_times(least)}" + ("" if most is None else f" and at most {_times(most)}")


def _times(count: Any) -> str:
    return "once" if count == 1 else f"{_value(count)} times"


def _executable(spec: CheckSpec) -> str:
    params = spec.params
    command = params.get("command")
    shown = command if isinstance(command, str) else shlex.join(map(str, command or ()))
    told = f"the command `{shown}` ends with exit status {_value(params.get('expect_exit', 0))}"
    if "expect_output" in params:
        told += f" and its output matches /{params['expect_output']}/"
    told += f" within {_value(params.get('timeout', f'{TIMEOUT:g}'))} seconds"
    return told + (f", in {params['retries']} more tries if need be" if "retries" in params else "")


def _findings(spec: CheckSpec) -> str:
    params = spec.params
    command = params.get("command")
    shown = command if isinstance(command, str) else shlex.join(map(str, command or ()))
    told = f"`{shown}` reports as {_value(params.get('format'))}"
    return f"{told} at most {_value(params.get('max_findings', 0))} findings"


def _judged(spec: CheckSpec) -> str:
    params = spec.params
    votes = _value(params.get("votes", 1))
    wanted = f", of which {_value(params['quorum'])} pass" if "quorum" in params else ""
    by = f" by the rubric: {_value(params['rubric'])}" if "rubric" in params else ""
    return f"an agent judges it, in at most {votes} votes{wanted}{by}"


def _any_of(spec: CheckSpec) -> str:
    return "one of these holds: " + "; or: ".join(map(in_words, spec.alternatives))


def _structure(spec: CheckSpec) -> str:
    return "the structure has " + ", ".join(f"{k} {_value(v)}" for k, v in spec.params.items())


def _other(spec: CheckSpec) -> str:
    return f"{spec.type}: " + ", ".join(f"{key} {_value(v)}" for key, v in spec.params.items())


def _value(value: Any) -> str:
    if name := variable_name(value):
        return f"${name}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_TELLERS: Mapping[str, Callable[[CheckSpec], str]] = {
    "content": _content,
    "executable": _executable,
    "structure": _structure,
    "findings": _findings,
    JUDGED: _judged,
    ALTERNATIVES: _any_of,
}
