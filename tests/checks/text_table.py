"""Line ends, marks and blanks of artifacts and of rules, and what they mean (F37)."""

from __future__ import annotations

from typing import Any, NamedTuple


class TextCase(NamedTuple):
    """A text, a content check of it, and whether that passes."""

    name: str
    data: bytes
    params: dict[str, Any]
    passes: bool


ARTIFACTS = (
    TextCase("CRLF", b"Done\r\nx", {"search": "^Done$"}, True),
    TextCase("CRLF raw", b"Done\r\nx", {"search": "^Done$", "raw": True}, False),
    TextCase("lone CR", b"Done\rx", {"search": "^Done$"}, True),
    TextCase("lone CR raw", b"Done\rx", {"search": "^Done$", "raw": True}, False),
    TextCase("BOM", b"\xef\xbb\xbf# T", {"search": "^# T"}, True),
    TextCase("BOM raw", b"\xef\xbb\xbf# T", {"search": "^# T", "raw": True}, False),
    TextCase("BOM inside", b"a\xef\xbb\xbfb", {"search": "ab"}, False),
    TextCase("no final newline", b"last", {"search": "^last$"}, True),
    TextCase("extra final newline", b"last\n\n", {"search": "^last$"}, True),
    TextCase("only line ends", b"\r\n\r\n", {"search": r"\S", "negate": True}, True),
    TextCase("mixed line ends", b"a\r\nb\rc\nd", {"search": "^.$", "min_count": 4}, True),
    TextCase("NBSP is a blank", b"a\xc2\xa0b", {"search": r"a\sb"}, True),
    TextCase("NBSP is not a space", b"a\xc2\xa0b", {"search": "a b"}, False),
    TextCase("U+2028 ends no line", b"a\xe2\x80\xa8b", {"search": "^b"}, False),
    TextCase("U+2028 is a character", b"a\xe2\x80\xa8b", {"search": "a.b"}, True),
    TextCase("NEL ends no line", b"a\xc2\x85b", {"search": "^b"}, False),
    TextCase("literal CRLF", b"a\r\nb", {"search": "a\r\nb", "literal": True}, True),
    TextCase("literal raw", b"a\nb", {"search": "a\r\nb", "literal": True, "raw": True}, False),
)

RULES = """\
rules:
  - id: a.x.y
    description: One line
    severity: fail
    check: {type: content, search: '^a b$'}
"""

# name: the bytes of a criteria file, and what is said of it ("": it reads as RULES do)
CRITERIA: dict[str, tuple[bytes, str]] = {
    "rules in CRLF": (RULES.replace("\n", "\r\n").encode(), ""),
    "rules in lone CR": (RULES.replace("\n", "\r").encode(), ""),
    "rules with a BOM": (b"\xef\xbb\xbf" + RULES.encode(), ""),
    "rules without a final newline": (RULES.rstrip().encode(), ""),
    "rules with more final newlines": (RULES.encode() + b"\n\n\n", ""),
    "rules with an NBSP as a blank": (RULES.replace("id: a", "id:\u00a0a").encode(), "x.yaml:"),
    "rules in Latin-1": (RULES.replace("One", "Öne").encode("latin-1"), "x.yaml"),
}
