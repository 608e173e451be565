"""Sheets for readers: findings with their rule, their place and the lines around it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.corpus.judge import Finding, Judged, Key
from benchmarks.corpus.judgements import Judgement

PER_SHEET = 60
WARNINGS = 120
AROUND = 7
WIDTH = 220
ASKED = """\
Each entry is one finding of a checker on a document of a published package. Open the document
where the excerpt is not enough. true: the document really has what the finding says, and the
maintainers would take a patch for it, whatever its size. false: nothing is wrong there, or they
would not change it, or the checker misread the document, or it is no such document as the rule is
for. A package holds only a part of its repository: that something is left out of the package is
no fault. Answer in a TOML file of your own beside this sheet: [[finding]] with id, verdict =
"true" or "false", and reason (a short sentence).
"""


def chosen(judged: Iterable[Judged], judgements: Mapping[Key, Judgement]) -> list[Finding]:
    """Return what is to be read: all of severity fail, then of the others a share of each rule."""
    fails: list[Finding] = []
    others: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for one in judged:
        for finding in one.findings:
            known = judgements.get(finding.key)
            if known and known.verdict is not None:
                continue
            if finding.severity == "fail":
                fails.append(finding)
            else:
                others[finding.template, finding.key.rule].append(finding)
    fails.sort(key=lambda f: (f.key.rule, f.key))
    queues = [sorted(queue, key=lambda f: f.key.id) for _, queue in sorted(others.items())]
    rounds = (queue[i] for i in range(WARNINGS) for queue in queues if i < len(queue))
    some = [finding for finding, _ in zip(rounds, range(WARNINGS), strict=False)]
    return fails + sorted(some, key=lambda f: (f.key.rule, f.key))


def write_sheets(findings: list[Finding], files: Mapping[tuple[str, str], Path], to: Path) -> int:
    """Write the sheets into a folder and return how many there are."""
    to.mkdir(parents=True, exist_ok=True)
    parts = [findings[at : at + PER_SHEET] for at in range(0, len(findings), PER_SHEET)]
    for number, part in enumerate(parts, start=1):
        entries = (_entry(f, files[f.key.package, f.key.path]) for f in part)
        text = f"# Sheet {number}\n\n{ASKED}\n" + "\n".join(entries)
        (to / f"{number}.md").write_text(text, "utf-8")
    return len(parts)


def _entry(finding: Finding, file: Path) -> str:
    key = finding.key
    lines = [
        f"## {key.id}",
        "",
        f"* document: {file} ({key.package})",
        f"* rule: {key.rule} of {finding.template}, severity {finding.severity}",
        f"* which says: {finding.description}",
        f"* finding: line {key.line}: {finding.message}",
    ]
    if "\n" in finding.evidence:
        lines += ["* all that it names:", *(f"    {line}" for line in _first(finding.evidence))]
    return "\n".join([*lines, "", "~~~~~", *_excerpt(file, key.line), "~~~~~", ""])


def _first(evidence: str, most: int = 8) -> list[str]:
    return [line[:WIDTH] for line in evidence.splitlines()[:most]]


def _excerpt(file: Path, line: int) -> Iterator[str]:
    texts = file.read_text("utf-8", errors="replace").splitlines()
    start = max(0, line - 1 - AROUND)
    for number, text in enumerate(texts[start : start + 2 * AROUND + 1], start=start + 1):
        yield f"{'>' if number == line else ' '}{number:5} {text[:WIDTH]}"
