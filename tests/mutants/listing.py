"""The mutants there are, what each changes, and a sample of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import WorkItem

from tests.mutants.core import MODULES, OPERATORS, ROOT

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Mutant:
    """One change of one module, as cosmic-ray names it."""

    module: str
    start: Place
    end: Place
    operator: str
    occurrence: int
    job: str

    @property
    def name(self) -> tuple[str, str, int]:
        """What names it again in another session on the same source."""
        return self.module, self.operator, self.occurrence


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a mutant does to the lines of a module; blanks count as one, and none in front."""

    line: int
    old: str
    new: str


def mutated(mutant: Mutant, source: str) -> str | None:
    """Return the mutated source, None where it would not even compile."""
    code = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
    try:
        compile(code, mutant.module, "exec")
    except SyntaxError:
        return None
    return str(code)


def change(source: str, new: str) -> Change:
    """Return what differs between a source and its mutated form."""
    before, after = source.splitlines(), new.splitlines()
    first = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    last = 0
    while last < min(len(before), len(after)) - first and before[-1 - last] == after[-1 - last]:
        last += 1
    cut = [
        "\n".join(" ".join(line.split()) for line in lines[first : len(lines) - last])
        for lines in (before, after)
    ]
    return Change(line=first + 1, old=cut[0], new=cut[1])


def mutant_of(item: WorkItem) -> Mutant:
    """Return a mutant as cosmic-ray's session has it."""
    (spec,) = item.mutations
    return Mutant(
        module=str(spec.module_path), start=tuple(spec.start_pos), end=tuple(spec.end_pos),
        operator=spec.operator_name, occurrence=spec.occurrence, job=item.job_id,
    )  # fmt: skip


def mutants(database: WorkDB) -> list[Mutant]:
    """Return the mutants that change behaviour, in the order of their places."""
    wanted = {f"core/{name}" for name in OPERATORS}
    sources = {module: Source((ROOT / module).read_text("utf-8")) for module in MODULES}
    found = (mutant_of(item) for item in database.work_items)
    return sorted(
        one for one in found if one.operator in wanted and not sources[one.module].declares(one)
    )


def sample(found: Sequence[Mutant], size: int, seed: int, root: Path = ROOT) -> list[Mutant]:
    """Return so many mutants, by chance; `size` 0 is all of them.

    Chance goes by the seed and the text of a line, so that a change elsewhere in the sources leaves
    the sample as it is.
    """
    if not size:
        return list(found)
    sources = {one.module: (root / one.module).read_text("utf-8").splitlines() for one in found}
    twins: Counter[str] = Counter()
    ranked: list[tuple[str, Mutant]] = []
    for one in found:
        line = sources[one.module][one.start[0] - 1]
        column = one.start[1] - len(line) + len(line.lstrip())
        name = f"{seed} {one.module} {one.operator} {column} {line.strip()}"
        twins[name] += 1
        ranked.append((sha256(f"{name} {twins[name]}".encode()).hexdigest(), one))
    return sorted(one for _, one in sorted(ranked)[:size])


class Source:
    """A module's source, and the places in it that declare something and do nothing."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self._declared = list(_declarations(self.tree))
        self._operations = [
            _span(node)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.BinOp | ast.AugAssign)
        ]

    def declares(self, mutant: Mutant) -> bool:
        """Whether a mutant concerns an annotation, a class's decorator, or the `*` of a call."""
        if any(start <= mutant.start and mutant.end <= end for start, end in self._declared):
            return True
        return "BinaryOperator" in mutant.operator and not any(
            start <= mutant.start and mutant.end <= end for start, end in self._operations
        )

    def function(self, line: int) -> str:
        """Return the dotted name of the innermost function or class around a line; "" in none."""
        return ".".join(
            node.name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            and min(one.lineno for one in [node, *node.decorator_list]) <= line
            and line <= (node.end_lineno or 0)
        )


def _declarations(tree: ast.AST) -> Iterator[tuple[Place, Place]]:
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if isinstance(declared := getattr(node, name, None), ast.AST):
                yield _span(declared)
        if isinstance(node, ast.ClassDef):
            for decorator in node.decorator_list:
                (line, column), end = _span(decorator)
                yield (line, column - 1), (end[0] + 1, 0)  # with its "@" and the line's end


def _span(node: ast.AST) -> tuple[Place, Place]:
    return (
        (node.lineno, node.col_offset),  # type: ignore[attr-defined]
        (node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
    )
