"""Whether an OpenAPI document is valid, through openapi-spec-validator (extra `openapi`).

Promises: nothing is fetched or opened (a reference to another document is itself the finding), and
no pattern of the document is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.openapi.document import ApiDocument, Pointer, Spot
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.extras import missing

MAX_NODES = 200_000
MAX_FINDINGS = 20
_NAMED_OPERATION = re.compile(r"'(?P<method>[a-z]+)'(?: operation)? in '(?P<path>/[^']*)'")


def valid(api: ApiDocument) -> Report:
    """Find what makes the document invalid under its own version of the specification."""
    version = api.root.table.get("openapi")
    if not isinstance(version, str):
        message = f'openapi must be a text such as "3.1.0", not {version!r}'
        return Report([Finding(message, api.line(api.root.child("openapi")))])
    references = list(islice(_bad_references(api), MAX_FINDINGS))
    if references:
        return Report(references)
    if why := missing("openapi_spec_validator"):
        return Report(unmeasured=why)
    return Report(list(_errors(api, version)), f"valid OpenAPI {version}")


def _bad_references(api: ApiDocument) -> Iterator[Finding]:
    """Find references that lead out of the document or nowhere: the library says less of them."""
    nodes = list(_nodes(api))
    rebased = any(isinstance(spot.table.get("$id"), str) for spot in nodes)
    for spot in nodes:
        reference = spot.table.get("$ref")
        if not isinstance(reference, str):
            continue
        line = api.line(spot.child("$ref"))
        if not reference.startswith("#"):
            message = f"$ref to another document is not followed: {reference!r}; bundle it into one"
            yield Finding(message, line)
        elif reference.startswith("#/") and not rebased and api.resolve(spot).node is None:
            yield Finding(f"$ref leads nowhere: {reference!r}", line)


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
    from openapi_spec_validator.validation.exceptions import ValidatorDetectError

    try:
        for error in _errors_of_the_library(_without_patterns(api.data.value)):
            yield _finding(api, error)
    except ValidatorDetectError:
        line = api.line(api.root.child("openapi"))
        yield Finding(f"openapi {version!r} is no known version; 3.0, 3.1 and 3.2 are", line)
    except RecursionError:
        raise ArtifactError(
            "the OpenAPI document is nested too deeply to validate",
            hint="flatten it, or use an executable check",
        ) from None
    except ArtifactError:
        raise
    except Exception as error:
        # A document that is right by the schema may still surprise the library's own walk.
        reason = f"{type(error).__name__}: {error}"
        yield Finding(f"the OpenAPI validator cannot follow the document: {reason}", 1)


def _errors_of_the_library(document: Any) -> Iterator[Any]:
    """Yield errors against the schema of OpenAPI; where there are none, those of its meaning.

    `iter_errors` of the library would do both, and keep every document for ever in its cache.
    """
    from jsonschema_path import SchemaPath
    from openapi_spec_validator.shortcuts import get_validator_cls

    handlers = dict.fromkeys(("", "http", "https", "file", "ftp", "data"), _refuse)
    kind = get_validator_cls(document)
    path = SchemaPath.from_dict(document, handlers=handlers)
    validator = kind(path)
    found = list(islice(kind.schema_validator.iter_errors(document), MAX_FINDINGS))
    yield from found or islice(validator.root_validator(path), MAX_FINDINGS)


def _finding(api: ApiDocument, error: Any) -> Finding:
    while error.context:
        # Of a choice that nothing fits, the nearest fault says more than the choice.
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    path = _located(api, tuple(error.absolute_path), error)
    where = "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in path)
    message = str(error.message)
    shown = repr(error.instance) if isinstance(error.instance, dict | list) else ""
    message = message.replace(shown, "it") if len(shown) > 60 else message
    return Finding(f"#/{where}: {message}", api.data.line(path))


def _located(api: ApiDocument, path: Pointer, error: Any) -> Pointer:
    """Return the pointer of an error: of some the library gives it from a node within, or none."""
    if not path:
        named = _NAMED_OPERATION.search(error.message)
        return ("paths", named["path"], named["method"]) if named else ()
    for spot in _nodes(api):
        value, depth = spot.node, 0
        for step in path:
            if not (isinstance(value, dict) and step in value) and not (
                isinstance(value, list) and isinstance(step, int) and step < len(value)
            ):
                break
            value, depth = value[step], depth + 1
        if depth == len(path) and value == error.instance:
            return (*spot.pointer, *path)
    return path


def _without_patterns(value: Any) -> Any:
    """Return a copy in which no schema has a `pattern`: a pattern may run for ever."""
    if isinstance(value, dict):
        return {
            key: _without_patterns(inner)
            for key, inner in value.items()
            if not (key == "pattern" and isinstance(inner, str)) and key != "patternProperties"
        }
    return [_without_patterns(inner) for inner in value] if isinstance(value, list) else value


def _refuse(uri: str) -> NoReturn:
    raise ArtifactError(f"a reference to another document is not followed: {uri}")
