"""One check over the files of a folder: which files it looks at, and what that comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_reflex.checks.options import FLAG, TEXTS
from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.left_out import listed
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.words import Outcome

FILE_KINDS = {
    "files": TEXTS.means("of a folder: which files are looked at, as a glob or a list of them"),
    "each": FLAG.means("of a folder: all of the files have to pass, not just one", "`false`"),
}
"""The parameters that say which files of a folder a check is about."""

_UNSAID = (
    "is a folder, and this check says neither `files` nor `each` "
    "(name the files as artifacts, or give the check one of the two)"
)


def over_files(
    artifact: Artifact,
    patterns: tuple[str, ...] | None,
    judge: Callable[[Artifact], CheckResult],
    *,
    each: bool,
    negative: bool,
) -> CheckResult:
    """Judge a file, or the files of a folder that match one of the globs (None: not given).

    A check that was written for one file is no verdict on a folder: it would pass where any file
    of many does. So it has to say which files it means, or that it means each of them. Then one
    file has to pass; with `each`, all of them, and there has to be one. What must not be there
    (`negative`) must be in none of the files; where there is no file, that is no verdict. A file
    that could not be judged, or read, makes an error of what would otherwise depend on it.
    """
    if not artifact.is_folder:
        return judge(artifact)
    if patterns is None and not each and not negative:
        return CheckResult(outcome=Outcome.ERROR, message=f"{artifact.name} {_UNSAID}")
    patterns, each = patterns or ("*",), each or negative
    files = artifact.select(patterns)
    if not files:
        message = f"no file of {artifact.name} matches {one_line(', '.join(patterns))}"
        outcome = Outcome.ERROR if negative else Outcome.FAIL
        found = CheckResult(outcome=outcome, message=message)
        return over_all_of(artifact, patterns, found, each=each)
    decisive = (Outcome.FAIL if each else Outcome.PASS, Outcome.ERROR)
    results: list[tuple[Artifact, CheckResult]] = []
    for file in files:
        result = judge(file)
        results.append((file, result))
        if result.outcome is decisive[0]:
            break
    decided = next((r for o in decisive for r in results if r[1].outcome is o), results[0])
    told = _told(artifact, *decided, len(files), each)
    violated = each and told.outcome is Outcome.FAIL
    return over_all_of(artifact, patterns, told, each=each, violated=violated)


def over_all_of(
    folder: Artifact,
    patterns: tuple[str, ...],
    result: CheckResult,
    *,
    each: bool,
    violated: bool = False,
) -> CheckResult:
    """Return the result for all that the globs select in a folder, unread files included.

    `result` is that of the files that were read; with `each`, it has to hold in all of them. Then
    what was not read keeps it from passing, and from failing too, unless a file has `violated` it.
    """
    missed = folder.unchecked(patterns)
    if not missed:
        return result
    told = listed(missed)
    if violated or result.outcome is Outcome.NOT_MEASURED:
        return replace(result, notes=(*result.notes, f"not checked: {told}"))
    if each and result.outcome is not Outcome.ERROR:
        return CheckResult(outcome=Outcome.ERROR, message=f"not checked: {told}")
    if result.outcome is Outcome.PASS:
        return replace(result, notes=(*result.notes, f"not checked: {told}"))
    return replace(result, message=f"{result.message}; not checked: {told}")


def _told(
    folder: Artifact, file: Artifact, result: CheckResult, count: int, each: bool
) -> CheckResult:
    """Return the result of the file that decided, with words that say where it lies."""
    if count > 1 and each and result.outcome is Outcome.PASS:
        return CheckResult(outcome=Outcome.PASS, message=f"holds in all {count} files")
    if count > 1 and not each and result.outcome is Outcome.FAIL:
        message = f"{result.message} in any of {count} files"
        return CheckResult(outcome=Outcome.FAIL, message=message)
    location = result.location
    if location is not None:
        location = Place(f"{folder.name}/{location.path}", location.line, location.column)
    return replace(result, message=f"{file.name}: {result.message}", location=location)
