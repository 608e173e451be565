"""One check over the files of a folder: which files it looks at, and what that comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from pytest_reflex.checks.options import FLAG, TEXTS
from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Artifact, format_skipped
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult

FILE_KINDS = {
    "files": TEXTS.means("of a folder: which files are looked at, as a glob or a list of them"),
    "each": FLAG.means("of a folder: all of the files have to pass, not just one", "`false`"),
}
"""The parameters that say which files of a folder a check is about."""
ACROSS = FLAG.means("of a folder: the files are looked at together, as one", "`false`")
"""The parameter `across`, of the kinds that have a meaning for it."""


class FileScope(Enum):
    """What of a folder decides: the words for a check, when it passes, and what `files` may lack.

    The table of the reference page is made of these.
    """

    ONE = ("asks for something that is there", "one of the files passes", "`error`: it has to say")
    EACH = ("says `each: true`", "every file passes, and there is one", "all files")
    NONE = (
        "asks for what must not be there, or for no more than so much",
        "every file passes; `error` where there is none",
        "all files",
    )
    TOGETHER = ("says `across: true`", "the files pass as one", "all files")

    def __init__(self, asks: str, passes: str, without: str) -> None:
        self.asks, self.passes, self.without = asks, passes, without

    @classmethod
    def of(cls, *, each: bool, negative: bool) -> FileScope:
        return cls.EACH if each else cls.NONE if negative else cls.ONE


# Of several outcomes the first one counts.
_DECIDES = {
    True: (Outcome.FAIL, Outcome.ERROR, Outcome.NOT_MEASURED, Outcome.PASS),
    False: (Outcome.PASS, Outcome.ERROR, Outcome.NOT_MEASURED, Outcome.FAIL),
}
_UNSAID = (
    "is a folder, and this check says neither `files` nor `each` "
    "(name the files as artifacts, or give the check one of the two)"
)


def file_globs(params: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the globs that the parameter `files` gives, as one or as a list; None where none."""
    files = params.get("files")
    return (files,) if isinstance(files, str) else files and tuple(files)


def for_each_file(
    artifact: Artifact,
    patterns: tuple[str, ...] | None,
    judge: Callable[[Artifact], CheckResult],
    *,
    each: bool,
    negative: bool,
) -> CheckResult:
    """Judge a file, or the files of a folder that match one of the globs (None: not given).

    A check that was written for one file is not a verdict on a folder: it would pass where any file
    of many does. So it has to say which files it means, or that it means each of them. `FileScope`
    says how many have to pass; `negative` is a check of what must not be there. A file that could
    not be judged, or read, makes an error of what would otherwise depend on it.
    """
    if not artifact.is_folder:
        return judge(artifact)
    scope = FileScope.of(each=each, negative=negative)
    if patterns is None and scope is FileScope.ONE:
        return CheckResult(outcome=Outcome.ERROR, message=f"{artifact.name} {_UNSAID}")
    patterns, each = patterns or ("*",), scope is not FileScope.ONE
    files = artifact.select(patterns)
    if not files:
        message = f"no file of {artifact.name} matches {one_line(', '.join(patterns))}"
        outcome = Outcome.ERROR if scope is FileScope.NONE else Outcome.FAIL
        found = CheckResult(outcome=outcome, message=message)
        return over_all_of(artifact, patterns, found, each=each)
    results: list[tuple[Artifact, CheckResult]] = []
    for file in files:
        results.append((file, judge(file)))
        if results[-1][1].outcome is _DECIDES[each][0] and not results[-1][1].cause:
            break
    # What could not be read says less of the rule than what could.
    results.sort(key=lambda r: bool(r[1].cause))
    decided = next(r for o in _DECIDES[each] for r in results if r[1].outcome is o)
    result = _name_file(artifact, *decided, len(results), len(files), each)
    violated = each and result.outcome is Outcome.FAIL
    return over_all_of(artifact, patterns, result, each=each, violated=violated)


def as_one(
    artifact: Artifact,
    patterns: tuple[str, ...] | None,
    judge: Callable[[Sequence[Artifact]], CheckResult],
) -> CheckResult:
    """Judge a file, or the files of a folder that match one of the globs, together (`across`)."""
    patterns = patterns or ("*",)
    files = artifact.select(patterns)
    if not files:
        message = f"no file of {artifact.name} matches {one_line(', '.join(patterns))}"
        found = CheckResult(outcome=Outcome.FAIL, message=message)
        return over_all_of(artifact, patterns, found, each=True)
    result = judge(files)
    if len(files) > 1 and result.outcome is Outcome.PASS:
        checked = f"{len(files)} of {len(files)} files checked"
        message = f"{result.message} ({checked})" if result.message else checked
        result = replace(result, message=message)
    violated = result.outcome is Outcome.FAIL
    return over_all_of(artifact, patterns, result, each=True, violated=violated)


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
    missed = folder.skipped_for(patterns)
    if not missed:
        return result
    text = format_skipped(missed)
    if violated or result.outcome is Outcome.NOT_MEASURED:
        return replace(result, notes=(*result.notes, f"not checked: {text}"))
    if each and result.outcome is not Outcome.ERROR:
        return CheckResult(outcome=Outcome.ERROR, message=f"not checked: {text}")
    if result.outcome is Outcome.PASS:
        return replace(result, notes=(*result.notes, f"not checked: {text}"))
    return replace(result, message=f"{result.message}; not checked: {text}")


def _name_file(
    folder: Artifact, file: Artifact, result: CheckResult, looked: int, count: int, each: bool
) -> CheckResult:
    """Return the result of the file that decided, with words that say where it lies."""
    checked = f"{looked} of {count} files checked"
    if count > 1 and each and result.outcome is Outcome.PASS:
        return CheckResult(outcome=Outcome.PASS, message=checked)
    if count > 1 and not each and result.outcome is Outcome.FAIL:
        message = f"{result.message} in any of {count} files"
        return CheckResult(outcome=Outcome.FAIL, message=message, pattern=result.pattern)
    return replace(
        result,
        message=f"{file.name}: {result.message}" + (f" ({checked})" if count > 1 else ""),
        location=_below(folder, result.location),
        findings=tuple(
            replace(found, location=_below(folder, found.location)) for found in result.findings
        ),
    )


def _below(folder: Artifact, place: Place | None) -> Place | None:
    return Place(f"{folder.name}/{place.path}", place.line, place.column) if place else None
