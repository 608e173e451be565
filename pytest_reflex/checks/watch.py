"""Notice that the artifact or the criteria changed while they were being judged."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from pytest_reflex.checks.reading import listing_of, read_artifact
from pytest_reflex.errors import ArtifactError, ExitCode, read_twice
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.rules import Criteria

# A file that was written a moment ago can be written again within one tick of its clock.
_SETTLED = 2_000_000_000

Signature = tuple[int, int, int, int]
Signatures = dict[Path, Signature]

_UNREAD: Signature = (0, 0, 0, 0)


class Watch:
    """One artifact, or another file, as it was when it was read.

    `changed` compares times and sizes first, and the bytes where those differ or say little.
    """

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self._since = time.time_ns()
        self._signatures = _signatures(artifact)

    def changed(self) -> bool:
        """Return whether the bytes at the artifact's path are not those that were read.

        Raises ArtifactError where they cannot be read for a cause that may pass.
        """
        try:
            signatures = _signatures(self.artifact)
            if signatures == self._signatures and self._conclusive(signatures):
                return False
            looked = time.time_ns()
            limit, outside = _size(self.artifact) + 1, self.artifact.outside
            now = read_artifact(self.artifact.path, limit=limit, outside=outside)
        except ArtifactError as error:
            if error.exit_code is ExitCode.NOT_PERSISTED:
                raise
            return True  # it is gone, or larger
        if now.sha256 != self.artifact.sha256 or now.unread != self.artifact.unread:
            return True
        self._since, self._signatures = looked, signatures
        return False

    def _conclusive(self, signatures: Signatures) -> bool:
        times = (signature[0] for signature in signatures.values())
        return max(times, default=0) + _SETTLED < self._since


def watches(artifact: Artifact, others: Iterable[str] = ()) -> tuple[Watch, ...]:
    """Return watches over an artifact that was just read, and over other files that exist."""
    found = [Watch(artifact)]
    for path in dict.fromkeys(others):
        with contextlib.suppress(ArtifactError):
            found.append(Watch(read_artifact(path)))
    return tuple(found)


def files_of_rules(criteria: Criteria) -> list[str]:
    """Return the paths of the files that criteria and their rules were read from, sorted."""
    places = (rule.place.path for rule in criteria.rules if rule.place)
    return sorted({criteria.source, *places} - {""})


def _signatures(artifact: Artifact) -> Signatures:
    if not artifact.is_folder:
        return {artifact.path: signature(artifact.path)}
    listing = listing_of(artifact.path, artifact.name, outside=artifact.outside)
    unread = (artifact.path / one.path for one in listing.left_out if one.is_unchecked)
    found = dict.fromkeys(unread, _UNREAD)
    return {**found, **{path: signature(path) for path in listing.files.values()}}


def _size(artifact: Artifact) -> int:
    return sum(len(file.data) for file in artifact.files or (artifact,))


def signature(path: Path) -> Signature:
    """Return what a file is known by without reading it; that of a missing one says so."""
    try:
        status = read_twice(lambda: os.stat(path))
    except OSError:
        return (0, 0, -1, 0)
    return (status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino)
