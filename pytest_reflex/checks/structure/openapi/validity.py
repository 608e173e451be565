"""Whether an OpenAPI document is valid, through openapi-spec-validator (extra `openapi`).

Promises: nothing is fetched or opened (a reference to another document is itself the finding), and
no pattern of the document is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pytest_reflex.checks.finding import MOST_FINDINGS, Finding, Report, lacking
from pytest_reflex.checks.openapi.meaning import faults_in
from pytest_reflex.checks.structure.openapi.defaults import fault_of
from pytest_reflex.checks.structure.openapi.document import ApiDocument, Pointer, Spot
from pytest_reflex.contracts.validate import pointer
from pytest_reflex.errors import ArtifactError

MAX_NODES = 1_000_000


def valid(api: ApiDocument) -> Report:
    """Find what makes the document invalid under its own version of the specification."""
    version = api.root.table.get("openapi")
    if not isinstance(version, str):
        message = f'openapi must be a text such as "3.1.0", not {version!r}'
        return Report([api.finding(message, api.root.child("openapi"))])
    references = list(islice(_bad_references(api), MOST_FINDINGS))
    if references:
        return Report(references)
    if lack := lacking("openapi_spec_validator"):
        return lack
    return Report(list(_errors(api, version)), f"valid OpenAPI {version}")


def _bad_references(api: ApiDocument) -> Iterator[Finding]:
    """Find references that lead out of the document or nowhere: the library says less of them."""
    nodes = list(_nodes(api))
    rebased = any(isinstance(spot.table.get("$id"), str) for spot in nodes)
    for spot in nodes:
        reference = spot.table.get("$ref")
        if not isinstance(reference, str):
            continue
        if not reference.startswith("#"):
            message = f"$ref to another document is not followed: {reference!r}; bundle it into one"
            yield api.finding(message, spot.child("$ref"))
        elif reference.startswith("#/") and not rebased and api.resolve(spot).node is None:
            yield api.finding(f"$ref leads nowhere: {reference!r}", spot.child("$ref"))


def _nodes(api: ApiDocument) -> Iterator[Spot]:
    stack, seen = [api.root], set[int]()
    while stack:
        spot = stack.pop()
        if not isinstance(spot.node, dict | list) or id(spot.node) in seen:
            continue
        seen.add(id(spot.node))
        if len(seen) > MAX_NODES:
            raise ArtifactError(
                f"the OpenAPI document has more than {MAX_NODES:,} nodes: too large to validate",
                hint="split it, or use an executable check",
            )
        yield spot
        entries = spot.node.items() if isinstance(spot.node, dict) else enumerate(spot.node)
        stack += [
            Spot(node, (*spot.pointer, key))
            for key, node in entries
            if key not in ("example", "examples", "default", "enum", "const")
        ]


def _errors(api: ApiDocument, version: str) -> Iterator[Finding]:
    from openapi_spec_validator.shortcuts import get_validator_cls
    from openapi_spec_validator.validation.exceptions import ValidatorDetectError

    document = api.data.value
    try:
        kind = get_validator_cls(document)
        by_schema = list(islice(kind.schema_validator.iter_errors(document), MOST_FINDINGS))
        yield from (_placed(api, *fault_of(error)) for error in by_schema)
        if not by_schema:
            found = islice(faults_in(api, version), MOST_FINDINGS)
            yield from (_placed(api, *fault) for fault in found)
    except ValidatorDetectError:
        message = f"openapi {version!r} is not a known version; 3.0, 3.1 and 3.2 are"
        yield api.finding(message, api.root.child("openapi"))
    except RecursionError:
        raise ArtifactError(
            "the OpenAPI document is nested too deeply to validate",
            hint="flatten it, or use an executable check",
        ) from None
    except ArtifactError:
        raise
    except Exception as error:
        # A document that is right by the schema may still surprise the library.
        reason = f"{type(error).__name__}: {error}"
        yield Finding(f"the OpenAPI validator cannot follow the document: {reason}", 1)


def _placed(api: ApiDocument, message: str, path: Pointer) -> Finding:
    return api.finding(f"#{pointer(path) or '/'}: {message}", Spot(None, path))
