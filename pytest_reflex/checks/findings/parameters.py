"""The parameters of a findings check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_reflex.checks.command_run import COMMAND_KINDS
from pytest_reflex.checks.findings.json_report import FIELDS
from pytest_reflex.checks.findings.report import ALL, IGNORE
from pytest_reflex.checks.options import COUNT, FLAG, REQUIRED, TEXT, Kind, one_of, whole_number
from pytest_reflex.checks.reported.finding import LEVELS
from pytest_reflex.checks.reported.forms import FORMS, TELLING, is_fields

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


_LEVELS = Kind(
    "a mapping to error, warning, note or ignore",
    _is_levels,
    schema={"type": "object", "additionalProperties": {"enum": [*LEVELS, IGNORE]}},
)
KINDS = {
    **COMMAND_KINDS,
    "format": one_of(FORMS).means("the form of the report", REQUIRED),
    "stream": Kind(
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
    "ran": Kind(
        "a list of exit statuses from 0 to 255",
        _is_statuses,
        schema={"type": "array", "items": _STATUS.schema, "minItems": 1},
    ).means("the exit statuses that mean that the tool did its work", "`[0, 1]`"),
    "levels": _LEVELS.means("what a word of the tool for a level means", "known words"),
    "rules": _LEVELS.means("what globs of rule ids mean; the first that fits wins"),
    "max_findings": Kind(
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
    "fields": Kind(
        "a mapping of message, and perhaps rule, level, file, line and column, to paths",
        is_fields,
        schema={
            "type": "object",
            "propertyNames": {"enum": list(FIELDS)},
            "additionalProperties": TEXT.schema,
            "required": ["message"],
        },
    ).means("for `json` and `jsonl`: where the parts of a finding are"),
    "items": Kind("a path", lambda value: isinstance(value, str), schema={"type": "string"}).means(
        "for `json`: where the findings are", "`*`"
    ),
    "first": Kind(
        "0 or 1",
        lambda value: value in (0, 1) and not isinstance(value, bool),
        int,
        schema={"type": "integer", "minimum": 0, "maximum": 1},
    ).means("for `json` and `jsonl`: the number of the first line and column", "1"),
}
