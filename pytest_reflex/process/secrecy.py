"""Values of our environment that may be kept nowhere, and texts without them.

Promises: a value is found as it is, in base64, percent-encoded, in hex and as a JSON string.
Limits: what a program made of a value in any other way is not known for it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote

SHORTEST = 8
_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Return whether a variable or an option of that name holds a secret, as far as names tell."""
    return bool(_NAME.search(name))


def secrets(
    ours: Mapping[str, str], names: Iterable[str], referred: Iterable[str]
) -> dict[str, str]:
    """Return the values that must not be kept, with the references that stand for them."""
    sensitive = {*referred, *(name for name in names if is_secret_name(name))}
    return {
        ours[name]: f"${name}" for name in sorted(sensitive) if len(ours.get(name, "")) >= SHORTEST
    }


def hide(text: str, values: Mapping[str, str]) -> str:
    """Return a text with references in the place of the values, longer ones first.

    A value is found in base64, percent-encoded and as a JSON string too.
    """
    for value in sorted(values, key=len, reverse=True):
        for form in _forms(value):
            text = text.replace(form, values[value])
    return text


def hide_ends(text: str, values: Mapping[str, str]) -> str:
    """Return a text without the part of a value that it begins or ends with, where it was cut."""
    for value in sorted(values, key=len, reverse=True):
        for size in range(len(value) - 1, SHORTEST - 1, -1):
            if text.endswith(value[:size]):
                text = text[:-size] + values[value]
            if text.startswith(value[-size:]):
                text = values[value] + text[size:]
    return text


@lru_cache(maxsize=256)
def _forms(value: str) -> tuple[str, ...]:
    """Return how a value may be written, the longest first.

    Base64 of it may stand in base64 of more, at one of three alignments: the characters that only
    depend on the value are enough.
    """
    data = value.encode("utf-8", "surrogatepass")
    forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    forms |= {quote(value, safe="", errors="replace"), data.hex()}
    for shift in range(3):
        first, end = -(-shift * 4 // 3), (shift + len(data)) * 4 // 3
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(b"\0" * shift + data).decode()[first:end])
    return tuple(sorted(filter(None, forms), key=len, reverse=True))
