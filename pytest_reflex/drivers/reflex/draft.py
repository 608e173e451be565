"""The draft that a run starts from: text, since agents take nothing else."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.errors import ArtifactError, UsageError
from pytest_reflex.model.artifact import Artifact


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
    "a loop refines UTF-8 text: save it so; what is not text can be judged, by "
    "`pytest-reflex evaluate` and executable checks"
)
