"""Names of artifacts as parts of node ids: whatever it is called, it can be selected."""

from __future__ import annotations

# An argument is cut at its first `[` and split at `::`; `%` is the escape itself.
_RESERVED = frozenset("[]%")


def node_name(name: str) -> str:
    """Return `name` with what a node id cannot hold as percent-encoded bytes.

    One to one: two names never meet. Slashes, blanks and letters of any script stay.
    """
    if name.isprintable() and _RESERVED.isdisjoint(name) and "::" not in name:
        return name
    escaped = "".join(_escape(c) if c in _RESERVED or not c.isprintable() else c for c in name)
    return escaped.replace("::", "%3A%3A")


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
