"""Make foreign text safe to show: control characters visible, cuts never inside a character."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

# C0 but \n and \t, DEL, C1; soft hyphen, zero width, bidirectional and other invisible format
# characters; line and paragraph separators; lone surrogates; what XML cannot hold.
HIDDEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e"
    "\\u2060-\\u206f\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e007f]"
)
# What a build log takes for a command: GitHub's at the start of a line, behind blanks too, or where
# a line may be broken before the word; those of Azure Pipelines and TeamCity anywhere.
_LINE_COMMAND = re.compile(r"(?m)^([^\S\n]*):(?=:)|(?<=\s):(?=:[\w-])")
_COMMAND = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)
# A joiner is a part of the character or word where both its neighbours are of these: letters of
# scripts that join, symbols and emoji. A variation selector may stand between.
_JOINABLE = re.compile(
    "[\\u0590-\\u061b\\u061d-\\u180d\\u180f-\\u1fff\\u2190-\\u2bff"
    "\\ufb1d-\\ufdff\\ufe0f\\ufe70-\\ufefc\\U0001f000-\\U0001faff]"
)
# A word that YAML reads as the text it is.
_BARE = re.compile(r"(?!(?:true|false|null|True|False|Null|TRUE|FALSE|NULL)\Z)[A-Za-z][\w.-]*")
_ZERO_WIDTH_JOINER = "\u200d"
_JOINERS = ("\u200c", _ZERO_WIDTH_JOINER)
_LONGEST_CLUSTER = 64
_ZERO_WIDTH = ("Mn", "Me", "Cf")


def escape_control(text: str) -> str:
    """Return `text` with everything that a terminal or a build log might act on as `\\x1b`.

    Newlines and tabs stay. What is escaped cannot be distinguished from a backslash that was there
    before: the result is for reading, not for parsing.
    """
    text = HIDDEN.sub(_escape, text)
    if "::" in text:
        text = _LINE_COMMAND.sub(lambda match: f"{match[1] or ''}\\x3a", text)
    return _COMMAND.sub(r"\\x23", text) if "##" in text else text


def visible_json(document: Any, *, indent: int | None = None) -> str:
    """Return JSON in which what a terminal or a log might act on is an escape of JSON's own."""
    text = HIDDEN.sub(_as_json, json.dumps(document, indent=indent, ensure_ascii=False))
    return _COMMAND.sub(r"\\u0023", text)


def one_line(text: str, limit: int = 120) -> str:
    """Return `text` as one visible line of at most `limit` characters."""
    # Cut before escaping: a text of megabytes costs no more than its beginning.
    start = clip(text, limit + 1)
    flat = escape_control(start).replace("\n", "\\n").replace("\t", "\\t")
    return clip(flat, limit)


def pluralize(number: int, one: str, many: str = "") -> str:
    """Return a number with its word: 1 process, 2 processes."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def list_first(texts: Iterable[str], most: int, between: str = ", ") -> str:
    """Return the first few texts on one line, and how many more there are."""
    found = list(texts)
    more = len(found) - most
    shown = between.join(found[:most])
    return f"{shown}{' ' if between == ', ' else between}and {more} more" if more > 0 else shown


def as_text(value: Any) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def as_written(value: Any) -> str:
    """Return a value as people write it in YAML, on one line; a text stands in quotes.

    None is reported as nothing: it is what a key without a value has.
    """
    if value is None:
        return "nothing"
    return repr(value) if isinstance(value, str) else _flow(value)


def _flow(value: Any) -> str:
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return {None: "null", True: "true", False: "false"}[value] if _is_word(value) else repr(value)


def _is_word(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def columns(text: str) -> int:
    """Return the columns of a terminal that a visible text takes."""
    return sum(
        0
        if unicodedata.category(char) in _ZERO_WIDTH
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def clip(text: str, limit: int) -> str:
    """Return `text`, or its first characters and an ellipsis: at most `limit` code points."""
    if len(text) <= limit:
        return text
    return text[: boundary(text, max(limit - 1, 0))] + "…"


def boundary(text: str, index: int) -> int:
    """Return the nearest position at or before `index` that is not inside a character.

    A character is what a reader takes for one: a base with its combining marks, a flag made of two
    regional indicators, emoji joined by a zero-width joiner.
    """
    for position in range(index, max(index - _LONGEST_CLUSTER, 0), -1):
        if position >= len(text) or not _inside(text, position):
            return position
    return 0 if index < _LONGEST_CLUSTER else index


def _inside(text: str, index: int) -> bool:
    char, before = text[index], text[index - 1]
    if before == _ZERO_WIDTH_JOINER or char == _ZERO_WIDTH_JOINER:
        return True
    if unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    return _regional(char) and _regional(before) and _odd_run_before(text, index)


def _odd_run_before(text: str, index: int) -> bool:
    start = index
    while start > 0 and _regional(text[start - 1]):
        start -= 1
    return (index - start) % 2 == 1


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _escape(match: re.Match[str]) -> str:
    if match[0] in _JOINERS and _joins(match.string, match.start()):
        return match[0]
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _as_json(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def _joins(text: str, index: int) -> bool:
    around = text[max(index - 1, 0) : index], text[index + 1 : index + 2]
    return all(_JOINABLE.match(char) for char in around)


# ECMA-48: control sequences (colours, cursor), strings (titles, links), and two-character escapes.
_SEQUENCE = re.compile(
    r"""
    (?:\x1b\[|\x9b) [0-?]* [ -/]* [@-~]
    | (?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]) [^\x07\x1b\x9c\n]* (?:\x07|\x9c|\x1b\\)?
    | \x1b [ -/]* [0-~]
    """,
    re.VERBOSE,
)


def strip_ansi(text: str) -> str:
    """Return `text` without terminal sequences and without invisible characters.

    Newlines and tabs stay; a byte-order mark, NUL and zero-width characters go.
    """
    return HIDDEN.sub("", _SEQUENCE.sub("", text))
