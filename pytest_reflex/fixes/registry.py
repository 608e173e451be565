"""The kinds of fixes by name, the look at a fix, and its application.

Promises: pure: the caller passes in what runs programs, nothing by default; the same result when
applied twice; whatever a fix does not touch stays as it is, byte for byte, line ends and byte-order
mark included. Limits: a formatter may change the whole text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pytest_reflex.errors import Place, Problem, did_you_mean
from pytest_reflex.fixes.kind import (
    FORMAT_TEXT,
    FixError,
    FixKind,
    Formatter,
    format_until_stable,
    no_formatter,
)
from pytest_reflex.fixes.markdown import INSERT_SECTION, TAG_FENCES
from pytest_reflex.fixes.set_value import SET_VALUE
from pytest_reflex.fixes.text import APPEND, INSERT_TEXT, REPLACE
from pytest_reflex.model.rules import FORMAT, Criteria, Fix
from pytest_reflex.text.lines import BOM

KINDS: dict[str, FixKind] = {
    kind.name: kind
    for kind in (
        INSERT_SECTION,
        INSERT_TEXT,
        REPLACE,
        SET_VALUE,
        TAG_FENCES,
        APPEND,
        FORMAT_TEXT,
    )
}


@dataclass(frozen=True, slots=True)
class AppliedFix:
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
    for problem in kind.check(fix.params):
        yield dataclasses.replace(problem, place=place)


def example(name: str) -> str:
    """Return a kind of fix with the parameters that it needs, in YAML; nothing for no kind."""
    kind = KINDS.get(name)
    if kind is None:
        return ""
    needed = (f"{key}: ..." for key, field in kind.fields.items() if field.required)
    return f"{name}: {{{', '.join(needed)}}}"


def apply(fix: Fix, text: str, formatter: Formatter = no_formatter) -> str:
    """Return the fixed text, or the same text where the fix has nothing to do.

    `formatter` runs the programs that fixes name. Raises FixError where the fix is malformed, finds
    no place in this text, or where its program gives none.
    """
    for problem in problems(fix):
        raise FixError(problem.message, hint=problem.hint)
    mark = BOM if text.startswith(BOM) else ""
    rest = text[len(mark) :]
    if fix.kind == FORMAT:
        return mark + format_until_stable(fix.params, rest, formatter)
    return mark + KINDS[fix.kind].apply(fix.params, rest)


def apply_all(
    fixes: Iterable[Fix], text: str, formatter: Formatter = no_formatter
) -> tuple[str, list[AppliedFix]]:
    """Apply fixes one after the other; one that cannot be applied is skipped with its reason."""
    log = []
    for fix in fixes:
        try:
            after = apply(fix, text, formatter)
        except FixError as error:
            log.append(AppliedFix(fix, changed=False, reason=str(error)))
            continue
        log.append(AppliedFix(fix, after != text, "" if after != text else "nothing to do"))
        text = after
    return text, log


@dataclass(slots=True)
class FixedText:
    """A text after the safe fixes of some rules.

    `fixed` are the rules whose fixes changed it; `skipped` says of others why theirs did not.
    """

    text: str
    fixed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def fix_text(
    criteria: Criteria, rule_ids: Iterable[str], text: str, formatter: Formatter = no_formatter
) -> FixedText:
    """Apply the safe fixes of the named rules, one rule after the other."""
    result = FixedText(text)
    for rule_id in rule_ids:
        rule = criteria.rule(rule_id)
        safe = [fix for fix in rule.fixes if fix.safe] if rule else []
        if not safe:
            continue
        new, log = apply_all(safe, result.text, formatter)
        if new != result.text:
            result.fixed.append(rule_id)
        else:
            result.skipped[rule_id] = "; ".join(applied.reason for applied in log)
        result.text = new
    return result
