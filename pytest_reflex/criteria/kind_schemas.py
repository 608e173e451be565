"""What the parameters of checks and fixes may hold, as JSON Schema.

Each kind of value brings its schema. A type of check that does not name its parameters is not
restricted: the schema then refuses less than the reader, never more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.composite import FILE
from pytest_reflex.checks.content import KINDS as CONTENT
from pytest_reflex.checks.options import REQUIRED, Kind
from pytest_reflex.checks.structure.check import form_of
from pytest_reflex.criteria.sample_keys import KINDS as KINDS_OF_SAMPLES
from pytest_reflex.criteria.sample_keys import MOST_FILES, PATH
from pytest_reflex.fixes.registry import KINDS as FIXES

if TYPE_CHECKING:
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


def value_schema(kind: Kind) -> Schema:
    """Return the schema of a kind of value, with its words as the description."""
    return {"description": kind.words, **kind.schema}


def check_schemas(check_type: CheckType) -> list[Schema]:
    """Return a schema for each form that a check of this type may have."""
    name = check_type.name
    if own := getattr(check_type, "schema", None):
        return [{**own, "properties": {**_of_checks(name), **own["properties"]}}]
    forms: Iterable[Mapping[str, Kind]] = getattr(check_type, "forms", None) or [
        getattr(check_type, "parameters", {})
    ]
    return [_form(name, kinds) for kinds in forms]


def _form(name: str, kinds: Mapping[str, Kind]) -> Schema:
    """Return the schema of a check with these parameters; of none, nothing is known of them."""
    if not kinds:
        return {"properties": {"type": {"const": name}}, "required": ["type"]}
    needed = [key for key, kind in kinds.items() if kind.default == REQUIRED]
    return _closed(name, {key: _parameter(kind) for key, kind in kinds.items()}, needed)


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


def _closed(name: str, properties: Mapping[str, Schema], required: list[str]) -> Schema:
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
            "description": "checks of one group never run beside each other",
        },
    }


def _parameter(kind: Kind) -> Schema:
    table = [_object({k: _parameter(one) for k, one in kind.inside.items()})] if kind.inside else []
    value = [value_schema(kind)] if kind.schema or not table else []
    return {**_meaning(kind), "anyOf": [*value, *table, VARIABLE]}


def _meaning(kind: Kind) -> Schema:
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
