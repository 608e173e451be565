"""The other side of `worker`: answer questions where that can be killed.

Started as a script with the file of a module, and what that is to know. Standard library only; the
module has IDLE_SECONDS and `serve(arguments)`, which returns the function that answers a payload by
something for JSON. Reads frames (8 bytes of length, then the payload) on standard input; an empty
one is answered at once. Ends at the end of its input, or when it was idle.
"""

from __future__ import annotations

import json
import os
import select
import sys
from importlib.util import module_from_spec, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MEMORY = 4 << 30
_CHUNK = 1 << 20


def main(path: str, arguments: list[str]) -> None:
    """Serve the module at `path` until no more requests come."""
    _limit_memory()
    module = _load(path)
    answer = module.serve(arguments)
    while select.select([0], [], [], module.IDLE_SECONDS)[0]:
        frame = _read(8)
        if len(frame) < 8:
            return
        payload = _read(int.from_bytes(frame, "big"))
        data = json.dumps(answer(payload) if payload else {}).encode()
        os.write(1, len(data).to_bytes(8, "big"))
        while data:
            data = data[os.write(1, data) :]


def _load(path: str) -> Any:
    spec = spec_from_file_location("served", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(0, min(_CHUNK, size - len(data)))
        if not chunk:
            break
        data += chunk
    return bytes(data)


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (ImportError, OSError, ValueError):
        sys.stderr.write("no memory limit here\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
