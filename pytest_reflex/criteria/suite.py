"""From a suite file, or from options, to targets: which artifact under which criteria and level."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.diagnostics import Diagnostics, Spot, Table, quote
from pytest_reflex.criteria.fields import texts_at, word_at
from pytest_reflex.criteria.load import VACUITY_HINT, CriteriaReader, collector_off, vacuity
from pytest_reflex.errors import CriteriaError, UsageError, is_transient, read_twice
from pytest_reflex.model.enums import Level
from pytest_reflex.model.globs import alternatives
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import Criteria, cannot_fail
from pytest_reflex.model.targets import Target

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


_ONLY_B = "all rules are of phase B: use phase B"


def load_suite(
    path: Path,
    *,
    registry: Registry,
    variables: Mapping[str, Any] | None = None,
    root: Path,
    outside: bool = False,
) -> tuple[Target, ...]:
    """Return the targets of a suite file, sorted by the artifact's label.

    A label is the artifact's path seen from the suite's folder, with slashes. Raises CriteriaError
    with every problem found: artifacts that match nothing included, and without `outside`, those
    that lie neither below `root` nor below the suite's folder.
    """
    reading = CriteriaReader(registry, variables or {})
    with collector_off():
        table, diagnostics = reading.document(path)
        wanted = read_level(table, diagnostics)
        found = read_artifacts(table, path, diagnostics, root=None if outside else root)
        criteria = reading.criteria(reading.layer(path, table, diagnostics), path)
    level = wanted or default_level(criteria)
    if not criteria.active(level):
        message = f"the criteria have no rules in phase {level}"
        raise CriteriaError(message, place=diagnostics.place(table.at("phase")), hint=_ONLY_B)
    alone = len(found) == 1 and _names_one(table, path)
    return tuple(
        Target(
            criteria=criteria,
            level=level,
            artifact=artifact,
            root=root,
            label=label,
            alone=alone,
            outside=outside,
        )
        for label, artifact in sorted(found.items())
    )


def make_target(
    criteria: Criteria,
    artifact: Path,
    *,
    level: Level | None = None,
    threshold: Fraction | None = None,
    root: Path,
    outside: bool = False,
) -> Target:
    """Return the target for one artifact; the level defaults to B, or A where no B rule exists.

    The artifact may lie anywhere; with `outside`, links that lead out of a folder are followed.
    Raises UsageError where the artifact is missing, the level has no rules, or nothing could fail.
    """
    if not _is_there(artifact):
        hint = f"paths start at {Path.cwd()}"
        raise UsageError(f"there is no artifact {str(artifact)!r}", hint=hint)
    level = level or default_level(criteria)
    rules = criteria.active(level)
    if not rules:
        raise UsageError(f"{criteria.name} has no rules in phase {level}", hint=_ONLY_B)
    if threshold is not None and cannot_fail(rules, threshold):
        raise UsageError(vacuity(rules, level), hint=VACUITY_HINT)
    return Target(
        criteria=criteria,
        level=level,
        artifact=artifact,
        root=root,
        label=str(artifact),
        threshold=threshold,
        outside=outside,
    )


def default_level(criteria: Criteria) -> Level:
    """Return B, or A where the criteria have no rule of B."""
    return Level.B if criteria.has(Level.B) else Level.A


def read_level(table: Table, diagnostics: Diagnostics) -> Level | None:
    """Return the level under the suite's key `phase`; None where it is not given."""
    if "phase" not in table:
        return None
    if isinstance(table["phase"], Table):
        hint = "thresholds belong under phases"
        diagnostics.add("phase of a suite must be A or B", table.at("phase"), hint=hint)
        return None
    word = word_at(table, "phase", [level.value for level in Level], diagnostics)
    return Level(word) if word else None


def read_artifacts(
    table: Table, path: Path, diagnostics: Diagnostics, *, root: Path | None = None
) -> dict[str, Path]:
    """Return label to path of every artifact that the suite's patterns match.

    A pattern with wildcards matches files; one that ends in a slash matches folders. Neither
    matches hidden ones, nor the suite file itself. Where a `root` is given, what lies neither below
    it nor below the suite's folder is a problem.
    """
    patterns = texts_at(table, "artifacts", diagnostics)
    if not patterns and "artifacts" not in table:
        diagnostics.add("a suite needs artifacts", (1, 1), hint="artifacts: [README.md]")
    elif not patterns and not diagnostics.found:
        diagnostics.add("artifacts names nothing", table.at("artifacts"))
    found: dict[str, Path] = {}
    for pattern, spot in patterns:
        matches = match_artifacts(pattern, path.parent, apart=path)
        if not matches:
            _note_no_match(pattern, path, spot, diagnostics)
        for match in matches:
            if root and not _lies_below(match, root, path.parent):
                _note_outside(label_of(match, path.parent), match, spot, diagnostics)
            found.setdefault(label_of(match, path.parent), match)
    return found


def _lies_below(artifact: Path, *folders: Path) -> bool:
    real = Path(os.path.realpath(artifact))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def _note_outside(label: str, artifact: Path, spot: Spot, diagnostics: Diagnostics) -> None:
    target = one_line(os.path.realpath(artifact))
    diagnostics.add(
        f"{quote(label)} leads out of the project, to {target}",
        spot,
        hint="--reflex-outside lets artifacts lie anywhere",
    )


def artifact_patterns(path: Path) -> tuple[str, ...]:
    """Return the patterns under `artifacts` of a suite that can be read; they start at its folder.

    Raises CriteriaError for a file that is not YAML.
    """
    from pytest_reflex.checks.registry import Registry

    table, diagnostics = CriteriaReader(Registry(), {}).document(path)
    return tuple(pattern for pattern, _ in texts_at(table, "artifacts", diagnostics))


def _names_one(table: Table, suite: Path) -> bool:
    """Return whether the suite names one artifact by its path, not by a pattern."""
    patterns = texts_at(table, "artifacts", Diagnostics(""))
    return len(patterns) == 1 and os.path.lexists(suite.parent / patterns[0][0])


def match_artifacts(pattern: str, folder: Path, apart: Path | None = None) -> list[Path]:
    """Return what a pattern of artifacts matches in a folder, without the file `apart`."""
    literal = folder / pattern
    if not pattern.strip() or "\0" in pattern:
        return []
    if os.path.lexists(literal):
        return [literal]
    choices = alternatives(pattern)
    if len(choices) > 1:
        return [path for choice in choices for path in match_artifacts(choice, folder, apart)]
    if not glob.has_magic(pattern):
        return []
    wants_folders = pattern.endswith("/")
    # `**/**/` means what `**/` does, and would walk the tree once for every pair of folders.
    pattern = re.sub(r"(?:\*\*/)+", "**/", pattern)
    names = glob.glob(pattern, root_dir=folder, recursive=True)
    paths = [folder / name for name in names]
    return [
        path
        for path in paths
        if (path.is_dir() if wants_folders else path.is_file()) and path != apart
    ]


def label_of(artifact: Path, folder: Path) -> str:
    """Return the path of an artifact seen from a folder, with slashes."""
    return Path(os.path.relpath(artifact, folder)).as_posix()


def _note_no_match(pattern: str, suite: Path, spot: Spot, diagnostics: Diagnostics) -> None:
    diagnostics.add(
        f"{quote(pattern)} matches no artifact in {suite.absolute().parent}",
        spot,
        hint="patterns start at the suite's folder",
    )


def _is_there(path: str | os.PathLike[str]) -> bool:
    """Return whether something has that name; an error while looking is left to the reader."""
    try:
        read_twice(lambda: os.lstat(path))
    except (OSError, ValueError) as error:
        return is_transient(error)
    return True
