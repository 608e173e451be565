"""Names of artifacts as parts of node ids: whatever it is called, it can be selected."""

from __future__ import annotations

import re
from urllib.parse import unquote

# An argument is cut at its first `[` and split at `::`; `%` is the escape itself.
_ESCAPED = re.compile(r"%[0-9A-F]{2}")
_RESERVED = frozenset("[]%")


def node_name(name: str) -> str:
    """Return `name` with what a node id cannot hold as percent-encoded bytes.

    One to one: two names never meet. Slashes, blanks and letters of any script stay.
    """
    if name.isprintable() and _RESERVED.isdisjoint(name) and "::" not in name:
        return name
    escaped = "".join(_escape(c) if c in _RESERVED or not c.isprintable() else c for c in name)
    return escaped.replace("::", "%3A%3A")


def file_id(nodeid: str) -> str:
    """Return the node id of a file without what a terminal might act on; one to one as well."""
    if nodeid.isprintable() and not _ESCAPED.search(nodeid):
        return nodeid
    return "".join(_escape(c) if c == "%" or not c.isprintable() else c for c in nodeid)


def path_of_id(file_id: str) -> str:
    """Return the path of a file from its node id."""
    return unquote(file_id, errors="surrogatepass") if _ESCAPED.search(file_id) else file_id


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
