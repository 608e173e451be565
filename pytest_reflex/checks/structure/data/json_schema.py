"""`json_schema`: JSON, YAML or TOML is valid by a JSON Schema, which itself has to be usable."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, time
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, cast

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import REQUIRED, TEXT, ParameterType
from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.checks.structure.check import Judge, StructureKind
from pytest_reflex.checks.structure.data.path import LANGUAGE
from pytest_reflex.checks.structure.data.source import column_in, data_in
from pytest_reflex.contracts.validate import pointer
from pytest_reflex.errors import ArtifactError, CriteriaError, Problem, nearest_word, suggest
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.text import paths
from pytest_reflex.text.data import LANGUAGES, Data, read_data
from pytest_reflex.text.lines import DataSyntaxError

LONGEST = 1_000_000  # characters of JSON
MAX_DEPTH = 60
_ANNOTATIONS = (
    "title",
    "description",
    "default",
    "examples",
    "$schema",
    "$id",
    "$comment",
    "$defs",
)


def asks_for_nothing(schema: Any) -> str:
    """Return why every document keeps a schema: no word of it is one of JSON Schema's; else ""."""
    from jsonschema import Draft202012Validator

    if not isinstance(schema, Mapping) or set(schema) & {"$ref", "$dynamicRef", "dependencies"}:
        return ""
    known = Draft202012Validator.VALIDATORS
    if set(schema) & {*known, "divisibleBy", "extends", "disallow", "additionalItems"}:
        return ""
    words = [word for word in schema if word not in _ANNOTATIONS]
    near = next(filter(None, (nearest_word(word, known) for word in words)), "")
    hint = suggest(near)
    return "it asks for nothing, so that it cannot fail" + (f": {hint}" if hint else "")


def schema_text(schema: Any) -> str:
    """Return a schema as JSON text; raises ValueError with a sentence on why it cannot be used.

    Nothing is ever fetched: a `$ref` has to lead to a place in the schema itself, or to a
    meta-schema of JSON Schema.
    """
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False, default=_plain)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if len(text) > LONGEST:
        raise ValueError(f"{len(text):,} characters, the limit is {LONGEST:,}")
    if fault := _fault(text):
        raise ValueError(fault)
    return text


@lru_cache(maxsize=64)
def _fault(text: str) -> str:
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for

    schema = json.loads(text)
    if _depth(schema) > MAX_DEPTH:
        return f"nested deeper than {MAX_DEPTH} levels"
    named = schema.get("$schema") if isinstance(schema, dict) else None
    kind: Any = Draft202012Validator
    if named is not None:
        kind = validator_for(schema, default=cast(Any, None))
    if kind is None:
        return f"$schema {one_line(repr(named), 80)} names no draft that is known here"
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        return f"it is not a valid schema: {one_line(error.message, 160)}" + (
            f" (at {where})" if where else ""
        )
    except RecursionError:
        return f"nested deeper than {MAX_DEPTH} levels"
    return next(_bad_references(schema, str(kind.META_SCHEMA["$schema"])), "")


def _bad_references(schema: Any, draft: str) -> Iterator[str]:
    """Yield what is wrong with each reference that does not lead anywhere."""
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import specification_with

    root = specification_with(draft).create_resource(schema)
    stack = [(root, REGISTRY.resolver_with_root(root))]
    while stack:
        resource, resolver = stack.pop()
        contents = resource.contents
        for key in ("$ref", "$dynamicRef"):
            reference = contents.get(key) if isinstance(contents, dict) else None
            if not isinstance(reference, str):
                continue
            try:
                resolver.lookup(reference)
            except (Unresolvable, ValueError):
                own = reference.startswith("#")
                why = "leads nowhere" if own else "is in no part of this schema; nothing is fetched"
                yield f"{key} {one_line(repr(reference), 80)} {why}"
        stack += [(part, resolver.in_subresource(part)) for part in resource.subresources()]


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [v for v in level if isinstance(v, dict | list)]:
        depth += 1
        level = [v for c in level for v in (c.values() if isinstance(c, dict) else c)]
    return depth


def _plain(value: Any) -> Any:
    """Return a mapping or sequence of the criteria's own kind as a dict or list."""
    if hasattr(value, "keys"):
        return dict(value)
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__}")


KEY = "json_schema"


def _make(params: Mapping[str, Any]) -> Judge:
    value = params[KEY]
    if isinstance(value, str):
        value = _read(Path(value))
    if value in (True, {}):
        raise ValueError("it asks for nothing, so that it cannot fail")
    schema, language = schema_text(value), params.get("block")
    if nothing := asks_for_nothing(value):
        raise ValueError(nothing)

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        source = data_in(artifact, language)
        if not source.documents:
            return source.nothing(language)
        found = [*source.faults]
        for document in source.documents:
            faults = _faults(document, schema, artifact)
            found += sorted(faults, key=lambda fault: (fault.line, fault.column))
        count = len(source.documents)
        return Report(found, "valid" if count == 1 else f"{count} documents are valid")

    return judge


def _faults(document: Data, schema: str, artifact: Artifact) -> Iterator[Finding]:
    from pytest_reflex.checks.structure.data.schema_process import SCHEMAS

    try:
        value = json.dumps(document.value, default=_spelt)
    except ValueError as error:  # a whole number with more digits than Python converts
        raise ArtifactError(f"it cannot be validated against a schema: {error}") from None
    for fault in SCHEMAS.faults(schema, value):
        line, column = document.position(fault.path)
        column = column_in(artifact.text, document, line, column)
        where = paths.render(fault.path) or "the document"
        yield Finding(
            f"{where}: {fault.message}", line, column, pointer(fault.path), pattern=fault.pattern
        )


def inline_schema(spec: CheckSpec) -> CheckSpec:
    """Return the check with the schema itself where it named a file, seen from the criteria's.

    So the schema is a part of the rule: sealed, recorded, and there when a run goes on elsewhere.
    Raises CriteriaError where the file cannot be read.
    """
    named = spec.params.get(KEY)
    if not isinstance(named, str) or not named or spec.place is None:
        return spec
    path = Path(os.path.dirname(spec.place.path), named)
    try:
        return replace(spec, params={**spec.params, KEY: _read(path)})
    except ValueError as error:
        problem = Problem(message=f"{KEY}: {error}", place=spec.place, path=(KEY,))
        raise CriteriaError([problem]) from None


def _read(path: Path) -> Any:
    """Return the schema in a file; raises ValueError with a sentence on why there is none."""
    language = LANGUAGES.get(PurePath(path).suffix.lower().removeprefix("."), "json")
    try:
        documents = read_data(read_artifact(path, limit=LONGEST).text, language)
    except (ArtifactError, DataSyntaxError) as error:
        raise ValueError(f"{path}: {error}") from None
    if len(documents) != 1 or not isinstance(documents[0].value, dict | bool):
        raise ValueError(f"{path} holds no schema: one mapping is wanted")
    return documents[0].value


def _spelt(value: Any) -> str:
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _forbids(params: Mapping[str, Any]) -> bool:
    """Return whether a schema says only what must not be there."""
    schema = params[KEY]
    return isinstance(schema, Mapping) and "not" in schema and _SAYS_NOTHING.issuperset(schema)


_SAYS_NOTHING = frozenset(
    {"not", "$schema", "$id", "$comment", "$defs", "definitions", "title", "description"}
)
KIND = StructureKind(
    key=KEY,
    make=_make,
    value=ParameterType(
        "a schema, or the path of its file seen from the criteria",
        lambda value: isinstance(value, Mapping | bool) or (isinstance(value, str) and value != ""),
        schema={"anyOf": [{"type": ["object", "boolean"]}, TEXT.schema]},
    ).means("the schema itself, or a JSON, YAML or TOML file that holds it", REQUIRED),
    beside={"block": LANGUAGE},
    whole=True,
    forbids=_forbids,
)
