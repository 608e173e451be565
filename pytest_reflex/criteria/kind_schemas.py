"""What the parameters of checks and fixes may hold, as JSON Schema.

A kind of value is told by its words. Where the words are not known here, nothing is restricted:
the schema then refuses less than the reader, never more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.options import REQUIRED, Kind
from pytest_reflex.checks.structure import COMMON, KINDS, StructureCheck, kind_of
from pytest_reflex.criteria.sample_keys import KINDS as KINDS_OF_SAMPLES
from pytest_reflex.criteria.sample_keys import MOST_FILES, PATH
from pytest_reflex.fixes.registry import KINDS as FIXES
from pytest_reflex.model.rules import CheckSpec

if TYPE_CHECKING:
    from pytest_reflex.model.targets import CheckType

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
VARIABLE: Schema = {"$ref": "#/$defs/variable"}

_EXACT: dict[str, Schema] = {
    "true or false": {"type": "boolean"},
    "false": {"const": False},
    "a non-empty string": TEXT,
    "a non-empty string, or a list of them": {
        "anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]
    },
    "a whole number >= 0": {"type": "integer", "minimum": 0},
    "a whole number above 0": {"type": "integer", "minimum": 1},
    "a number of words above 0": {"type": "number", "exclusiveMinimum": 0},
    "a command for the shell, or a list of program and arguments": {
        "anyOf": [TEXT, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
    },
    "json, yaml or toml": {"enum": ["json", "yaml", "toml"]},
    "stdout or stderr": {"enum": ["stdout", "stderr"]},
    "true, or a table": {"const": True},
    "a mapping to error, warning, note or ignore": {
        "type": "object",
        "additionalProperties": {"enum": ["error", "warning", "note", "ignore"]},
    },
    "a whole number >= 0, or a mapping of error, warning, note or all to one": {
        "anyOf": [
            {"type": "integer", "minimum": 0},
            {
                "type": "object",
                "propertyNames": {"enum": ["error", "warning", "note", "all"]},
                "additionalProperties": {"type": "integer", "minimum": 0},
                "minProperties": 1,
            },
        ]
    },
    "a mapping of message, and perhaps rule, level, file, line and column, to paths": {
        "type": "object",
        "propertyNames": {"enum": ["message", "rule", "level", "file", "line", "column"]},
        "additionalProperties": TEXT,
        "required": ["message"],
    },
}
_FROM_TO = re.compile(r"(?:a whole number|an exit status) from (\d+) to (\d+)")
_ABOVE = re.compile(r"a number of seconds above (\d+), at most (\d+)")
_ONE_OF = re.compile(r"one of ([\w-]+(?:, [\w-]+)*)")
_NEEDED = re.compile(r"needs the key '(\w+)'")
_TYPES: dict[type, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 1},
    dict: {
        "type": "object",
        "additionalProperties": {"anyOf": [{"type": "string", "pattern": "^(?!-)"}, VARIABLE]},
    },
}


def value_schema(kind: Kind) -> Schema:
    """Return the schema of a kind of value, with its words as the description."""
    described: Schema = {"description": kind.words}
    if kind.choices:
        told = ({"const": word, "description": said} for word, said in kind.choices.items())
        return {**described, "anyOf": list(told)}
    if kind.words in _EXACT:
        return {**described, **_EXACT[kind.words]}
    if found := _FROM_TO.fullmatch(kind.words):
        bounds = {"minimum": int(found[1]), "maximum": int(found[2])}
        return {**described, "type": "integer", **bounds}
    if found := _ABOVE.fullmatch(kind.words):
        bounds = {"exclusiveMinimum": int(found[1]), "maximum": int(found[2])}
        return {**described, "type": "number", **bounds}
    if found := _ONE_OF.fullmatch(kind.words):
        return {**described, "enum": found[1].split(", ")}
    return described


def check_schemas(check_type: CheckType) -> list[Schema]:
    """Return a schema for each form that a check of this type may have."""
    name = check_type.name
    if isinstance(check_type, StructureCheck):
        return [_structure(name, key) for key in KINDS]
    kinds = getattr(import_module(type(check_type).__module__), "KINDS", {})
    if not kinds or not all(isinstance(kind, Kind) for kind in kinds.values()):
        return [{"properties": {"type": {"const": name}}, "required": ["type"]}]
    found = check_type.problems(CheckSpec(type=name, params={}))
    needed = [match[1] for one in found if (match := _NEEDED.search(one.message))]
    return [_closed(name, {key: _parameter(kind) for key, kind in kinds.items()}, needed)]


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


def _structure(name: str, key: str) -> Schema:
    kind = kind_of(key)
    forms: list[Schema] = [VARIABLE]
    if kind.value:
        forms.append(value_schema(kind.value))
    if kind.inside:
        forms.append(_object({inner: _parameter(one) for inner, one in kind.inside.items()}))
    beside = {**COMMON, **kind.beside}
    properties = {key: {**_meaning(kind.value), "anyOf": forms}}
    properties |= {other: _parameter(one) for other, one in beside.items()}
    return _closed(name, properties, [key])


def _closed(name: str, properties: Mapping[str, Schema], required: list[str]) -> Schema:
    """Return the schema of a check that has these parameters and no others."""
    common: dict[str, Schema] = {
        "type": {"const": name},
        "expected": {"type": "string", "description": "what is wanted, for readers"},
        "rule_id": {"type": "string"},
    }
    return _object({**common, **properties}, ["type", *required])


def _parameter(kind: Kind) -> Schema:
    return {**_meaning(kind), "anyOf": [value_schema(kind), VARIABLE]}


def _meaning(kind: Kind | None) -> Schema:
    """Return what a parameter means, in the words of the reference."""
    if kind is None or not kind.help:
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
