"""Where a JSON text has what the decoder lets through and we do not: a key twice, `NaN`."""

from __future__ import annotations

import json
import re

from pytest_reflex.text.lines import DataSyntaxError

LONGEST = 5_000_000
"""A text with more characters is not looked through: its fault has no place."""
_TOKEN = re.compile(r'("(?:[^"\\]+|\\.)*")([ \t\n\r]*:)?|[{}\[\]]|NaN|-?Infinity', re.DOTALL)


def placed_slip(text: str) -> DataSyntaxError | None:
    """Return the first such fault of a text that is JSON but for that; None where none is found."""
    inside: list[dict[str, int] | None] = []
    for found in _TOKEN.finditer(text) if len(text) <= LONGEST else ():
        word, start = found[0], found.start()
        if word in ("{", "["):
            inside.append({} if word == "{" else None)
        elif word in ("}", "]"):
            del inside[-1:]
        elif not found[1]:
            return DataSyntaxError.at(text, start, f"{word} is not JSON")
        elif found[2] and inside and (keys := inside[-1]) is not None:
            key = json.loads(found[1], strict=False)
            if key in keys:
                first = text.count("\n", 0, keys[key]) + 1
                place = DataSyntaxError.at(text, start, f"duplicate key {key!r}")
                return DataSyntaxError(
                    place.reason, place.line, place.column, other=", first", other_line=first
                )
            keys[key] = start
    return None
