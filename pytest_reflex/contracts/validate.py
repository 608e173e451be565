"""The JSON Schemas (draft 2020-12) that are shipped with the package, and a value held against one.

jsonschema is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError


import json
from pathlib import Path

from pytest_reflex.errors import UsageError, did_you_mean

_FOLDER = Path(__file__).parent / "schemas"
_ENDING = ".schema.json"


def names() -> list[str]:
    """Return the names of all schemas, sorted."""
    return sorted(path.name.removesuffix(_ENDING) for path in _FOLDER.glob(f"*{_ENDING}"))


def schema(name: str) -> dict[str, Any]:
    """Return a schema as a new object; raises UsageError for a name that there is not."""
    found: dict[str, Any] = json.loads(schema_text(name))
    return found


@lru_cache
def schema_text(name: str) -> str:
    """Return a schema as it is shipped; raises UsageError for a name that there is not."""
    if name not in names():
        raise UsageError(f"there is no schema {name!r}", hint=did_you_mean(name, names()))
    return (_FOLDER / f"{name}{_ENDING}").read_text(encoding="utf-8")


def plain_schema(name: str) -> dict[str, Any]:
    """Return a schema in the few words that every client's own option takes.

    Names of types and keys are all there, without limits of length and number: what comes is held
    against the whole schema.
    """
    whole = schema(name)
    return _plain(whole, whole.get("$defs", {}))


def _plain(node: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return _plain(named[node["$ref"].rpartition("/")[2]], named)
    found: dict[str, Any] = {"type": node.get("type", "string")}
    found |= {key: node[key] for key in _PLAIN if key in node}
    if "items" in node:
        found["items"] = _plain(node["items"], named)
    if "properties" in node:
        parts = node["properties"].items()
        found["properties"] = {key: _plain(part, named) for key, part in parts}
        found["additionalProperties"] = False
    return found


_PLAIN = ("enum", "description", "required")
MOST_PROBLEMS = 10
_LONGEST_MESSAGE = 300


def problems(name: str, value: Any) -> list[str]:
    """Return what is wrong with a value under the schema of that name, at most `MOST_PROBLEMS`.

    Each line starts with the JSON Pointer of the place; a fault of the whole has none.
    """
    found = []
    errors = sorted(
        _validator(name).iter_errors(value), key=lambda error: list(map(str, error.path))
    )
    for error in errors[:MOST_PROBLEMS]:
        message = _message(error)
        place = pointer(error.absolute_path)
        found.append(f"{place}: {message}" if place else message)
    return found


def _message(error: ValidationError) -> str:
    kind, wanted, value = error.validator, error.validator_value, cast(Any, error.instance)
    if kind in ("minItems", "maxItems"):
        bound = "at least" if kind == "minItems" else "at most"
        return f"has {len(value)} items, {bound} {wanted} are needed"
    if kind == "pattern" and wanted == "\\S":
        return "is empty"
    message = error.message
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:120]} ... {message[-120:]}"
    return message


def pointer(path: Sequence[str | int]) -> str:
    """Return a JSON Pointer (RFC 6901); empty for the whole document."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


@lru_cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    every = [Resource.from_contents(schema(each)) for each in names()]
    registry: Registry[Any] = Registry().with_resources(
        (str(resource.id()), resource) for resource in every
    )
    return Draft202012Validator(schema(name), registry=registry)
