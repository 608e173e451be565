"""From a template's name or a file to `Criteria`: reads, inherits within bounds, fills in."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.diagnostics import (
    Diagnostics,
    Spot,
    Table,
    in_order,
    quote,
    settle_variables,
)
from pytest_reflex.criteria.document import display_path, read_document
from pytest_reflex.criteria.fields import refuse_unknown_keys, texts_at
from pytest_reflex.criteria.header import name_from, read_name, read_thresholds, read_version
from pytest_reflex.criteria.rules import Layer, finish, join, look_at, read_over
from pytest_reflex.criteria.templates import find_template, is_shared
from pytest_reflex.errors import CriteriaError, Place, Problem
from pytest_reflex.model.enums import Level
from pytest_reflex.model.rules import Criteria, Rule, SwitchedOff, cannot_fail

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


_REPOSITORY = (".git", ".hg")
_CONFIGURATION = (
    *("pyproject.toml", "pytest-reflex.toml", "pytest.ini", ".pytest.ini"),
    *("tox.ini", "setup.cfg", "setup.py"),
)


def reaches(file: Path, other: Path) -> bool:
    """Return whether a criteria file may take over `other`, links followed.

    It may below its own folder, below the root of its project (the nearest repository; else the
    nearest folder with a configuration file), and below the working directory, if it lies there
    itself. Nothing reaches the whole file system.
    """
    wanted = other.resolve()
    homes = {file.absolute().parent, file.resolve().parent}
    return any(wanted.is_relative_to(root) for home in homes for root in _roots(home, Path.cwd()))


@lru_cache(maxsize=64)
def _roots(home: Path, working: Path) -> tuple[Path, ...]:
    above = [project] if (project := _project(home)) else []
    if home.is_relative_to(working):
        above.append(working)
    return (home.resolve(), *(root.resolve() for root in above if root != Path(root.anchor)))


def _project(home: Path) -> Path | None:
    return next(_folders_with(home, _REPOSITORY), None) or next(
        _folders_with(home, _CONFIGURATION), None
    )


def _folders_with(home: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """Yield the folders from `home` upwards that hold one of the names."""
    for folder in (home, *home.parents):
        if any((folder / name).exists() for name in names):
            yield folder


DEFAULT_THRESHOLDS = {Level.A: Fraction(4, 5), Level.B: Fraction(9, 10)}
TEMPLATE_KEYS = (
    "name",
    "version",
    "extends",
    "phases",
    "phase",
    "vars",
    "commands",
    "drop",
    "rules",
)
SUITE_KEYS = ("criteria", "artifacts", "phase", "phases", "vars", "commands", "drop", "rules")
INLINE_KEYS = ("name", "version", "phases", "phase")
_LONGEST_CHAIN = 20
_MANY_OBJECTS = 50_000


def load_criteria(
    ref: str | Path,
    *,
    registry: Registry,
    variables: Mapping[str, Any] | None = None,
    relative_to: Path | None = None,
) -> Criteria:
    """Return the criteria that a template's name, a template, a suite file or a run.json holds.

    `variables` win over those of the files and must be declared there. A relative path starts at
    `relative_to` (default: the working directory). Raises CriteriaError with every problem found.
    """
    return read_criteria(ref, registry=registry, variables=variables, relative_to=relative_to)[0]


def read_criteria(
    ref: str | Path,
    *,
    registry: Registry,
    variables: Mapping[str, Any] | None = None,
    relative_to: Path | None = None,
) -> tuple[Criteria, tuple[Path, ...]]:
    """Return criteria as `load_criteria` does, and every file that they were read from."""
    reading = CriteriaReader(registry, variables or {})
    path = find_template(ref, relative_to=relative_to)
    with collector_off():
        table, diagnostics = reading.document(path)
        criteria = reading.criteria(reading.layer(path, table, diagnostics), path)
    return criteria, tuple(dict.fromkeys(reading.files))


class CriteriaReader:
    """One act of reading: the files that took part, and what was wrong with each."""

    def __init__(self, registry: Registry, variables: Mapping[str, Any]) -> None:
        self._registry = registry
        self._variables = variables
        self._diagnostics: list[Diagnostics] = []
        self._unreadable: list[Problem] = []
        self._layers: dict[Path, Layer] = {}
        self.files: list[Path] = []

    def document(self, path: Path) -> tuple[Table, Diagnostics]:
        """Return the mapping in a file; raises CriteriaError where it cannot be read."""
        table, diagnostics = read_document(path)
        self.files.append(path)
        self._diagnostics.append(diagnostics)
        return table, diagnostics

    def layer(
        self, path: Path, table: Table, diagnostics: Diagnostics, chain: tuple[Path, ...] = ()
    ) -> Layer:
        """Return what a file says over what it inherits; `chain` are the files that led to it."""
        keys: tuple[str, ...] = TEMPLATE_KEYS
        if "run_id" in table and isinstance(table.get("criteria"), Table):
            table, keys = table["criteria"], (*TEMPLATE_KEYS, "switched_off")
        if is_suite(table):
            return self._suite(path, table, diagnostics, chain)
        refuse_unknown_keys(table, keys, diagnostics, what="a template")
        base = self._read_bases(table, "extends", path, diagnostics, chain)
        layer = read_over(base, table, diagnostics, read_thresholds(table, diagnostics))
        layer.name = read_name(table, diagnostics) or name_from(path.stem)
        layer.version = read_version(table, diagnostics)
        return layer

    def criteria(self, layer: Layer, path: Path) -> Criteria:
        """Return the finished criteria; raises CriteriaError with all problems of all files."""
        variables = settle_variables(layer.vars, self._variables)
        rules, off = [], []
        for draft in layer.drafts.values():
            # Most rules are given by one file alone, where nothing can be switched off.
            if draft.base is not None and (place := draft.off_place()):
                look_at(draft)
                off.append(SwitchedOff(draft.id, place))
            else:
                rules.append(finish(draft, variables, self._registry, layer.commands))
        self.raise_problems()
        criteria = Criteria(
            name=layer.name,
            version=1 if layer.version is None else layer.version,
            thresholds={**DEFAULT_THRESHOLDS, **layer.thresholds},
            rules=tuple(rule for rule in rules if rule),
            vars=variables,
            commands=layer.commands,
            source=display_path(path),
            switched_off=tuple(off),
        )
        refuse_vacuous(criteria)
        return criteria

    def raise_problems(self) -> None:
        """Raise CriteriaError if anything was found so far."""
        found = [problem for diagnostics in self._diagnostics for problem in diagnostics.found]
        if found or self._unreadable:
            raise CriteriaError(in_order(found + self._unreadable))

    def _suite(
        self, path: Path, table: Table, diagnostics: Diagnostics, chain: tuple[Path, ...]
    ) -> Layer:
        hints = _suite_hints(table)
        refuse_unknown_keys(table, SUITE_KEYS, diagnostics, what="a suite", hints=hints)
        inline = table.get("criteria")
        thresholds = read_thresholds(table, diagnostics, keys=("phases",))
        if isinstance(inline, Table):
            refuse_unknown_keys(inline, INLINE_KEYS, diagnostics, what="criteria")
            base = Layer(
                name=read_name(inline, diagnostics),
                version=read_version(inline, diagnostics),
                thresholds=read_thresholds(inline, diagnostics),
            )
        else:
            base = self._read_bases(table, "criteria", path, diagnostics, chain)
        layer = read_over(base, table, diagnostics, thresholds)
        layer.name = layer.name or name_from(path.stem)
        return layer

    def _read_bases(
        self, table: Table, key: str, path: Path, diagnostics: Diagnostics, chain: tuple[Path, ...]
    ) -> Layer:
        chain = (*chain, path.resolve())
        layers = []
        complete = True
        for reference, spot in texts_at(table, key, diagnostics):
            layer = self._base(reference, spot, path, diagnostics, chain)
            complete = complete and layer is not None
            layers += [layer] if layer else []
        if not complete:
            self.raise_problems()
        return join(layers, diagnostics)

    def _base(
        self,
        reference: str,
        spot: Spot,
        source: Path,
        diagnostics: Diagnostics,
        chain: tuple[Path, ...],
    ) -> Layer | None:
        try:
            path = find_template(reference, relative_to=source.parent).resolve()
        except CriteriaError as error:
            diagnostics.add(error.problems[0].message, spot, hint=error.problems[0].hint)
            return None
        if not (is_shared(path) or reaches(source, path)):
            message = f"{quote(reference)} leads out of the project of this file"
            hint = "what several projects share belongs in a pack, or copy it into this one"
            diagnostics.add(message, spot, hint=hint)
            return None
        if path in chain or len(chain) > _LONGEST_CHAIN:
            way = " -> ".join(display_path(step) for step in (*chain, path))
            diagnostics.add(f"these files extend one another without end: {way}", spot)
            return None
        if path not in self._layers:
            try:
                table, base_faults = self.document(path)
            except CriteriaError as error:
                self._unreadable += error.problems
                return None
            self._layers[path] = self.layer(path, table, base_faults, chain)
        return self._layers[path]


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the garbage collector from walking a growing tree again and again, or once at its end.

    A large one becomes old at once; only where no other code has frozen anything.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY_OBJECTS and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def is_suite(table: Table) -> bool:
    """Return whether a file names artifacts or other criteria, so that pytest can run it."""
    return "criteria" in table or "artifacts" in table


def _suite_hints(table: Table) -> dict[str, str]:
    """Return, for keys of a template, what to do about them in a file that is a suite."""
    word = "artifacts" if "artifacts" in table else "criteria"
    made = f"'{word}' (line {table.at_key(word)[0]}) makes this a suite: remove it, or"
    return {
        "name": f"{made} drop name and call the file x.reflex.yaml",
        "version": f"{made} drop version and call the file x.reflex.yaml",
        "extends": f"{made} say criteria instead of extends and call the file x.reflex.yaml",
    }


def refuse_vacuous(criteria: Criteria) -> None:
    """Raise CriteriaError where there is no rule, or where nothing can fail a level's gate."""
    place = Place(criteria.source)
    if not criteria.rules:
        hint = "give rules, or a template under extends or criteria"
        if criteria.switched_off:
            hint = "all of them are switched off: leave one on"
        raise CriteriaError("there are no rules", place=place, hint=hint)
    for level, threshold in criteria.thresholds.items():
        rules = criteria.active(level)
        if rules and cannot_fail(rules, threshold):
            raise CriteriaError(vacuity(rules, level), place=place, hint=VACUITY_HINT)


VACUITY_HINT = "give a rule the severity fail, or a weight and a threshold above 0"


def vacuity(rules: Sequence[Rule], level: Level) -> str:
    """Return why nothing can fail the gate of a level."""
    if any(rule.weight for rule in rules):
        return f"the threshold of phase {level} is 0 and no rule is of severity fail"
    return f"no rule carries weight in phase {level}, and none is of severity fail"
