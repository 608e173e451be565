"""Judge documents by their stock templates and return what was found, in several processes."""

from __future__ import annotations

import hashlib
import multiprocessing
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from benchmarks.corpus.packages import Document


class Key(NamedTuple):
    """What a finding and its judgement are known by."""

    package: str
    path: str
    line: int
    rule: str

    @property
    def id(self) -> str:
        """A short name for sheets; the same in each run."""
        return hashlib.sha256("\0".join(map(str, self)).encode()).hexdigest()[:10]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A red check of one rule on one document, at one line (0: no line)."""

    key: Key
    template: str
    severity: str
    message: str
    evidence: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One document: what was found, and for each rule its severity and whether it was measured."""

    document: Document
    findings: tuple[Finding, ...]
    rules: dict[str, tuple[str, bool]]
    unmeasured: dict[str, str]


def judge_all(documents: Iterable[Document], *, jobs: int) -> list[Judged]:
    """Return what the templates say of each document, by package and path; large ones go first."""
    todo = sorted(documents, key=lambda document: document.file.stat().st_size, reverse=True)
    done: list[Judged] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for judged in pool.map(judge, todo):
            done.append(judged)
            print(f"\r{len(done)} of {len(todo)} judged", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return sorted(done, key=lambda judged: (judged.document.package, judged.document.path))


def judge(document: Document) -> Judged:
    """Judge one document as `evaluate` does, in this process."""
    from pytest_reflex.api import make_target
    from pytest_reflex.checks.run import evaluate
    from pytest_reflex.model.enums import Outcome

    registry, criteria = _loaded(document.template)
    target = make_target(
        document.file,
        criteria,
        registry=registry,
        phase=document.level.value,
        threshold=None,
        variables={},
        root=document.file.parent,
    )
    findings: dict[Key, Finding] = {}
    rules, unmeasured = {}, {}
    for row in evaluate(target, registry).results:
        rules[row.rule.id] = (
            row.rule.severity.value,
            row.outcome in (Outcome.PASS, Outcome.FAIL),
        )
        if not rules[row.rule.id][1]:
            unmeasured[row.rule.id] = row.message
        for check in row.checks if row.outcome is Outcome.FAIL else ():
            if check.outcome is Outcome.FAIL:
                line = check.location.line if check.location else 0
                key = Key(document.package, document.path, line, row.rule.id)
                new = Finding(
                    key=key,
                    template=document.template,
                    severity=row.rule.severity.value,
                    message=check.message,
                    evidence=check.evidence,
                    description=row.rule.description,
                )
                findings.setdefault(key, new)
    return Judged(
        document=document, findings=tuple(findings.values()), rules=rules, unmeasured=unmeasured
    )


@cache
def _loaded(template: str):  # type: ignore[no-untyped-def]
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.criteria.load import load_criteria

    registry = built_in_registry()
    return registry, load_criteria(template, registry=registry)
