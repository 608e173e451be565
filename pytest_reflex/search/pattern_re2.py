"""Write a pattern of Python's `re` as one for RE2 that means the same, or say that there is none.

RE2 needs time proportional to the text, whatever the pattern. The pattern is written anew from
CPython's parse tree, part by part; a part whose meaning might differ (look-around, back
references, scoped flags, repeated empty matches, and for texts beyond ASCII the classes and word
boundaries) has no counterpart here. Searches are on UTF-8 bytes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_LONGEST_REPEAT = 200
_ASCII_CLASSES = {
    "CATEGORY_DIGIT": "0-9",
    "CATEGORY_WORD": "0-9A-Z_a-z",
    # \x1c to \x1f count as blanks in Python.
    "CATEGORY_SPACE": r"\t-\r\x1c-\x20",
    "CATEGORY_NOT_DIGIT": r"\x00-/:-\x7f",
    "CATEGORY_NOT_WORD": r"\x00-/:-@\[-\^`{-\x7f",
    "CATEGORY_NOT_SPACE": r"\x00-\x08\x0e-\x1b!-\x7f",
}


class _DifferentError(Exception):
    """A part of the pattern has no counterpart of the same meaning."""


class Re2:
    """A pattern in RE2; `ascii_only` where it means the same for ASCII texts only."""

    def __init__(self, compiled: Any, ascii_only: bool) -> None:
        self._compiled = compiled
        self.ascii_only = ascii_only

    def spans(self, text: str, limit: int) -> list[tuple[int, int]] | None:
        """Return at most `limit` spans in characters; None where only `re` can find out."""
        if self.ascii_only and not text.isascii():
            return None
        data = text.encode()
        found: list[tuple[int, int]] = []
        for match in self._compiled.finditer(data):
            start, end = match.span()
            if start == end:  # the engines go on differently after an empty match
                return None
            found.append((start, end))
            if len(found) >= limit:
                break
        return found if len(data) == len(text) else _in_characters(data, found)


def translate(tree: Any, flags: int) -> Re2 | None:
    """Return the counterpart of a parsed pattern, None where there is none or no RE2."""
    engine = _engine()
    if engine is None or tree is None:
        return None
    writer = _Re2Writer(flags | tree.state.flags)
    try:
        source = writer.sequence(tree)
        options = engine.Options()
        options.log_errors = False
        return Re2(engine.compile(source.encode(), options), writer.ascii_only)
    except (_DifferentError, RecursionError, UnicodeEncodeError, engine.error):
        return None


class _Re2Writer:
    def __init__(self, flags: int) -> None:
        self._ignore_case = bool(flags & re.IGNORECASE)
        self._multiline = bool(flags & re.MULTILINE)
        self._any = "." if flags & re.DOTALL else r"[^\n]"
        self.ascii_only = self._ignore_case

    def sequence(self, tree: Any) -> str:
        written = "".join(self._part(str(name), argument) for name, argument in tree)
        return f"(?{'i' if self._ignore_case else ''}s:{written})"

    def _part(self, name: str, argument: Any) -> str:
        if name == "LITERAL":
            return self._char(argument)
        if name == "NOT_LITERAL":
            return f"[^{self._char(argument)}]"
        if name == "ANY":
            return self._any
        if name == "ANY_ALL":
            return "."
        if name == "IN":
            return self._set(argument)
        if name == "AT":
            return self._position(str(argument))
        if name == "BRANCH":
            return f"(?:{'|'.join(self.sequence(body) for body in argument[1])})"
        if name == "SUBPATTERN" and not argument[1] and not argument[2]:
            return self.sequence(argument[3])
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(*argument) + ("?" if name == "MIN_REPEAT" else "")
        raise _DifferentError

    def _repeat(self, least: int, most: Any, body: Any) -> str:
        endless = str(most) == "MAXREPEAT"
        if least > _LONGEST_REPEAT or (not endless and most > _LONGEST_REPEAT):
            raise _DifferentError
        if body.getwidth()[0] == 0:
            raise _DifferentError
        return f"(?:{self.sequence(body)}){{{least},{'' if endless else int(most)}}}"

    def _set(self, members: Any) -> str:
        negated = str(members[0][0]) == "NEGATE"
        written = "".join(self._member(str(n), a) for n, a in members[negated:])
        return f"[{'^' if negated else ''}{written}]"

    def _member(self, name: str, argument: Any) -> str:
        if name == "LITERAL":
            return self._char(argument)
        if name == "RANGE":
            return f"{self._char(argument[0])}-{self._char(argument[1])}"
        if name == "CATEGORY" and str(argument) in _ASCII_CLASSES:
            self.ascii_only = True
            return _ASCII_CLASSES[str(argument)]
        raise _DifferentError

    def _position(self, name: str) -> str:
        if name in ("AT_BOUNDARY", "AT_NON_BOUNDARY"):
            self.ascii_only = True
            return r"\b" if name == "AT_BOUNDARY" else r"\B"
        written = {"AT_BEGINNING_STRING": r"\A", "AT_END_STRING": r"\z"}
        if self._multiline:
            written |= {"AT_BEGINNING": "(?m:^)", "AT_END": "(?m:$)"}
        if name not in written:
            raise _DifferentError
        return written[name]

    def _char(self, code: int) -> str:
        if (self._ignore_case and code > 127) or 0xD800 <= code <= 0xDFFF:
            raise _DifferentError
        return f"\\x{{{code:x}}}"


def _in_characters(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Turn byte offsets into character offsets in one pass."""
    found: list[tuple[int, int]] = []
    bytes_done = characters = 0
    for start, end in spans:
        begin = characters + len(data[bytes_done:start].decode())
        characters = begin + len(data[start:end].decode())
        bytes_done = end
        found.append((begin, characters))
    return found


@lru_cache(maxsize=1)
def _engine() -> Any:
    try:
        import re2
    except ImportError:
        return None
    return re2
