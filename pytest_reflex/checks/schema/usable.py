"""Whether a JSON Schema can be used: of a known draft, valid by it, and complete in itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

from pytest_reflex.errors import nearest_word, suggest
from pytest_reflex.model.plain import one_line

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
