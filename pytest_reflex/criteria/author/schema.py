"""The published JSON Schemas of template and suite files, made from what the readers accept.

Each kind of value brings its schema. A type of check that does not name its parameters is not
restricted: the schema then refuses less than the reader, never more.

Promise: what a schema refuses, the reader refuses. The reverse holds as far as a schema can say it;
it cannot compare values with one another (ids given twice, a phase against an id, counts that
contradict), follow names (templates, variables, inherited rules), or look into texts (patterns,
commands, paths), and knows nothing of the check types' own words on parameters taken together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.composite import FILE
from pytest_reflex.checks.content import KINDS as CONTENT
from pytest_reflex.checks.options import REQUIRED, ParameterType
from pytest_reflex.checks.structure.check import form_of
from pytest_reflex.criteria.load import INLINE_KEYS, SUITE_KEYS, TEMPLATE_KEYS
from pytest_reflex.criteria.rule_keys import OFF, READERS, SEVERITIES
from pytest_reflex.criteria.sample_keys import KINDS as KINDS_OF_SAMPLES
from pytest_reflex.criteria.sample_keys import MOST_FILES, PATH
from pytest_reflex.errors import UsageError, did_you_mean
from pytest_reflex.fixes.registry import KINDS as FIXES
from pytest_reflex.model.enums import Level
from pytest_reflex.model.rules import NOT

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.model.targets import CheckType


Schema = dict[str, Any]

VARIABLE: Schema = {"$ref": "#/$defs/variable"}

_TYPES: dict[type, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 1},
    dict: {
        "type": "object",
        "additionalProperties": {"anyOf": [{"type": "string", "pattern": "^(?!-)"}, VARIABLE]},
    },
}


def value_schema(kind: ParameterType) -> Schema:
    """Return the schema of a kind of value, with its words as the description."""
    return {"description": kind.words, **kind.schema}


def check_schemas(check_type: CheckType) -> list[Schema]:
    """Return a schema for each form that a check of this type may have."""
    name = check_type.name
    if own := getattr(check_type, "schema", None):
        return [{**own, "properties": {**_of_checks(name), **own["properties"]}}]
    forms: Iterable[Mapping[str, ParameterType]] = getattr(check_type, "forms", None) or [
        getattr(check_type, "parameters", {})
    ]
    return [_form(name, kinds) for kinds in forms]


def _form(name: str, kinds: Mapping[str, ParameterType]) -> Schema:
    """Return the schema of a check with these parameters; of none, nothing is known of them."""
    if not kinds:
        return {"properties": {"type": {"const": name}}, "required": ["type"]}
    needed = [key for key, kind in kinds.items() if kind.default == REQUIRED]
    return _closed_schema(name, {key: _parameter(kind) for key, kind in kinds.items()}, needed)


def condition_schemas() -> list[Schema]:
    """Return a schema for each form of a condition: a check without its type."""
    content = {key: _parameter(kind) for key, kind in CONTENT.items()}
    file = {key: _parameter(kind) for key, kind in FILE.parameters.items()}
    path = {key: _parameter(kind) for key, kind in form_of("path").items()}
    return [_object(path, ["path"]), _object(content, ["search"]), _object(file, ["file"])]


def fix_schema() -> Schema:
    """Return the schema of one fix: exactly one kind, and perhaps `safe`."""
    kinds = {}
    for name, kind in FIXES.items():
        fields = {}
        for key, one in kind.fields.items():
            choices: Schema = {"enum": list(one.choices)} if one.choices else {}
            filled: Schema = {"pattern": r"\S"} if one.filled else {}
            written = {**_TYPES.get(one.type, {}), **choices, **filled}
            fields[key] = {"anyOf": [written, VARIABLE]} if written else {}
        required = [key for key, one in kind.fields.items() if one.required]
        kinds[name] = _object(fields, required)
    properties = {**kinds, "safe": {"type": "boolean"}}
    return {**_object(properties), "oneOf": [{"required": [name]} for name in kinds]}


def samples_schema() -> Schema:
    """Return the schema of the samples of a rule: texts, files with names, folders."""
    path: Schema = {"type": "string", "pattern": PATH}
    text: Schema = {"type": "string"}
    folder: Schema = {
        "type": "object",
        "propertyNames": path,
        "additionalProperties": text,
        "maxProperties": MOST_FILES,
        "description": "the texts of the files of a folder, by their paths in it",
    }
    path = {**path, "description": "a relative path: checks look at the name"}
    file = _object({"file": path, "text": text}, ["file", "text"])
    one: Schema = {"anyOf": [text, file, _object({"files": folder}, ["files"])]}
    said = {"good": "artifacts that the rule passes", "bad": "artifacts that it fails"}
    many = [one, {"type": "array", "items": one}, {"type": "null"}]
    return _object({kind: {"description": said[kind], "anyOf": many} for kind in KINDS_OF_SAMPLES})


def _closed_schema(name: str, properties: Mapping[str, Schema], required: list[str]) -> Schema:
    """Return the schema of a check that has these parameters and no others."""
    return _object({**_of_checks(name), **properties}, ["type", *required])


def _of_checks(name: str) -> dict[str, Schema]:
    """Return the keys that every check of a type may have."""
    return {
        "type": {"const": name},
        "expected": {"type": "string", "description": "what is wanted, for readers"},
        "rule_id": {"type": "string"},
        "group": {
            "type": "string",
            "pattern": r"^\w[\w.-]*$",
            "maxLength": 100,
            "description": "checks of one group never run in parallel",
        },
    }


def _parameter(kind: ParameterType) -> Schema:
    table = [_object({k: _parameter(one) for k, one in kind.inside.items()})] if kind.inside else []
    value = [value_schema(kind)] if kind.schema or not table else []
    return {**_parameter_schema(kind), "anyOf": [*value, *table, VARIABLE]}


def _parameter_schema(kind: ParameterType) -> Schema:
    """Return what a parameter means, in the words of the reference."""
    if not kind.help:
        return {}
    default = f"; default: {kind.default}" if kind.default not in ("", REQUIRED) else ""
    return {"description": kind.help + default}


def _object(properties: Mapping[str, Schema], required: list[str] | None = None) -> Schema:
    found: Schema = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    return {**found, "required": required} if required else found


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
    keys = _shared_schemas() | {
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
    keys = _shared_schemas() | {
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


def _shared_schemas() -> dict[str, Schema]:
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
