"""Plant faults in documents that a rule passes, and see whether it fails then."""

from __future__ import annotations

import multiprocessing
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from benchmarks.rules.operators import (
    Operator,
    any_text,
    api_spec,
    code,
    configuration,
    markdown,
    pages,
    releases,
)
from benchmarks.rules.sources import Source

AT_LEAST = 6
OPERATORS: tuple[Operator, ...] = (
    *any_text.OPERATORS,
    *api_spec.OPERATORS,
    *code.OPERATORS,
    *configuration.OPERATORS,
    *markdown.OPERATORS,
    *pages.OPERATORS,
    *releases.OPERATORS,
)


class Kind(NamedTuple):
    """What faults are counted by."""

    template: str
    rule: str
    format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A document with one fault, and what the rule says to it."""

    kind: Kind
    package: str
    path: str
    operator: str
    caught: bool
    message: str


def kinds() -> list[Kind]:
    """Return the kinds for which there are operators, in the order of rules and formats."""
    found = (
        Kind(template, operator.rule, format_)
        for operator in OPERATORS
        for template in operator.templates
        for format_ in operator.formats
    )
    return list(dict.fromkeys(found))


def measured(todo: Iterable[Kind], found: Iterable[Source], *, jobs: int) -> list[Mutant]:
    """Return the mutants of each kind, judged in several processes."""
    by_format: dict[tuple[str, str], list[Source]] = {}
    for source in found:
        by_format.setdefault((source.template, source.format), []).append(source)
    work = [(kind, by_format.get((kind.template, kind.format), [])) for kind in todo]
    done: list[Mutant] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for number, mutants in enumerate(pool.map(of_kind, *zip(*work, strict=True)), start=1):
            done += mutants
            print(f"\r{number} of {len(work)} kinds", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return done


def of_kind(kind: Kind, found: Iterable[Source]) -> list[Mutant]:
    """Return the mutants of one kind, each of its operators at least once."""
    return list(islice(planted(kind, found), max(AT_LEAST, len(_operators(kind)))))


def planted(kind: Kind, found: Iterable[Source]) -> Iterator[Mutant]:
    """Yield mutants of one kind: each operator in turn, and another document each time."""
    operators = _operators(kind)
    ordered = _ordered(kind, found)
    used: set[tuple[str, str, str]] = set()
    good: dict[int, bool] = {}
    number = 0
    for _ in operators:
        for place, source in enumerate(ordered):
            turned = operators[number % len(operators) :] + operators[: number % len(operators)]
            for operator in turned:
                key = (source.package, source.path, operator.name)
                if key in used or not (files := changed(operator, source)):
                    continue
                if place not in good:
                    good[place] = judged(kind, source)[0] == "pass"
                if not good[place]:
                    break
                used.add(key)
                outcome, message = judged(kind, replace(source, files=files))
                yield Mutant(
                    kind=kind,
                    package=source.package,
                    path=source.path,
                    operator=operator.name,
                    caught=outcome == "fail",
                    message=f"{outcome}: {message}",
                )
                number += 1
                break


def _operators(kind: Kind) -> list[Operator]:
    return [
        one
        for one in OPERATORS
        if one.rule == kind.rule and kind.template in one.templates and kind.format in one.formats
    ]


def _ordered(kind: Kind, found: Iterable[Source]) -> list[Source]:
    def place(source: Source) -> str:
        return sha256("\0".join((kind.rule, source.package, source.path)).encode()).hexdigest()

    return sorted(found, key=place)


def changed(operator: Operator, source: Source) -> dict[str, str] | None:
    """Return the files with the fault in one of them, or None where it cannot be planted."""
    files = dict(source.files)
    for path, text in source.files.items():
        new = operator.change(text) if re.search(operator.where, path) else None
        if new is not None and new != text:
            files[path] = new
            if not operator.each_file:
                break
    return files if files != source.files else None


def judged(kind: Kind, source: Source) -> tuple[str, str]:
    """Return the outcome of the rule on it, and what it says; no other rule is judged."""
    from pytest_reflex.checks.run import evaluate
    from pytest_reflex.model.enums import Level
    from pytest_reflex.model.targets import Target

    registry, criteria = _loaded(kind.template, kind.rule)
    with tempfile.TemporaryDirectory() as folder:
        artifact = _write(source, Path(folder))
        target = Target(criteria=criteria, level=Level.B, artifact=artifact, root=artifact.parent)
        (row,) = evaluate(target, registry).results
    return row.outcome.value, row.message


def _write(source: Source, folder: Path) -> Path:
    """Write the files, and beside a page what lies around it in its package."""
    if source.around:
        own = PurePosixPath(source.path)
        (folder / own).parent.mkdir(parents=True, exist_ok=True)
        for parent in own.parents:
            for beside in (source.around / parent).iterdir():
                link = folder / parent / beside.name
                if not link.exists() and parent / beside.name != own:
                    link.symlink_to(beside.resolve())
    for path, text in source.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder / source.path


@cache
def _loaded(template: str, rule: str):  # type: ignore[no-untyped-def]
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.criteria.load import load_criteria

    registry = built_in_registry()
    criteria = load_criteria(template, registry=registry)
    return registry, replace(criteria, rules=tuple(r for r in criteria.rules if r.id == rule))
