"""The published JSON Schemas of template and suite files, made from what the reader knows.

Promise: what a schema refuses, the reader refuses. The reverse holds as far as a schema can say it;
it cannot compare values with one another (ids given twice, a phase against an id, counts that
contradict), follow names (templates, variables, inherited rules), or look into texts (patterns,
commands, paths), and knows nothing of the check types' own words on parameters taken together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.kind_schemas import (
    Schema,
    check_schemas,
    condition_schemas,
    fix_schema,
    samples_schema,
)
from pytest_reflex.criteria.load import INLINE_KEYS, SUITE_KEYS, TEMPLATE_KEYS
from pytest_reflex.criteria.rule_keys import OFF, READERS, SEVERITIES
from pytest_reflex.errors import UsageError, did_you_mean
from pytest_reflex.model.enums import Level
from pytest_reflex.model.rules import NOT

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

NAMES = {
    "criteria": "A criteria file: a named set of rules, also called a template.",
    "suite": "A suite: criteria, and the artifacts that are checked against them.",
}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PART = "[a-z0-9]+(?:-[a-z0-9]+)*"
_TEXTS: Schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_NOTHING: Schema = {"type": "null"}
_NAME: Schema = {"type": "string", "maxLength": 100}


def file_schema(name: str, registry: Registry) -> Schema:
    """Return the schema called `name`, a key of NAMES; raises UsageError for another name.

    It holds for the check types of `registry`, those of plugins included.
    """
    if name not in NAMES:
        raise UsageError(f"there is no schema {name!r}", hint=did_you_mean(name, NAMES))
    return {
        "$schema": _DRAFT,
        "$id": f"urn:pytest-reflex:schema:{name}:1",
        "title": name.capitalize(),
        "description": NAMES[name],
        **(_suite() if name == "suite" else _template()),
        "$defs": _definitions(registry),
    }


def _template() -> Schema:
    keys = _shared() | {
        "name": {**_NAME, "description": "letters, digits, dots, hyphens, underscores"},
        "version": {"type": "integer", "minimum": 0},
        "extends": {**_or_nothing(_TEXTS), "description": "templates to build on"},
        "phase": _or_nothing({"$ref": "#/$defs/phases"}),
    }
    return {
        "type": "object",
        "properties": {key: keys[key] for key in TEMPLATE_KEYS},
        "additionalProperties": False,
        # What is inherited may be given in part.
        "if": {"not": {"required": ["extends"]}},
        "then": _whole_rules(),
    }


def _suite() -> Schema:
    inline = {
        "name": _NAME,
        "version": {"type": "integer", "minimum": 0},
        "phases": _or_nothing({"$ref": "#/$defs/phases"}),
        "phase": _or_nothing({"$ref": "#/$defs/phases"}),
    }
    own: Schema = {
        "type": "object",
        "properties": {key: inline[key] for key in INLINE_KEYS},
        "additionalProperties": False,
    }
    keys = _shared() | {
        "criteria": {"anyOf": [*_TEXTS["anyOf"], _NOTHING, own]},
        "artifacts": {**_TEXTS, "description": "paths and patterns, from the suite's folder"},
        "phase": {"enum": [level.value for level in Level]},
    }
    return {
        "type": "object",
        "properties": {key: keys[key] for key in SUITE_KEYS},
        "additionalProperties": False,
        "required": ["artifacts"],
        "if": {"anyOf": [{"not": {"required": ["criteria"]}}, _has_inline()]},
        "then": _whole_rules(),
    }


def _has_inline() -> Schema:
    return {"properties": {"criteria": {"type": "object"}}, "required": ["criteria"]}


def _whole_rules() -> Schema:
    own: Schema = {"severity": {"enum": list(SEVERITIES)}}
    items: Schema = {"required": ["description", "severity"], "properties": own}
    own_phase = {"properties": {"id": {"pattern": rf"^[ab]\.{_PART}\.{_PART}$"}}}
    items["anyOf"] = [{"required": ["phase"]}, own_phase]
    return {"required": ["rules"], "properties": {"rules": {"items": items}}}


def _shared() -> dict[str, Schema]:
    """Return the keys that templates and suites have in common."""
    command: Schema = {
        "type": "object",
        "properties": {
            "argv": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "args": _or_nothing(_TEXTS),
            "timeout": {"type": "number", "exclusiveMinimum": 0},
        },
        "required": ["argv"],
        "additionalProperties": False,
    }
    names = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
    return {
        "phases": _or_nothing({"$ref": "#/$defs/phases"}),
        "vars": _or_nothing({"type": "object", "propertyNames": names}),
        "commands": _or_nothing({"type": "object", "additionalProperties": command}),
        "drop": {**_or_nothing(_TEXTS), "description": "ids of inherited rules to leave out"},
        "rules": _or_nothing({"type": "array", "items": {"$ref": "#/$defs/rule"}}),
    }


def _definitions(registry: Registry) -> dict[str, Schema]:
    level: Schema = {
        "type": "object",
        "properties": {
            "threshold": {"type": "number", "minimum": 0, "maximum": 1},
            "active_levels": {"type": "array"},
        },
        "additionalProperties": False,
    }
    forms = [
        form for check_type in registry.for_authors.values() for form in check_schemas(check_type)
    ]
    conditions = condition_schemas()
    return {
        "variable": {
            "description": "stands for the value of a variable",
            "type": "object",
            "properties": {"var": {"type": "string"}},
            "required": ["var"],
            "additionalProperties": False,
        },
        "phases": {
            "type": "object",
            "properties": {one.value: level for one in Level},
            "additionalProperties": False,
        },
        "check": {"anyOf": forms},
        "condition": {"anyOf": [*conditions, _opposite(conditions)]},
        "fix": fix_schema(),
        "rule": _rule(),
    }


def _opposite(conditions: list[Schema]) -> Schema:
    return {
        "type": "object",
        "properties": {NOT: {"description": "it does not hold", "anyOf": conditions}},
        "required": [NOT],
        "additionalProperties": False,
    }


def _rule() -> Schema:
    checks: Schema = {"type": "array", "items": {"$ref": "#/$defs/check"}}
    condition: Schema = {"$ref": "#/$defs/condition"}
    filled: Schema = {"type": "string", "pattern": r"\S"}
    keys: dict[str, Any] = {
        "description": {**filled, "description": "one sentence that says what must hold"},
        "severity": {
            "description": "error means fail, warning warn; off switches an inherited rule off",
            "enum": [*SEVERITIES, OFF],
        },
        "weight": {"type": "number", "minimum": 0, "description": "default 2, 1, 0 by severity"},
        "phase": {"enum": [one.value for one in Level]},
        "check": {"anyOf": [filled, {"$ref": "#/$defs/check"}, {**checks, "minItems": 1}]},
        "checks": checks,
        "fix": {
            "anyOf": [
                {"$ref": "#/$defs/fix"},
                {"type": "array", "items": {"$ref": "#/$defs/fix"}},
            ]
        },
        "hint": {"type": "string", "description": "how to fix it; shown with the finding"},
        "why": {"type": "string", "description": "the reason for the rule"},
        "when": {
            "description": "the rule counts only where all of these hold",
            "anyOf": [condition, {"type": "array", "items": condition, "minItems": 1}, _NOTHING],
        },
        "samples": _or_nothing(samples_schema()),
    }
    identity: Schema = {"type": "string", "pattern": rf"^{_PART}(?:\.{_PART})+$", "maxLength": 120}
    return {
        "type": "object",
        "properties": {"id": identity, **{key: keys[key] for key in READERS}},
        "required": ["id"],
        "additionalProperties": False,
    }


def _or_nothing(schema: Schema) -> Schema:
    return {"anyOf": [schema, _NOTHING]}
