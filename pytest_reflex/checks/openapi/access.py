"""Whether an OpenAPI document says who may call its operations, where that is limited at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.openapi.document import (
    ApiDocument,
    Operation,
    Spot,
    items,
    table,
)
from pytest_reflex.model.plain import counted

_CREDENTIAL = re.compile(
    r"(?:proxy-?)?authorization|(?:x[-_])?(?:\w+[-_])?(?:api|auth|access|subscription)[-_]?(?:key|token)"
    r"|x-auth\w*|bearer",
    re.IGNORECASE,
)
"""Names of parameters that carry what a caller proves himself with."""

_SAYS_LIMITED = re.compile(
    r"\bapi[ _-]?keys?\b|\bauthenticat(?:e|es|ed|ion)\b|\bbearer\b|\boauth\b|\bunauthori[sz]ed\b"
    r"|\b(?:access|auth|authorization|personal|secret|session) tokens?\b|\bauthorization header\b"
    r"|\b(?:must|need to|have to) be (?:logged|signed) in\b"
    r"|\b(?:requires?|needs?|with|pass|send)(?: an?| the| your)? (?:token|login|credentials)\b",
    re.IGNORECASE,
)
_SAYS_PUBLIC = re.compile(
    r"\b(?:no|not|without|needn't|unauthenticated|publicly|public)\b[^.\n]{0,40}"
    r"\b(?:authenticat\w*|authori[sz]\w*|keys?|tokens?|accessible|login)\b",
    re.IGNORECASE,
)
_OPEN_TO_ALL = re.compile(
    r"\.well-known|health\w*|livez|readyz|liveness|readiness|ping|status|version|info|metrics|login"
    r"|logout|sign-?in|sign-?up|signin|signup|register|token|oauth2?|openapi(?:\.\w+)?|docs",
    re.IGNORECASE,
)
"""Parts of paths that callers reach before they have proved who they are."""


def auth(api: ApiDocument) -> Report:
    """Find operations under `paths` without declared security, and schemes that are not defined.

    An empty list, or an empty requirement in one, declares an operation public. Where no operation
    names a scheme, nothing in the document says that callers have to prove who they are, and none
    of it changes what others read, it is taken for the interface of a public service. Beside
    operations that are secured, those that callers need first (`/login`, `/health`, `/.well-known`)
    may be silent.
    """
    found = api.operations("paths")
    findings = list(_undefined(api, found))
    silent = [op for op in found if _security(api, op).node is None]
    secured = any(any(_schemes(_security(api, op).node)) for op in found)
    limited = secured or _says_limited(api, silent)
    if limited:
        findings += [
            api.finding(f"{op.label} declares no security", op.spot)
            for op in silent
            if not _is_open(op)
        ]
    schemes = api.root.child("components").child("securitySchemes").table
    if findings and not schemes:
        missing = api.finding("components.securitySchemes defines no scheme", api.root)
        findings.insert(0, missing)
    if silent and not limited:
        public = "no operation needs a scheme, changes anything or says that access is limited: "
        return Report(findings, public + "it is taken for public")
    return Report(findings, f"{counted(len(found), 'operation')}, each with declared security")


def _security(api: ApiDocument, op: Operation) -> Spot:
    own = op.spot.child("security")
    return api.root.child("security") if own.node is None else own


def _undefined(api: ApiDocument, operations: list[Operation]) -> Iterator[Finding]:
    schemes = api.root.child("components").child("securitySchemes").table
    for op in operations:
        spot = _security(api, op)
        for scheme in _schemes(spot.node):
            if scheme not in schemes:
                message = f"{op.label} needs the security scheme {scheme!r}, which is not defined"
                yield api.finding(message, spot)


def _schemes(security: Any) -> Iterator[str]:
    for requirement in items(security):
        yield from table(requirement)


def _says_limited(api: ApiDocument, operations: list[Operation]) -> bool:
    """Return whether anything shows that callers have to prove who they are."""
    if api.root.child("components").child("securitySchemes").table:
        return True
    if _speaks_of_it(api.root.child("info")):
        return True
    return any(
        _changes(api, op)
        or _refuses(api, op)
        or _takes_credential(api, op)
        or _speaks_of_it(op.spot)
        for op in operations
        if not _is_open(op)
    )


def _speaks_of_it(spot: Spot) -> bool:
    texts = [spot.table.get(key) for key in ("summary", "description")]
    return any(
        isinstance(text, str) and _SAYS_LIMITED.search(_SAYS_PUBLIC.sub("", text)) for text in texts
    )


def _changes(api: ApiDocument, op: Operation) -> bool:
    """Return whether it makes, changes or removes something, which few let everybody do."""
    makes = op.method == "post" and any(status == "201" for status, _ in api.responses(op))
    return makes or op.method in ("put", "patch", "delete")


def _refuses(api: ApiDocument, op: Operation) -> bool:
    return any(status in ("401", "403", "407") for status, _ in api.responses(op))


def _takes_credential(api: ApiDocument, op: Operation) -> bool:
    return any(
        _CREDENTIAL.fullmatch(str(parameter.table.get("name", "")))
        for parameter in api.parameters(op)
        if parameter.table.get("in") in ("header", "query", "cookie")
    )


def _is_open(op: Operation) -> bool:
    return any(_OPEN_TO_ALL.fullmatch(part) for part in op.path.split("/"))
