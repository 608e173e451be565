"""What `criteria lint`, `test` and `prove` found, for people."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from pytest_reflex.criteria.author.prove import ADVICE, Proof, RuleProof
from pytest_reflex.criteria.author.prove import MEANING as PROOF_MEANING
from pytest_reflex.criteria.author.samples import (
    BROKEN,
    RuleSampleResult,
    SampleResult,
    SampleVerdict,
)
from pytest_reflex.criteria.author.samples import MEANING as SAMPLE_MEANING
from pytest_reflex.criteria.linting.diagnostic import Diagnostic
from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.extras import install
from pytest_reflex.model.plain import columns, escape_control, one_line, pluralize
from pytest_reflex.reports.lines import text_table

Lines = Callable[[Place], str]
"""Gives the line of a file that a place is in, empty where it is not to be had."""

WIDTH = 80
_BEFORE = 40  # characters that are shown before the column of a long line
_LONGEST = 100
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"|[^\s,:{}\[\]]+")


def lint_text(remarks: Sequence[Diagnostic], lines: Lines, files: int) -> str:
    """Return all diagnostics, and how many there are in `files` files."""
    return "\n".join([*(remark_text(one, lines) + "\n" for one in remarks), tally(remarks, files)])


def remark_text(remark: Diagnostic, lines: Lines) -> str:
    """Return one diagnostic: a line that editors understand, the source with a caret, the hint."""
    problem = remark.problem
    level = "error" if remark.is_error else f"warning [{remark.code}]"
    rule = f"rule {problem.rule_id}: " if problem.rule_id else ""
    where = f"{problem.place}: " if problem.place else ""
    output = [escape_control(f"{where}{level}: {rule}{problem.message}")]
    margin = 4
    if problem.place and problem.place.line and (source := lines(problem.place)):
        number = str(problem.place.line)
        margin = max(len(number) + 2, 4)
        shown, caret = source_and_caret(source, problem.place.column)
        output.append(f"{number:>{margin}} | {shown}")
        if caret:
            output.append(f"{'':>{margin}} | {caret}")
    if problem.hint:
        output += textwrap.wrap(
            one_line(problem.hint, 400),
            WIDTH,
            initial_indent=f"{'':>{margin}} = ",
            subsequent_indent=f"{'':>{margin}}   ",
        )
    return "\n".join(output)


def source_and_caret(line: str, column: int) -> tuple[str, str]:
    """Return a line as it is shown, and carets under what stands at a column (0: nowhere)."""
    line = line.rstrip()
    start = max(column - 1, 0)
    cut = max(start - _BEFORE, 0) if len(line) > _LONGEST else 0
    head = "…" if cut else ""
    tail = "…" if len(line) > cut + _LONGEST else ""
    shown = head + line[cut : cut + _LONGEST] + tail
    if not column or start > len(line):
        return _safe(shown), ""
    token = _TOKEN.match(line, start)
    end = min(token.end() if token else start + 1, cut + _LONGEST)
    before = _blank(head + line[cut:start])
    return _safe(shown), before + "^" * max(columns(line[start:end]), 1)


def tally(remarks: Sequence[Diagnostic], files: int) -> str:
    """Return how much was found: "2 errors, 1 warning in 3 files"."""
    errors = sum(one.is_error for one in remarks)
    parts = [(errors, "error"), (len(remarks) - errors, "warning")]
    text = (
        ", ".join(pluralize(number, word) for number, word in parts if number) or "no issues found"
    )
    return f"{text} in {pluralize(files, 'file')}"


def _safe(text: str) -> str:
    """Return a line whose every character takes the columns that `columns` says."""
    return "".join(char if char == "\t" or char == escape_control(char) else "?" for char in text)


def _blank(text: str) -> str:
    return "".join(char if char == "\t" else " " * columns(char) for char in text)


_INDENT = " " * 4
_OUTCOMES = {Outcome.PASS: "passes", Outcome.FAIL: "fails", Outcome.NOT_APPLICABLE: "n/a"}


def proof_text(proofs: Sequence[RuleProof], *, widest: int = 44) -> str:
    """Return the table, what keeps rules from being proved, and the sum of it all.

    `widest` is the number of characters to which what a rule fails on is cut.
    """
    rows = [
        (one.rule.id, one.proof.value, _empty(one), one.tried, _first_failure(one, widest))
        for one in proofs
    ]
    head = ("rule", "proof", "on empty", "tried", "fails on")
    table = text_table(head, rows)
    details = [line for one in proofs for line in (*_detail(one), *_idle(one), *_among(one))]
    return "\n".join([table, *details, "", proof_summary(proofs)])


def proof_summary(proofs: Sequence[RuleProof]) -> str:
    """Return how many rules came to what: "3 rules: 2 proved, 1 vacuous"."""
    counts = Counter(one.proof for one in proofs)
    text = ", ".join(f"{counts[proof]} {proof}" for proof in Proof if counts[proof])
    rules = pluralize(len(proofs), "rule")
    return rules + (f": {text}" if text else "")


def _empty(one: RuleProof) -> str:
    if one.empty is None:
        return "-"
    return _OUTCOMES.get(one.empty, one.empty.value)


def _first_failure(one: RuleProof, widest: int) -> str:
    return one_line(next((what for what in one.failed_on if what), "-"), widest)


def _detail(one: RuleProof) -> Iterator[str]:
    if one.proof is Proof.PROVED:
        return
    place = f" ({one.rule.place})" if one.rule.place else ""
    said = f"; it said: {one_line(one.message, 120)}" if one.proof is Proof.UNCLEAR else ""
    if one.proof is Proof.UNPROVEN and one.rule.when and one.message:
        said = f": {one_line(one.message, 120)}"
    yield ""
    meaning, advice = PROOF_MEANING[one.proof], ADVICE[one.proof]
    if one.needs:
        meaning, advice = f"without {one.needs}, which is not installed", install(one.needs)
    colon = " " if one.needs else ": "
    head = f"{one.rule.id} is {one.proof}{colon}{meaning}{said}{place}"
    yield from textwrap.wrap(head, WIDTH, break_on_hyphens=False)
    yield f"{_INDENT}= {advice}"


def _idle(one: RuleProof) -> Iterator[str]:
    for number in one.idle:
        yield ""
        text = f"{one.rule.id}: check {number} of {len(one.failed_on)} failed on nothing"
        yield from textwrap.wrap(text, WIDTH, break_on_hyphens=False)


def _among(one: RuleProof) -> Iterator[str]:
    if one.is_one_enough:
        yield ""
        text = f"{one.rule.id}: of a folder one good file is enough, whatever is in the others"
        yield from textwrap.wrap(text, WIDTH, break_on_hyphens=False)
        yield f"{_INDENT}= each: true asks for all of them; each: false says that one is enough"


def samples_text(tried: Sequence[RuleSampleResult]) -> str:
    """Return the table, the samples that their rules fail, and a summary."""
    rows = [
        (one.rule.id, one.verdict.value, _share(one, "good"), _share(one, "bad")) for one in tried
    ]
    table = text_table(("rule", "samples", "good", "bad"), rows)
    details = [
        line for one in tried for sample in one.samples for line in _sample_detail(one, sample)
    ]
    fixes = [line for one in tried for line in _fix_rows(one)]
    return "\n".join(
        [table, *details, *([""] if fixes else []), *fixes, "", samples_summary(tried)]
    )


def samples_summary(tried: Sequence[RuleSampleResult]) -> str:
    """Return how many samples came to what: "3 rules, 5 samples: 2 validated, 3 reported"."""
    counts = Counter(sample.verdict for one in tried for sample in one.samples)
    text = ", ".join(f"{counts[verdict]} {verdict}" for verdict in SampleVerdict if counts[verdict])
    bare = [one for one in tried if one.verdict is SampleVerdict.NONE]
    without = f"; {pluralize(len(bare), 'rule')} without samples" if bare else ""
    samples = pluralize(sum(counts.values()), "sample")
    return f"{pluralize(len(tried), 'rule')}, {samples}" + (f": {text}" if text else "") + without


def _share(one: RuleSampleResult, kind: str) -> str:
    fine = SampleVerdict.VALIDATED if kind == "good" else SampleVerdict.REPORTED
    return f"{one.count(kind, fine)}/{one.count(kind)}"


def _sample_detail(one: RuleSampleResult, sample: SampleResult) -> Iterator[str]:
    if sample.verdict not in BROKEN:
        return
    place = f" ({one.rule.place})" if one.rule.place else ""
    yield ""
    head = f"{one.rule.id}: {sample.kind} sample {sample.number} is {sample.verdict}: "
    yield from textwrap.wrap(f"{head}{SAMPLE_MEANING[sample.verdict]}{place}", WIDTH)
    for label, text in (("said", sample.message), *_sample_rows(sample.sample)):
        yield from textwrap.wrap(
            f"{label}: {one_line(text, 300)}",
            WIDTH,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT + " " * 6,
        )


def _fix_rows(one: RuleSampleResult) -> Iterator[str]:
    """Yield how many of the bad samples the rule's safe fixes fix, where they were tried."""
    fixed = [sample.fixed for sample in one.samples if sample.fixed is not None]
    if not fixed:
        return
    verb = "its fix fixes" if len(one.rule.fixes) == 1 else "its fixes fix"
    samples = pluralize(len(fixed), "bad sample")
    if any(fixed):
        yield f"{one.rule.id}: {verb} {sum(fixed)} of {samples}"
    else:
        yield f"warning: {one.rule.id}: {verb} none of {samples}"


def _sample_rows(sample: Sample) -> Iterator[tuple[str, str]]:
    for name, text in sample.files.items():
        yield (name or "text"), text
    if not sample.files:
        yield "text", "an empty folder"
