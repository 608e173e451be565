"""What was left out of a folder, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_reflex.model.left_out import LeftOut, Reason
from pytest_reflex.model.plain import one_line

LABEL = "LEFT OUT"


def left_out_lines(
    left_out: Sequence[LeftOut], *, listed: int, verbose: bool = False
) -> Iterator[str]:
    """Yield what was not checked, at most `listed` of it; with `verbose`, all that was not read."""
    unchecked = [one for one in left_out if one.is_unchecked]
    yield from map(str, unchecked[:listed])
    if len(unchecked) > listed:
        yield f"and {len(unchecked) - listed} more"
    if not verbose:
        return
    excluded = [one_line(one.path, 120) for one in left_out if one.reason is Reason.EXCLUDED]
    if excluded:
        yield f"excluded by name: {', '.join(excluded)}"
    for one in left_out:
        if not one.is_unchecked and one.reason is not Reason.EXCLUDED:
            yield str(one)
