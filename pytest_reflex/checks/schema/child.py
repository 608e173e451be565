"""The other side of `process`: hold data against a JSON Schema where that can be killed.

Started as a script with the folders of the parent's modules as JSON. Reads frames (8 bytes of
length, then the payload) on standard input: one line of JSON {"schema", "limit"}, and then the
data as JSON. Answers {"faults": [{"path", "message"}, ...]} or {"error": "..."}; an empty frame is
answered at once. Ends at the end of its input, or when it was idle.
"""

from __future__ import annotations

import json
import os
import select
import sys
from itertools import islice
from typing import Any

IDLE_SECONDS = 20.0
MEMORY = 4 << 30
_LONGEST_VALUE = 60


def main() -> None:
    known = set(sys.path)
    sys.path += [path for path in json.loads(sys.argv[1]) if path and path not in known]
    _bound_memory()
    from jsonschema import Draft202012Validator  # noqa: F401 - imported before the clock runs

    while select.select([0], [], [], IDLE_SECONDS)[0]:
        frame = _read(8)
        if len(frame) < 8:
            return
        payload = _read(int.from_bytes(frame, "big"))
        answer = json.dumps(_answer(payload) if payload else {}).encode()
        os.write(1, len(answer).to_bytes(8, "big"))
        while answer:
            answer = answer[os.write(1, answer) :]


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
        return {"faults": [_told(error) for error in islice(errors, question["limit"])]}
    except RecursionError:
        return {"error": "schema and data lead into each other without an end, or too deep"}
    except MemoryError:
        return {"error": "holding the data against the schema needed too much memory"}
    except Unresolvable as error:
        return {"error": f"a reference of the schema cannot be followed: {error}"}


def _told(error: Any) -> dict[str, Any]:
    """Return the fault; of a choice that nothing fits the nearest one, which says more."""
    choice = ""
    while error.context:
        choice = choice or f" (one of {len(error.validator_value)} alternatives has to fit)"
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    shown = repr(error.instance)
    message = str(error.message)
    if len(shown) > _LONGEST_VALUE:
        is_list = isinstance(error.instance, list)
        what = "a list" if is_list else "a map" if isinstance(error.instance, dict) else "the value"
        message = message.replace(shown, what)
    return {"path": list(error.absolute_path), "message": message[:400] + choice}


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(0, min(1 << 20, size - len(data)))
        if not chunk:
            break
        data += chunk
    return bytes(data)


def _bound_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (ImportError, OSError, ValueError):
        sys.stderr.write("no memory limit here\n")


if __name__ == "__main__":
    main()
