"""Files that a person names for a run: the draft, instructions, the result."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.errors import ArtifactError, StateError, UsageError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import RunStatus, StopReason
from pytest_reflex.reports.lines import Line
from pytest_reflex.storage.atomic import replace_file
from pytest_reflex.storage.files import read_if_regular
from pytest_reflex.text.lines import read_own_text


def unusable(path: Path, root: Path) -> str:
    """Return why no result can be written to a path, or an empty string.

    A device or a pipe would be replaced by a file; what lies below the state folder `root` is the
    program's own.
    """
    try:
        real = path.resolve()
        mode = os.stat(real).st_mode if os.path.lexists(real) else stat.S_IFREG
        folder_is_there = real.parent.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        return getattr(error, "strerror", None) or str(error)
    if not stat.S_ISREG(mode):
        return "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
    if not folder_is_there:
        return f"there is no folder {real.parent}"
    if real.is_relative_to(root.resolve()):
        return "loops keep their own state there"
    if real.exists() and not _is_writable(real):
        return "it is not writable"
    return "" if _is_writable(real.parent) else f"the folder {real.parent} is not writable"


def refuse_record(record: str | None, project: Path, root: Path) -> None:
    """Raise UsageError for a recording in the state folder `root`: it is the program's own."""
    if record and (project / record).resolve().is_relative_to(root.resolve()):
        raise UsageError(
            f"no recording can be written to {record}: loops keep their own state there",
            hint="give another --record",
        )


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def deliver(files: RunFiles, project: Path) -> Line:
    """Write the result where the run was asked to, and say so in one line (empty if it was not).

    A file that is there already is a person's: it is replaced by a result of a run that completed,
    and not by the best that a stopped one came to. Raises StateError where it cannot be written.
    """
    state = files.state
    output = state.setup.get("output")
    if not output:
        return []
    # Links are followed, and the file is readable as any that a person makes.
    path = (project / output).resolve()
    where = f"the artifact is {files.artifact_label}"
    if state.stop.reason is StopReason.TAMPERED:
        return not_written(f" to {output}: no verdict can be relied on; {where}")
    if state.artifact_status != "evaluated":
        return not_written(f" to {output}: nothing was evaluated; {where}")
    if state.status is not RunStatus.COMPLETED and path.exists():
        why = f" to {output}, which is as it was: the gate did not pass; {where}"
        return not_written(why)
    if why := unusable(path, files.folder.parent):
        raise StateError(f"{output} could not be written: {why}", hint=where)
    if output == state.setup.get("input") and _was_edited(path, state):
        return not_written(f" to {output}: it was changed since the loop began; {where}")
    replace_file(path, files.artifact_text().encode("utf-8"), mode=0o644)
    return [(escape_control(f"Written to: {output}"), "good")]


def not_written(why: str) -> Line:
    """Return the line about a result that was not written."""
    return [(escape_control(f"Not written{why}"), "mild")]


def _was_edited(path: Path, state: RunState) -> bool:
    """Return whether the draft at a path is not what the loop began with."""
    data = read_if_regular(path)
    return data is not None and data != (state.draft or "").encode("utf-8")


def read_draft(path: Path) -> Artifact:
    """Return a file that agents can be given: text. Raises UsageError or ArtifactError."""
    artifact = read_artifact(path)
    if artifact.is_folder:
        raise UsageError(f"{path} is a folder", hint="a loop refines one file")
    try:
        artifact.raw_text.encode()
    except ArtifactError as error:
        raise ArtifactError(error.problems[0].message, hint=_NO_TEXT) from None
    return artifact


_NO_TEXT = (
    "a loop refines UTF-8 text: save it so; what is not text can be checked, by "
    "`pytest-reflex evaluate` and executable checks"
)


_HINT = "fix loop.prompts in the configuration"


def read_instructions(files: Mapping[str, str], project: Path) -> dict[str, str]:
    """Return the texts of files by step; raises UsageError for one that cannot be used."""
    return {
        step: read_own_text(project / name, f"the prompt of {step}", hint=_HINT)
        for step, name in files.items()
    }
