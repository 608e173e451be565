"""Files that must stay as they were when a run began: put back where they were changed.

Copies lie in the folder of the run's state, with what the files were, so that a resumed run can put
them back too. What lies outside the project, or is too large, cannot be put back: a change of it is
reported once, and `lost_names` names it as long as it lasts.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.protection import Protection, ProtectionStart, ReliedFiles
from pytest_reflex.errors import ReflexError, StateError
from pytest_reflex.integrity.patterns import NOT_ENTERED
from pytest_reflex.storage.atomic import PRIVATE, remove_file, replace_file
from pytest_reflex.storage.files import read_if_regular

_MOST_BYTES = 16_000_000
_BEGUN = "begun.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """A file as it was: the hash of its bytes, its mode, where a link led, its real folder."""

    sha: str
    mode: int
    link: str
    folder: str


class KeptFiles:
    """What `relied` names in a project, with copies of it in `folder`."""

    def __init__(
        self,
        project: Path,
        folder: Path,
        relied: ReliedFiles,
        *,
        start: ProtectionStart | None = None,
        copies: Mapping[str, _Copy] | None = None,
    ) -> None:
        self._project, self._folder, self._relied = project, folder, relied
        self._protection = Protection(project, relied, start)
        self._reported: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._copies = dict(copies) if copies is not None else self._copy_files()
        self._save()

    @classmethod
    def load(cls, project: Path, folder: Path) -> KeptFiles | None:
        """Return what was kept when a run began, None where nothing of it can be read."""
        try:
            wire = json.loads((folder / _BEGUN).read_bytes())
            relied = wire["relied"]
            return cls(
                project,
                folder,
                ReliedFiles(
                    files=_sections(relied["files"]),
                    programs=frozenset(relied["programs"]),
                    patterns=_sections(relied["patterns"]),
                    named=_sections(relied["named"]),
                    module_folders=frozenset(relied["module_folders"]),
                    module_names=frozenset(relied["module_names"]),
                ),
                start=ProtectionStart(
                    found=wire["found"],
                    modules={name: frozenset(one) for name, one in wire["modules"].items()},
                ),
                copies={name: _Copy(**one) for name, one in wire["copies"].items()},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _save(self) -> None:
        start = self._protection.start()
        wire = {
            "relied": asdict(self._relied),
            "found": dict(start.found),
            "modules": start.modules,
            "copies": {name: asdict(copy) for name, copy in self._copies.items()},
        }
        replace_file(self._folder / _BEGUN, json.dumps(wire, default=sorted).encode())

    def _copy_files(self) -> dict[str, _Copy]:
        found = ((name, self._copy(name)) for name in self._protection.files())
        return {name: copy for name, copy in found if copy is not None}

    def _copy(self, name: str) -> _Copy | None:
        """Return a file of the project as it is now, copied; None for what cannot be copied."""
        path = self._project / name
        if os.path.isabs(name):
            return None
        try:
            link = os.readlink(path) if path.is_symlink() else ""
            real = Path(os.path.realpath(path))
            data = read_if_regular(real, _MOST_BYTES)
            if data is None:
                return None
            mode = stat.S_IMODE(real.stat().st_mode)
        except (OSError, ReflexError):
            return None
        sha = hashlib.sha256(data).hexdigest()
        if not (self._folder / sha).exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._folder / sha, data)
        folder = os.path.realpath(path.parent)
        return _Copy(sha=sha, mode=mode, link=link, folder=folder)

    def names(self) -> tuple[str, ...]:
        """Return the names of the project's own files that were there."""
        return tuple(
            name
            for name in self._protection.files()
            if not os.path.isabs(name) and NOT_ENTERED.isdisjoint(Path(name).parts)
        )

    def changed_names(self) -> list[str]:
        """Return the names of those that are not as they were."""
        return list(self._protection.find_modified())

    def lost_names(self) -> list[str]:
        """Return the names of those that were changed and could not be put back."""
        return list(self._reported)

    def restore(self) -> list[str]:
        """Put back what was changed, and return its names; raises StateError where that fails.

        What cannot be put back is named once for each change.
        """
        modified = self._protection.find_modified()
        self._reported = {name: now for name, now in self._reported.items() if name in modified}
        found = []
        for name, (before, now) in modified.items():
            is_ours = not os.path.isabs(name) and (not before or name in self._copies)
            if is_ours and self._put_back(name, there=bool(before)):
                found.append(name)
            elif self._reported.get(name) != now:
                self._reported[name] = now
                found.append(os.path.realpath(self._project / name))
        self._renew(modified)
        return found

    def _renew(self, modified: Iterable[str]) -> None:
        """Take files of which a part alone counts, and stayed, as they are now."""
        patterns = (self._relied.files, self._relied.patterns, self._relied.named)
        if not any(sections for one in patterns for sections in one.values()):
            return
        for name in set(self._copies) - set(modified):
            copy = self._copy(name)
            if copy is not None and copy != self._copies[name]:
                self._copies[name] = copy
                self._save()

    def _put_back(self, name: str, *, there: bool) -> bool:
        """Put a file back; False where it is a link to one outside, which is another one now."""
        path = self._project / name
        if not there:
            _remove(path)
            return True
        copy = self._copies[name]
        data = read_if_regular(self._folder / copy.sha, _MOST_BYTES)
        if data is None or hashlib.sha256(data).hexdigest() != copy.sha:
            raise StateError(f"{name} was changed, and there is no copy of it any more")
        self._open_folder(path.parent, copy.folder)
        if copy.link:
            if not path.is_symlink() or os.readlink(path) != copy.link:
                _remove(path)
                path.symlink_to(copy.link)
            path = Path(os.path.realpath(path))
            if not path.is_relative_to(self._project.resolve()):
                now = read_if_regular(path, _MOST_BYTES)
                return now is not None and hashlib.sha256(now).hexdigest() == copy.sha
        elif path.is_symlink() or path.is_dir():
            _remove(path)
        replace_file(path, data, mode=PRIVATE)
        os.chmod(path, copy.mode)
        return True

    def _open_folder(self, folder: Path, real: str) -> None:
        """Have a folder lie where it lay: a link or a file in its place is removed."""
        if os.path.realpath(folder) != real or not folder.is_dir():
            for one in [*reversed(folder.parents), folder]:
                if one.is_relative_to(self._project) and one != self._project:
                    moved = one.is_symlink() and not real.startswith(os.path.realpath(one))
                    if moved or (os.path.lexists(one) and not one.is_dir()):
                        _remove(one)
            folder.mkdir(parents=True, exist_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.parent.is_dir():
        remove_file(path)


def _sections(wire: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(one) for name, one in wire.items()}
