"""`tag_fences`: give every fenced block of a Markdown text that names no language one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_reflex.fixes.kind import Fault, Field, Kind, Params
from pytest_reflex.text.lines import split
from pytest_reflex.text.outline import block_tokens

_LANGUAGE = re.compile(r"[\w+#.-]+")
_OPENING = re.compile(r"^(.*?(?:`{3,}|~{3,}))[ \t]*(\r\n|\r|\n|)$", re.DOTALL)


def tag_fences(params: Params, document: str) -> str:
    """Return the document in which each untagged fence names the language; its content stays."""
    lines = split(document)
    for token in block_tokens(document).blocks:
        if token.type == "fence" and not token.info.strip() and token.map:
            opening = _OPENING.match(lines[token.map[0]])
            if opening:
                lines[token.map[0]] = f"{opening[1]}{params['language']}{opening[2]}"
    return "".join(lines)


def tag_faults(params: Params) -> Iterable[Fault]:
    """Find a language that is not a single word."""
    if not _LANGUAGE.fullmatch(params["language"]):
        message = f"tag_fences: language must be one word, not {params['language']!r}"
        yield "language", message


TAG_FENCES = Kind(
    name="tag_fences",
    fields={"language": Field(str, required=True, filled=True)},
    apply=tag_fences,
    faults=tag_faults,
)
