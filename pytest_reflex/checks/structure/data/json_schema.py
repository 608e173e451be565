"""`json_schema`: JSON, YAML or TOML is as a JSON Schema says."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, time
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.finding_at import column_in
from pytest_reflex.checks.options import REQUIRED, TEXT, Kind
from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.checks.schema.usable import LONGEST, asks_for_nothing, schema_text
from pytest_reflex.checks.structure.data.path import LANGUAGE
from pytest_reflex.checks.structure.data.source import data_in
from pytest_reflex.checks.structure_kind import Judge, StructureKind
from pytest_reflex.contracts.validate import pointer
from pytest_reflex.errors import ArtifactError, CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.text import paths
from pytest_reflex.text.data import LANGUAGES, Data, read_data
from pytest_reflex.text.lines import DataSyntaxError

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
        raise ArtifactError(f"it cannot be held against a schema: {error}") from None
    for fault in SCHEMAS.faults(schema, value):
        line, column = document.position(fault.path)
        column = column_in(artifact.text, document, line, column)
        where = paths.render(fault.path) or "the document"
        yield Finding(
            f"{where}: {fault.message}", line, column, pointer(fault.path), pattern=fault.pattern
        )


def inlined(spec: CheckSpec) -> CheckSpec:
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
    value=Kind(
        "a schema, or the path of its file seen from the criteria",
        lambda value: isinstance(value, Mapping | bool) or (isinstance(value, str) and value != ""),
        schema={"anyOf": [{"type": ["object", "boolean"]}, TEXT.schema]},
    ).means("the schema itself, or a JSON, YAML or TOML file that holds it", REQUIRED),
    beside={"block": LANGUAGE},
    whole=True,
    forbids=_forbids,
)
