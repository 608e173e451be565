"""The table of the corpus: each rule, the documents on which it is red, and what readers say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.corpus.judge import Judged, Key
from benchmarks.corpus.judgements import Difference, Judgement

NAME = "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One rule of one template: documents judged, those on which it is red, and its findings."""

    template: str
    rule: str
    severity: str
    documents: int
    red: int
    true: int
    false: int
    unread: int


def rows(judged: Iterable[Judged], judgements: Mapping[Key, Judgement]) -> list[Row]:
    """Return a row for each rule of each template, in the order of the templates."""
    documents: Counter[tuple[str, str]] = Counter()
    red: Counter[tuple[str, str]] = Counter()
    said: Counter[tuple[str, str, bool | None]] = Counter()
    severities: dict[tuple[str, str], str] = {}
    for one in judged:
        template = one.document.template
        for rule, (severity, measured) in one.rules.items():
            severities[template, rule] = severity
            documents[template, rule] += measured
        for rule in {finding.key.rule for finding in one.findings}:
            red[template, rule] += 1
        for finding in one.findings:
            judgement = judgements.get(finding.key)
            said[template, finding.key.rule, judgement.verdict if judgement else None] += 1
    return [
        Row(
            template=template,
            rule=rule,
            severity=severities[template, rule],
            documents=documents[template, rule],
            red=red[template, rule],
            true=said[template, rule, True],
            false=said[template, rule, False],
            unread=said[template, rule, None],
        )
        for template, rule in sorted(severities, key=lambda pair: pair[0])
    ]


def share_false(table: Iterable[Row], severity: str) -> tuple[int, int]:
    """Return how many findings of a severity were judged false, and how many were judged."""
    mine = [row for row in table if row.severity == severity]
    false = sum(row.false for row in mine)
    return false, false + sum(row.true for row in mine)


def rendered(version: str, packages: int, documents: int, table: Iterable[Row]) -> str:
    """Return the table in Markdown, with sums by severity above it."""
    table = list(table)
    lines = [f"Corpus {version}: {documents} documents of {packages} projects.", ""]
    for severity in ("fail", "warn"):
        false, judged = share_false(table, severity)
        unread = sum(row.unread for row in table if row.severity == severity)
        lines.append(
            f"* findings of severity {severity}: {judged} judged, {false} of them false "
            f"({_percent(false, judged)}), {unread} not judged"
        )
    lines += [
        "",
        "| template | rule | severity | documents | red | true | false | not judged |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.template} | `{r.rule}` | {r.severity} | {r.documents} | {r.red} "
        f"| {r.true} | {r.false} | {r.unread} |"
        for r in table
    ]
    return "\n".join(lines) + "\n"


def false_ones(judgements: Iterable[Judgement], severity: str = "fail") -> str:
    """Return a list in Markdown of what was judged false, and why it stays."""
    lines = [
        f"* {j.key.package}, {j.key.path}:{j.key.line}, `{j.key.rule}`: "
        f"{j.reason.rstrip('.')}. {j.stays or 'It has to be fixed.'}"
        for j in sorted(judgements, key=lambda j: j.key)
        if j.severity == severity and j.verdict is False
    ]
    return "\n".join(lines or ["None."]) + "\n"


def differences(difference: Difference) -> list[str]:
    """Return a line for each finding that was gained or lost, gained ones first."""
    lines = [
        f"+ {f.severity} {f.key.package} {f.key.path}:{f.key.line} {f.key.rule}: {f.message}"
        for f in difference.new
    ]
    words = {True: "judged true", False: "judged false", None: "not judged"}
    lines += [
        f"- {j.severity} {j.key.package} {j.key.path}:{j.key.line} {j.key.rule} "
        f"({words[j.verdict]})"
        for j in difference.gone
    ]
    return lines


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none judged"
