"""The environment that children inherit, and its secrets kept out of texts.

Promises: a value of four characters or more is found as it is, in base64, percent-encoded, in hex
and as a JSON string, also where a text was cut and says so; a shorter one beside its name. The
password in a URL is found in any variable and in any text.
Limits: what a program made of a value in any other way is not known for it.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote, unquote

# What pytest keeps for itself: it would make a pytest in a child believe that it is a worker.
_OF_PYTEST = ("PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS", "PYTEST_XDIST_", "PYTEST_REFLEX_")
# Not interactive: no prompt can be answered.
_NO_QUESTIONS = {"GIT_TERMINAL_PROMPT": "0"}


def copy_environment() -> dict[str, str]:
    """Return a copy of our environment for children, without what concerns this session only.

    A snapshot, because another thread may change the environment while a child is started.
    """
    while True:
        try:
            copy = dict(os.environ)
        except (KeyError, RuntimeError):  # changed while it was copied
            continue
        kept = {name: value for name, value in copy.items() if not name.startswith(_OF_PYTEST)}
        return kept | _NO_QUESTIONS


SHORTEST = 4
"""From that many characters on a value is hidden wherever it stands; a shorter one by its name."""
HIDDEN = "[hidden]"

_BROAD_FROM = 8  # so long a value is not a word of its own: any name that may mean a secret counts
_END_FROM = 8  # a shorter rest at the edge of a text may be anything
_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH(?!OR(?!I[SZ]))", re.IGNORECASE)
_SECRET_WORD = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?|PWD|AUTH", re.IGNORECASE
)
_JOINED = re.compile(r"\w(?:PASSWORD|APIKEY|TOKEN|SECRET)S?$", re.IGNORECASE)  # PGPASSWORD
_ABOUT_ONE = re.compile(  # MY_TOKEN_FILE names a file, USE_TOKEN is a switch
    r"FILE|PATH|DIR|SOCK|HOST|PORT|USER|NAME|ID|TYPE|METHOD|MODE|LENGTH|TTL|ENABLED?|DISABLED?",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_NO_SECRETS = frozenset(
    {"true", "false", "none", "null", "auto", "default", "enabled", "disabled", "required"}
)
_URL = re.compile(r"(?P<start>\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@?#\"'<>]*:)(?P<it>[^\s/\"'<>]+)@")
_REFERENCE = re.compile(r"\$|\{|\[hidden\]|\*+$|<")
_CUTS = ("…", "...")


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Return whether a variable or an option of that name holds a secret, as far as names show."""
    return bool(_NAME.search(name)) or _is_plain_secret_name(name)


@lru_cache(maxsize=4096)
def _is_plain_secret_name(name: str) -> bool:
    """Return whether a word of a name means a secret: then even a short value is one."""
    parts = _PARTS.findall(name)
    if not parts or _ABOUT_ONE.fullmatch(parts[-1]) or name in ("PWD", "OLDPWD"):
        return False
    return any(map(_SECRET_WORD.fullmatch, parts)) or any(map(_JOINED.search, parts))


def secrets(
    ours: Mapping[str, str], names: Iterable[str], referred: Iterable[str]
) -> dict[str, str]:
    """Return the values that must not be kept, with the references that stand for them."""
    found: dict[str, str] = {}
    always = frozenset(referred)
    for name in sorted({*always, *names}):
        value = ours.get(name, "")
        if "://" in value:
            for password in _passwords(value):
                found.setdefault(password, f"[password of ${name}]")
        if value and _is_secret(name, value, referred=name in always):
            found[value] = f"${name}"
    return found


def _is_secret(name: str, value: str, *, referred: bool) -> bool:
    if _is_plain_secret_name(name):
        return value.lower() not in _NO_SECRETS
    return len(value) >= _BROAD_FROM and (referred or is_secret_name(name))


def own_secrets() -> dict[str, str]:
    """Return the values of this process's own environment that must not be kept."""
    ours = dict(os.environ)
    return secrets(ours, ours, ())


def _passwords(text: str) -> set[str]:
    found = {m["it"] for m in _URL.finditer(text) if not _REFERENCE.match(m["it"])}
    return {one for each in found for one in (each, unquote(each)) if len(one) >= SHORTEST}


def redact(text: str, values: Mapping[str, str]) -> str:
    """Return a text with references in place of the values, longer ones first.

    A value is found in base64, percent-encoded and as a JSON string too, and its beginning or end
    where the text is cut there with dots.
    """
    for value in sorted(values, key=len, reverse=True):
        if len(value) < SHORTEST:
            text = _beside_its_name(value, values[value], text)
            continue
        for form in _forms(value):
            text = text.replace(form, values[value])
        text = _without_cut(text, value, values[value])
    return _URL.sub(_without_password, text) if "://" in text else text


def _beside_its_name(value: str, reference: str, text: str) -> str:
    name = reference.lstrip("$")
    if name not in text:
        return text
    between = r"[\s\"'\\]*(?:[=:]>?|\bis\b)?[\s\"'\\]*"
    both = rf"(\b{re.escape(name)}\b{between})(?<!\w){re.escape(value)}(?!\w)"
    return re.sub(both, lambda match: match[1] + reference, text)


def _without_cut(text: str, value: str, reference: str) -> str:
    first, last = value[:SHORTEST], value[-SHORTEST:]
    for cut in _CUTS:
        if cut not in text or (first not in text and last not in text):
            continue
        for size in range(len(value) - 1, SHORTEST - 1, -1):
            text = text.replace(value[:size] + cut, reference + cut)
            text = text.replace(cut + value[-size:], cut + reference)
    return text


def _without_password(match: re.Match[str]) -> str:
    if _REFERENCE.match(match["it"]):
        return match[0]
    return f"{match['start']}{HIDDEN}@"


def redact_ends(text: str, values: Mapping[str, str]) -> str:
    """Return a text without the part of a value that it begins or ends with, where it was cut."""
    for value in sorted(values, key=len, reverse=True):
        for size in range(len(value) - 1, _END_FROM - 1, -1):
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
    return tuple(sorted((f for f in forms if len(f) >= SHORTEST), key=len, reverse=True))
