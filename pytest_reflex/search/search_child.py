"""What the child of `search_process` does: search with `re` where it can be killed.

Standard library only. A payload is one line of JSON {"pattern", "flags", "limit", "keep"}, and then
the text as UTF-8, or nothing where `keep` says that it is that of the last question. The answer is
{"spans": [[start, end], ...]} with at most `limit` spans, or {"error": "..."}; where the question
has a `template`, `texts` beside them is what it comes to for each match.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

IDLE_SECONDS = 10.0


def serve(arguments: list[str]) -> Callable[[bytes], dict[str, object]]:
    """Return the function that answers a payload; there are no arguments."""
    text = ""

    def answer(payload: bytes) -> dict[str, object]:
        nonlocal text
        head, _, body = payload.partition(b"\n")
        question = json.loads(head)
        if not question["keep"]:
            text = body.decode("utf-8", "surrogatepass")
        return _answer(question, text)

    return answer


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
