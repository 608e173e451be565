"""The kinds of fixes by name, the look at a fix, and its application.

Promises: pure; the same result when applied twice; whatever a fix does not touch stays as it is,
byte for byte, line ends and byte-order mark included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_reflex.documents.lines import BOM
from pytest_reflex.errors import Place, Problem, did_you_mean
from pytest_reflex.fixes import (
    append,
    insert_section,
    insert_text,
    replace,
    set_value,
    tag_fences,
)
from pytest_reflex.fixes.kind import FixError, Kind
from pytest_reflex.model.rules import Fix

KINDS: dict[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (insert_section, insert_text, replace, set_value, tag_fences, append)
}


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one fix: `changed`, or `reason` why not (nothing to do, or no place)."""

    fix: Fix
    changed: bool
    reason: str = ""


def problems(fix: Fix, place: Place | None = None) -> Iterator[Problem]:
    """Yield what is wrong with the shape of a fix."""
    kind = KINDS.get(fix.kind)
    if kind is None:
        hint = did_you_mean(fix.kind, KINDS)
        yield Problem(message=f"unknown kind of fix {fix.kind!r}", place=place, hint=hint)
        return
    for message, hint in kind.check(fix.params):
        yield Problem(message=message, place=place, hint=hint)


def apply(fix: Fix, text: str) -> str:
    """Return the mended text, or the same text where the fix has nothing to do.

    Raises FixError where the fix is malformed or finds no place in this text.
    """
    for problem in problems(fix):
        raise FixError(problem.message, hint=problem.hint)
    mark = BOM if text.startswith(BOM) else ""
    return mark + KINDS[fix.kind].apply(fix.params, text[len(mark) :])


def apply_all(fixes: Iterable[Fix], text: str) -> tuple[str, list[Applied]]:
    """Apply fixes one after the other; one that cannot be applied is skipped with its reason."""
    log = []
    for fix in fixes:
        try:
            mended = apply(fix, text)
        except FixError as error:
            log.append(Applied(fix, changed=False, reason=str(error)))
            continue
        log.append(Applied(fix, mended != text, "" if mended != text else "nothing to do"))
        text = mended
    return text, log
