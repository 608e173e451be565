"""The parameters of a findings check, the report formats by name, and errors in its mappings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_reflex.checks.command import COMMAND_KINDS
from pytest_reflex.checks.findings.formats import read_checkstyle, read_junit, read_sarif, read_tap
from pytest_reflex.checks.findings.json_report import FIELDS, KNOWN, JsonReader, ReportFields
from pytest_reflex.checks.findings.report import ALL, IGNORE, LEVELS, Reader
from pytest_reflex.checks.options import (
    COUNT,
    FLAG,
    REQUIRED,
    TEXT,
    ParameterType,
    one_of,
    whole_number,
)
from pytest_reflex.errors import Problem, did_you_mean, nearest_word, suggest
from pytest_reflex.model.plain import as_written, one_line

_READERS: dict[str, Reader] = {
    "sarif": read_sarif,
    "junit": read_junit,
    "tap": read_tap,
    "checkstyle": read_checkstyle,
}
OPEN = ("json", "jsonl")
"""Forms whose fields a rule names."""

TELLING = ("junit", "tap", "eslint-json")
"""Forms that show whether anything was run or looked at."""

_NOT_THAT_LIST = "no report: anything but that list"
FORMS = {
    "sarif": "results of version 2.1.0, without suppressed ones; no report: a run without results",
    "junit": "failures and errors, the rule is the test's name; "
    "no report: no test was run, or more tests or failures are reported than shown",
    "tap": "tests that are not ok, without those marked `TODO` or `SKIP`; "
    "no report: no other test was run, one is missing, or no plan",
    "checkstyle": "errors, the rule is their `source`; no report: an exception in it",
    "ruff-json": f"the JSON of ruff; {_NOT_THAT_LIST}",
    "eslint-json": f"the JSON of ESLint; {_NOT_THAT_LIST}, or a list of no files",
    "markdownlint-json": f"the JSON of markdownlint; {_NOT_THAT_LIST}",
    "spectral-json": f"the JSON of Spectral; {_NOT_THAT_LIST}",
    "hadolint-json": f"the JSON of hadolint; {_NOT_THAT_LIST}",
    "shellcheck-json": f"the JSON of ShellCheck; {_NOT_THAT_LIST}",
    "json": "whatever `fields` names; no report: a finding without its message",
    "jsonl": "a finding in each line, as `fields` names its parts; no report: one without message",
}
"""Every report format, with what is a finding in it and what is not read as a report."""


def reader_of(name: str, fields: Mapping[str, str] | None, items: str | None, first: int) -> Reader:
    """Return what reads reports of a form.

    `fields` (by the names of FIELDS), `items` and `first`, the number of the first line, are for
    the forms in OPEN. Raises ValueError where they do not go together.
    """
    if name not in OPEN:
        if fields or items:
            raise ValueError(f"fields and items go with format {' and '.join(OPEN)}, not {name}")
        return _READERS[name] if name in _READERS else JsonReader(KNOWN[name]).document
    if not fields:
        raise ValueError(f"format {name} needs fields: {{message: ..., rule: ...}}")
    if name == "jsonl" and items:
        raise ValueError("items goes with format json: a line of jsonl is a finding")
    reader = JsonReader(
        ReportFields(fields=fields, items="*" if items is None else items, first=first)
    )
    return reader.lines if name == "jsonl" else reader.document


def is_fields(value: Any) -> bool:
    """Return whether a value says where the fields of a finding are."""
    return (
        isinstance(value, Mapping)
        and "message" in value
        and all(key in FIELDS and isinstance(path, str) and path for key, path in value.items())
    )


STREAMS = ("stdout", "stderr")
_STATUS = whole_number(0, 255, "an exit status")


def _is_statuses(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_STATUS.fits, value))


def _is_limits(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(
            level in (*LEVELS, ALL) and COUNT.fits(most) for level, most in value.items()
        )
    return COUNT.fits(value)


def _is_levels(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and level in (*LEVELS, IGNORE) for name, level in value.items()
    )


_LEVELS = ParameterType(
    "a mapping to error, warning, note or ignore",
    _is_levels,
    schema={"type": "object", "additionalProperties": {"enum": [*LEVELS, IGNORE]}},
)
KINDS = {
    **COMMAND_KINDS,
    "format": one_of(FORMS).means("the form of the report", REQUIRED),
    "stream": ParameterType(
        "stdout or stderr", lambda value: value in STREAMS, schema={"enum": list(STREAMS)}
    ).means("where the report is", "`stdout`"),
    "report": TEXT.means(
        "the file that the command writes the report to, seen from the project's root"
    ),
    "silent": FLAG.means(
        "with `true`: no output at all means no findings, where the exit status is 0", "`false`"
    ),
    "allow_empty": FLAG.means(
        f"for {', '.join(f'`{form}`' for form in TELLING)}, with `true`: a report by which nothing "
        "was run or looked at means no findings",
        "`false`",
    ),
    "ran": ParameterType(
        "a list of exit statuses from 0 to 255",
        _is_statuses,
        schema={"type": "array", "items": _STATUS.schema, "minItems": 1},
    ).means("the exit statuses that mean that the tool did its work", "`[0, 1]`"),
    "levels": _LEVELS.means("what a word of the tool for a level means", "known words"),
    "rules": _LEVELS.means("what globs of rule ids mean; the first that fits wins"),
    "max_findings": ParameterType(
        "a whole number >= 0, or a mapping of error, warning, note or all to one",
        _is_limits,
        int,
        schema={
            "anyOf": [
                COUNT.schema,
                {
                    "type": "object",
                    "propertyNames": {"enum": [*LEVELS, ALL]},
                    "additionalProperties": COUNT.schema,
                    "minProperties": 1,
                },
            ]
        },
    ).means("how many may be there, in all or of a level", "0"),
    "install": TEXT.means("how to get the tool; shown where it is missing"),
    "fields": ParameterType(
        "a mapping of message, and optionally rule, level, file, line and column, to paths",
        is_fields,
        schema={
            "type": "object",
            "propertyNames": {"enum": list(FIELDS)},
            "additionalProperties": TEXT.schema,
            "required": ["message"],
        },
    ).means("for `json` and `jsonl`: where the parts of a finding are"),
    "items": ParameterType(
        "a path", lambda value: isinstance(value, str), schema={"type": "string"}
    ).means("for `json`: where the findings are", "`*`"),
    "first": ParameterType(
        "0 or 1",
        lambda value: value in (0, 1) and not isinstance(value, bool),
        int,
        schema={"type": "integer", "minimum": 0, "maximum": 1},
    ).means("for `json` and `jsonl`: the number of the first line and column", "1"),
}


def find_typo(key: str, value: Any) -> Problem | None:
    """Return the first thing that is wrong in the mapping under a key; None where it is none."""
    if not isinstance(value, Mapping):
        return None
    if key == "max_findings":
        return _in_limits(value)
    if key in ("levels", "rules"):
        return _in_levels(key, value)
    return _in_fields(value) if key == "fields" else None


def _in_limits(limits: Mapping[str, Any]) -> Problem | None:
    for level, most in limits.items():
        if level not in (*LEVELS, ALL):
            return _unknown("max_findings", level, "level", (*LEVELS, ALL))
        if not COUNT.fits(most):
            message = f"max_findings.{level} must be {COUNT.words}, not {_quote(most)}"
            return Problem(message=message, path=("max_findings", level), given=_quote(most))
    return None


def _in_levels(key: str, levels: Mapping[str, Any]) -> Problem | None:
    known = (*LEVELS, IGNORE)
    for name, level in levels.items():
        if level not in known:
            message = f"{key}.{name} must be one of {', '.join(known)}, not {_quote(level)}"
            hint = suggest(nearest_word(level, known)) if isinstance(level, str) else ""
            return Problem(message=message, hint=hint, path=(key, name), given=_quote(level))
    return None


def _in_fields(fields: Mapping[str, Any]) -> Problem | None:
    for name, path in fields.items():
        if name not in FIELDS:
            return _unknown("fields", name, "field", FIELDS)
        if not isinstance(path, str) or not path:
            message = f"fields.{name} must be a path, not {_quote(path)}"
            return Problem(message=message, path=("fields", name), given=_quote(path))
    if "message" in fields:
        return None
    message = "fields: there is no message"
    return Problem(message=message, hint="message: ...", path=("fields",))


def _unknown(key: str, word: Any, what: str, known: Iterable[str]) -> Problem:
    message = f"{key}: {one_line(repr(word), 60)} is not a {what}"
    return Problem(message=message, hint=did_you_mean(word, known), path=(key, word), of_key=True)


def _quote(value: Any) -> str:
    return one_line(as_written(value), 60)
