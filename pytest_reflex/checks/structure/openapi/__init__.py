"""`openapi`: a document is valid OpenAPI 3, or one aspect of it is as it should be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import aspect_of
from pytest_reflex.checks.structure.check import Judge, StructureKind
from pytest_reflex.checks.structure.data.source import blocks_in, data_in, finding_at, whole_text
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.openapi.conventions import auth, check_naming
from pytest_reflex.checks.structure.openapi.document import ApiDocument, Operation
from pytest_reflex.checks.structure.openapi.operations import (
    descriptions,
    errors,
    examples,
    operations,
    pagination,
    schemas,
)
from pytest_reflex.checks.structure.openapi.validity import valid
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.text.data import refuse_large

ASPECTS: dict[str, tuple[str, Callable[[ApiDocument], Report]]] = {
    "valid": ("what makes the document invalid by its version: 3.0, 3.1 or 3.2", valid),
    "operations": (
        "no operation under `paths` or `webhooks`, or one without responses",
        operations,
    ),
    "schemas": ("a JSON body without a schema", schemas),
    "examples": (
        "a JSON request body, or JSON body of a 2xx response, without an example",
        examples,
    ),
    "errors": ("an operation under `paths` without a 4xx, 5xx or default response", errors),
    "naming": (
        "names that leave the style of their kind; an operationId that is not an identifier",
        check_naming,
    ),
    "pagination": ("a GET that returns a list without a way to its next part", pagination),
    "auth": (
        "an operation without declared security where access is limited; an undefined scheme",
        auth,
    ),
    "descriptions": (
        "operations and parameters without words; placeholders in any description",
        descriptions,
    ),
}
"""What may be looked at: what it finds, in words, and who finds it."""
_OF_DOCUMENTS = ("valid", "operations", "schemas")
"""What is checked of a document without operations too; a rule has `schemas` beside `valid`."""
OPENAPI = "OpenAPI"
_OF_BODIES = ("schemas", "examples", "pagination")
_LANGUAGES = ("", "yaml", "yml", "json", "openapi")
_SAYS_OPENAPI = re.compile(
    r"""^[ \t]*["']?(?:openapi|swagger)["']?[ \t]*:|[{,]\s*["'](?:openapi|swagger)["']\s*:""",
    re.MULTILINE,
)
_WHOLE = (".yaml", ".yml", ".json")


def _make(params: Mapping[str, Any]) -> Judge:
    name = params["openapi"]
    _, aspect = ASPECTS[name]

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        found = openapi_in(artifact)
        if isinstance(found, Report):
            return replace(found, unmeasured="") if name == "operations" else found
        reports = [aspect(document) for document in found]
        findings = [finding for report in reports for finding in report.findings]
        unmeasured = next((report.unmeasured for report in reports if report.unmeasured), "")
        needs = next((report.needs for report in reports if report.needs), "")
        if not findings and not any(map(partial(_is_about, name), found, reports)):
            unmeasured = f"there is no operation for {name} to look at"
        elif not findings and name in _OF_BODIES and (silent := _silent(found)):
            unmeasured = f"{silent.label} has no responses to look at"
        return Report(findings, reports[0].summary, unmeasured, needs=needs)

    return judge


def _silent(documents: list[ApiDocument]) -> Operation | None:
    """Return an operation without a response, where no other has a JSON body either.

    Nothing is left to look at then, and what was wrong there must not count as fixed.
    """
    every = [(api, op) for api in documents for op in api.operations()]
    if any(next(api.json_bodies(op, errors=True), None) for api, op in every):
        return None
    return next((op for api, op in every if not api.responses(op)), None)


def _is_about(name: str, document: ApiDocument, report: Report) -> bool:
    """Return whether a document has anything that an aspect could find a problem in."""
    if name == "naming" and report.summary:  # schemas of components have names too
        return True
    return name in _OF_DOCUMENTS or bool(document.operations())


def openapi_in(artifact: Artifact) -> list[ApiDocument] | Report:
    """Return the OpenAPI documents of an artifact, or the report that there is none to look at.

    They are the whole text, or else the fenced yaml and json blocks that hold the key `openapi`.
    """
    text = artifact.text
    refuse_large(text, OPENAPI)
    if not _SAYS_OPENAPI.search(text):
        return Report(
            [Finding("there is no OpenAPI document: no file or fenced block says `openapi`")],
            reading=OPENAPI,
        )
    around = ""
    named = PurePath(artifact.name).suffix.lower() in _WHOLE
    source = data_in(artifact) if named else whole_text(text)
    if not source.documents and not source.faults:
        source, around = blocks_in(text, _may_hold_it), text
    if not source.documents and not source.faults:
        source, around = whole_text(text, meant=True), ""
    if source.faults:
        return Report(source.faults, reading=source.reading).without_verdict()
    tables = [data for data in source.documents if isinstance(data.value, dict)]
    found = [ApiDocument(data, around) for data in tables if "openapi" in data.value]
    if found:
        return found
    if old := next((data for data in tables if "swagger" in data.value), None):
        message = f"this is Swagger {old.value['swagger']}; OpenAPI 3 is needed"
        old_one = finding_at(old, message, ("swagger",))
        return Report([old_one], reading=OPENAPI).without_verdict()
    message = "there is no OpenAPI document: the key `openapi` is not at its top"
    return Report([Finding(message, 1)], reading=OPENAPI)


def _may_hold_it(block: model.Block) -> bool:
    return block.language in _LANGUAGES and bool(_SAYS_OPENAPI.search(block.text))


KIND = StructureKind(
    key="openapi",
    make=_make,
    value=aspect_of(ASPECTS),
)
