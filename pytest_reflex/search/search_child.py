"""The other side of `search_process`: search with `re` where it can be killed.

Started as a script; standard library only. Reads frames (8 bytes of length, then the payload) on
standard input. A payload is one line of JSON {"pattern", "flags", "limit", "keep"}, and then the
text as UTF-8, or nothing where `keep` says that it is that of the last question. Answers {"spans":
[[start, end], ...]} with at most `limit` spans, or {"error": "..."}; where the question has a
`template`, `texts` beside them is what it comes to for each match. Ends at the end of its input, or
when it was idle.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys

IDLE_SECONDS = 10.0
MEMORY = 4 << 30


def main() -> None:
    _bound_memory()
    text = ""
    while select.select([0], [], [], IDLE_SECONDS)[0]:
        frame = _read(8)
        if len(frame) < 8:
            return
        payload = _read(int.from_bytes(frame, "big"))
        head, _, body = payload.partition(b"\n")
        question = json.loads(head)
        if not question["keep"]:
            text = body.decode("utf-8", "surrogatepass")
        answer = json.dumps(_answer(question, text)).encode()
        os.write(1, len(answer).to_bytes(8, "big"))
        while answer:
            answer = answer[os.write(1, answer) :]


def _answer(question: dict[str, object], text: str) -> dict[str, object]:
    limit = int(str(question["limit"]))
    spans: list[tuple[int, int]] = []
    texts: list[str] = []
    template = question.get("template")
    try:
        pattern = re.compile(str(question["pattern"]), int(str(question["flags"])))
        for match in pattern.finditer(text):
            spans.append(match.span())
            if template is not None:
                texts.append(match.expand(str(template)))
            if len(spans) >= limit:
                break
    except MemoryError:
        return {"error": "the search needed too much memory"}
    return {"spans": spans, "texts": texts}


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
