"""What became of the samples of rules, as a table, with a word on each that is not as it should."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_reflex.criteria.author.samples import BROKEN, MEANING, RuleTried, Tried, Verdict
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.samples import Sample
from pytest_reflex.reports.tables import text_table

WIDTH = 80
_INDENT = " " * 4


def samples_text(tried: Sequence[RuleTried]) -> str:
    """Return the table, the samples that speak against their rule, and the sum of it all."""
    rows = [
        (one.rule.id, one.verdict.value, _share(one, "good"), _share(one, "bad")) for one in tried
    ]
    table = text_table(("rule", "samples", "good", "bad"), rows)
    details = [
        line for one in tried for sample in one.samples for line in _sample_detail(one, sample)
    ]
    mends = [line for one in tried for line in _mends(one)]
    return "\n".join(
        [table, *details, *([""] if mends else []), *mends, "", samples_summary(tried)]
    )


def samples_summary(tried: Sequence[RuleTried]) -> str:
    """Return how many samples came to what: "3 rules, 5 samples: 2 validated, 3 reported"."""
    counts = Counter(sample.verdict for one in tried for sample in one.samples)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    bare = [one for one in tried if one.verdict is Verdict.NONE]
    without = f"; {_counted(len(bare), 'rule')} without samples" if bare else ""
    samples = _counted(sum(counts.values()), "sample")
    return f"{_counted(len(tried), 'rule')}, {samples}" + (f": {told}" if told else "") + without


def _share(one: RuleTried, kind: str) -> str:
    fine = Verdict.VALIDATED if kind == "good" else Verdict.REPORTED
    return f"{one.count(kind, fine)}/{one.count(kind)}"


def _sample_detail(one: RuleTried, sample: Tried) -> Iterator[str]:
    if sample.verdict not in BROKEN:
        return
    place = f" ({one.rule.place})" if one.rule.place else ""
    yield ""
    head = f"{one.rule.id}: {sample.kind} sample {sample.number} is {sample.verdict}: "
    yield from textwrap.wrap(f"{head}{MEANING[sample.verdict]}{place}", WIDTH)
    for label, text in (("said", sample.message), *_given(sample.sample)):
        yield from textwrap.wrap(
            f"{label}: {one_line(text, 300)}",
            WIDTH,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT + " " * 6,
        )


def _mends(one: RuleTried) -> Iterator[str]:
    """Yield how many of the bad samples the rule's safe fixes fix, where they were tried."""
    told = [sample.mended for sample in one.samples if sample.mended is not None]
    if not told:
        return
    verb = "its fix fixes" if len(one.rule.fixes) == 1 else "its fixes fix"
    samples = _counted(len(told), "bad sample")
    if any(told):
        yield f"{one.rule.id}: {verb} {sum(told)} of {samples}"
    else:
        yield f"warning: {one.rule.id}: {verb} none of {samples}"


def _given(sample: Sample) -> Iterator[tuple[str, str]]:
    for name, text in sample.files.items():
        yield (name or "text"), text
    if not sample.files:
        yield "text", "an empty folder"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
