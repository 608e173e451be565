"""What a verdict changed against the one before: rules that pass now, and rules that do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_reflex.model.plain import visible
from pytest_reflex.model.results import Evaluation

LABEL = "CHANGED     "


def changed_line(before: Iterable[Evaluation], after: Iterable[Evaluation]) -> str:
    """Return the line for people; a new rule that fails counts as regressed."""
    old, new = dict(_rules(before)), dict(_rules(after))
    fixed = [name for name, passed in new.items() if passed and old.get(name) is False]
    regressed = [
        name for name, passed in new.items() if passed is False and old.get(name) is not False
    ]
    pairs = (("fixed", fixed), ("regressed", regressed))
    parts = [f"{word} {', '.join(n)}" for word, n in pairs if n]
    return visible(LABEL + ("; ".join(parts) or "no rule"))


def _rules(evaluations: Iterable[Evaluation]) -> Iterator[tuple[str, bool | None]]:
    """Yield each rule with whether it passed, by artifact where there are several.

    Of a rule that is not applicable that is None.
    """
    found = list(evaluations)
    for one in found:
        where = f" ({one.artifact})" if len(found) > 1 else ""
        for row in one.results:
            yield f"{row.rule.id}{where}", row.passed if row.applicable else None
