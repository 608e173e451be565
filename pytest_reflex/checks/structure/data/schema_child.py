"""The child of `schema_process`: validates data by a JSON Schema where that can be killed.

Its argument is the folders of the parent's modules as JSON. A payload is one line of JSON with
`schema` and `limit`, and then the data as JSON. The answer is {"faults": [{"path", "message"}]} or
{"error": "..."}.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

IDLE_SECONDS = 20.0
_LONGEST_VALUE = 60


def serve(arguments: list[str]) -> Callable[[bytes], dict[str, Any]]:
    """Return the function that answers a payload."""
    known = set(sys.path)
    sys.path += [path for path in json.loads(arguments[0]) if path and path not in known]
    from jsonschema import Draft202012Validator  # noqa: F401 - imported before the clock runs

    return _answer


def _answer(payload: bytes) -> dict[str, Any]:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    head, _, body = payload.partition(b"\n")
    question = json.loads(head)
    schema = question["schema"]
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        value = json.loads(body)
        # A registry of its own: that of the library would fetch what a $ref names.
        errors = kind(schema, registry=REGISTRY).iter_errors(value)
        return {"faults": [_describe_error(error) for error in islice(errors, question["limit"])]}
    except RecursionError:
        return {"error": "schema and data lead into each other without an end, or too deep"}
    except MemoryError:
        return {"error": "validation against the schema needed too much memory"}
    except Unresolvable as error:
        return {"error": f"a reference of the schema cannot be followed: {error}"}


def _describe_error(error: Any) -> dict[str, Any]:
    """Return the problem; of a choice that nothing fits the nearest one, which says more."""
    choice = ""
    while error.context:
        choice = choice or f" (one of {len(error.validator_value)} alternatives has to fit)"
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    shown = repr(error.instance)
    pattern = str(error.validator_value) if error.validator == "pattern" else ""
    message = f"pattern not found in {shown}" if pattern else str(error.message)
    if len(shown) > _LONGEST_VALUE:
        is_list = isinstance(error.instance, list)
        what = "a list" if is_list else "a map" if isinstance(error.instance, dict) else "the value"
        message = message.replace(shown, what)
    problem = {"path": list(error.absolute_path), "message": message[:400] + choice}
    return problem | ({"pattern": pattern} if pattern else {})
