"""What `criteria prove` found, as a table, with a word on each rule that is not proved."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_reflex.criteria.author.prove import ADVICE, MEANING, Proof, RuleProof
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.extras import install
from pytest_reflex.model.plain import counted, one_line
from pytest_reflex.reports.tables import text_table

WIDTH = 80
_INDENT = " " * 4
_OUTCOMES = {Outcome.PASS: "passes", Outcome.FAIL: "fails", Outcome.NOT_APPLICABLE: "n/a"}


def proof_text(proofs: Sequence[RuleProof], *, widest: int = 44) -> str:
    """Return the table, what keeps rules from being proved, and the sum of it all.

    `widest` is the number of characters to which what a rule fails on is cut.
    """
    rows = [
        (one.rule.id, one.proof.value, _empty(one), one.tried, _failed_on(one, widest))
        for one in proofs
    ]
    head = ("rule", "proof", "on empty", "tried", "fails on")
    table = text_table(head, rows)
    details = [line for one in proofs for line in (*_detail(one), *_idle(one), *_among(one))]
    return "\n".join([table, *details, "", proof_summary(proofs)])


def proof_summary(proofs: Sequence[RuleProof]) -> str:
    """Return how many rules came to what: "3 rules: 2 proved, 1 vacuous"."""
    counts = Counter(one.proof for one in proofs)
    told = ", ".join(f"{counts[proof]} {proof}" for proof in Proof if counts[proof])
    rules = counted(len(proofs), "rule")
    return rules + (f": {told}" if told else "")


def _empty(one: RuleProof) -> str:
    if one.empty is None:
        return "-"
    return _OUTCOMES.get(one.empty, one.empty.value)


def _failed_on(one: RuleProof, widest: int) -> str:
    return one_line(next((what for what in one.failed_on if what), "-"), widest)


def _detail(one: RuleProof) -> Iterator[str]:
    if one.proof is Proof.PROVED:
        return
    place = f" ({one.rule.place})" if one.rule.place else ""
    said = f"; it said: {one_line(one.message, 120)}" if one.proof is Proof.UNCLEAR else ""
    if one.proof is Proof.UNPROVEN and one.rule.when and one.message:
        said = f": {one_line(one.message, 120)}"
    yield ""
    meaning, advice = MEANING[one.proof], ADVICE[one.proof]
    if one.needs:
        meaning, advice = f"without {one.needs}, which is not installed", install(one.needs)
    colon = " " if one.needs else ": "
    head = f"{one.rule.id} is {one.proof}{colon}{meaning}{said}{place}"
    yield from textwrap.wrap(head, WIDTH, break_on_hyphens=False)
    yield f"{_INDENT}= {advice}"


def _idle(one: RuleProof) -> Iterator[str]:
    for number in one.idle:
        yield ""
        told = f"{one.rule.id}: check {number} of {len(one.failed_on)} failed on nothing"
        yield from textwrap.wrap(told, WIDTH, break_on_hyphens=False)


def _among(one: RuleProof) -> Iterator[str]:
    if one.is_one_enough:
        yield ""
        told = f"{one.rule.id}: of a folder one good file is enough, whatever is in the others"
        yield from textwrap.wrap(told, WIDTH, break_on_hyphens=False)
        yield f"{_INDENT}= each: true asks for all of them; each: false says that one is enough"
