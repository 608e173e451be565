"""`append`: put lines at the end of the text."""

from __future__ import annotations

from pytest_reflex.fixes.kind import Field, Kind, Params
from pytest_reflex.fixes.lines_in import at_end


def append(params: Params, document: str) -> str:
    """Return the document with the lines at its end, once."""
    return at_end(document, params["text"])


APPEND = Kind(name="append", fields={"text": Field(str, required=True, filled=True)}, apply=append)
