"""Where a run of a flow works: its files, its branch, its commits.

Without git the lines of the commits go into a log. Promises: only a path of the run's own folder,
or one that an act changed, is committed; a boundary that has its commit gets no other one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.git_command import HookError
from pytest_reflex.drivers.flow import artifacts as texts
from pytest_reflex.drivers.flow import messages
from pytest_reflex.drivers.flow.targets import BRANCH_PREFIX, slug_of
from pytest_reflex.errors import StateError, StepError, UsageError
from pytest_reflex.model.plain import one_line
from pytest_reflex.storage.atomic import remove_file, remove_strays, replace_file
from pytest_reflex.storage.files import read_if_regular, refuse_links
from pytest_reflex.storage.folders import make_folder

if TYPE_CHECKING:
    from pytest_reflex.drivers.flow.start import FlowOptions


ROOT = ".ai-loop"
RUNS = f"{ROOT}/runs"
LOG = "commits.log"
OWN = (ROOT, ".pytest-reflex")
"""Folders whose files never count as unsaved work of a person."""
_MOST_BYTES = 16_000_000
_COMMIT = ""  # among paths, of which none is empty


class Protected(Protocol):
    """What judges the work, and has to stay as it was when the run began."""

    def names(self) -> Sequence[str]: ...

    def restore(self) -> list[str]:
        """Put back what was changed, and return its names."""
        ...

    def lost_names(self) -> Sequence[str]:
        """Return the names of what was changed and could not be put back."""
        ...


@dataclass(frozen=True, slots=True)
class BoundaryCommit:
    """A boundary as it was committed; `refusal` is what a hook said that kept the changes out."""

    id: str
    boundary: messages.Boundary
    refusal: str = ""


class FlowWorkspace:
    """The files of one run, and the commits of its boundaries; `git` is None without them.

    `kept_out` are paths that had uncommitted changes when the run began.
    """

    def __init__(
        self,
        project: Path,
        run_id: str,
        *,
        git: Git | None,
        base: str,
        protected: Protected,
        unsaved: Protected | None = None,
        branch: str = "",
        kept_out: Iterable[str] = (),
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.project, self.run_id = project, run_id
        self.folder = project / RUNS / run_id
        self._git, self._base, self._protected = git, base, protected
        self._unsaved, self._restored = unsaved, list[str]()
        self._kept_out, self._say = frozenset(kept_out), say
        self._branch = branch

    def open_branch(self) -> None:
        """Make the run's branch and check it out, unless that was done before."""
        if self._git is not None and self._git.branch() != self._branch:
            self._git.create_branch(self._branch)

    def require_branch(self) -> None:
        """Raise StepError where the run's branch is not checked out any more."""
        if self._git is not None and self._git.branch() != self._branch:
            text = f"the branch of the run, {self._branch}, is not checked out any more"
            raise StepError(text, hint=f"git switch {self._branch}, then resume")

    def display_path(self, path: str) -> str:
        """Return the folder of a node as agents get it, seen from the project."""
        return f"{RUNS}/{self.run_id}/nodes/{path}"

    def make_folders(self, paths: Iterable[str]) -> None:
        """Make the folders of all nodes."""
        for path in paths:
            self._folder(path)

    def _folder(self, path: str) -> Path:
        folder = self.project / self.display_path(path)
        refuse_links(self.project, folder)
        make_folder(folder)
        return folder

    def write(self, path: str, name: str, text: str) -> None:
        """Write a file of a node; raises StateError."""
        replace_file(self._folder(path) / name, text.encode())

    def read(self, path: str, name: str) -> str | None:
        """Return a file of a node that an agent wrote, None where it is not there, or no text."""
        try:
            data = read_if_regular(self.project / self.display_path(path) / name, _MOST_BYTES)
            return None if data is None else data.decode("utf-8")
        except (StateError, UnicodeDecodeError):
            return None

    def remove(self, path: str, name: str) -> None:
        """Remove a file of a node: what an earlier iteration left does not count."""
        remove_file(self.project / self.display_path(path) / name)

    def clear(self, path: str) -> None:
        """Remove what an earlier entry of a node left."""
        folder = self._folder(path)
        for entry in sorted(folder.iterdir()):
            if entry.name.endswith("-output.md"):
                remove_file(entry)

    def write_run_state(
        self, *, status: str, stack: Sequence[str], data: Mapping[str, Any]
    ) -> None:
        """Write run-state.md."""
        write_run_state(self.project, self.run_id, status=status, stack=stack, data=data)

    def protected_names(self) -> Sequence[str]:
        """Return the files that an act must not change."""
        return self._protected.names()

    def restore(self) -> list[str]:
        """Put back protected files that were changed, and return their names."""
        found = self._protected.restore()
        self._restored += found
        return found

    def take_restored(self) -> list[str]:
        """Return the names of all that was put back, or would have to be, since the last time."""
        found, self._restored = sorted(set(self._restored)), []
        return found

    def lost_names(self) -> Sequence[str]:
        """Return the protected files that were changed and could not be put back."""
        return self._protected.lost_names()

    def restore_unsaved(self) -> list[str]:
        """Put back what was uncommitted when the run began, and return its names."""
        return self._unsaved.restore() if self._unsaved else []

    def dirty(self) -> dict[str, str]:
        """Return what differs from the last commit, but for files of runs, with a hash each."""
        found = self._git.dirty() if self._git else {}
        return {path: sha for path, sha in found.items() if not is_own(path)}

    def look(self) -> dict[str, str]:
        """Return how the tree stands: its last commit, and what differs from it."""
        return {_COMMIT: self._git.head(), **self.dirty()} if self._git else {}

    def find_differing(self, before: Mapping[str, str]) -> list[str]:
        """Return the paths that are not as they were at a look, committed since or not.

        One that was changed, committed and put back counts as changed.
        """
        if self._git is None:
            return []
        now = self.dirty()
        committed = self._git.changed_paths(before[_COMMIT]) if before.get(_COMMIT) else []
        return sorted(
            path
            for path in {*before, *now, *committed} - {_COMMIT}
            if not is_own(path)
            and (path not in before or before[path] != (now.get(path) or self._git.hash_of(path)))
        )

    def find_changed(self, before: Mapping[str, str]) -> list[str]:
        """Return the paths that were changed since a look; of those kept out, none."""
        return [path for path in self.find_differing(before) if path not in self._kept_out]

    @property
    def knows_changes(self) -> bool:
        return self._git is not None

    def commit(self, boundary: messages.Boundary, changed: Sequence[str]) -> BoundaryCommit:
        """Commit a boundary once, with what was changed.

        Where a hook refuses that, the files of the run alone are committed, and the boundary says
        so. Raises StepError where git, or a hook, refuses these too, or the branch is another one.
        """
        text = messages.message(boundary)
        for folder, _, _ in os.walk(self.folder):
            remove_strays(Path(folder))
        if self._git is None:
            self._log(boundary, text)
            return BoundaryCommit("", boundary)
        self.require_branch()
        for commit, message in self._git.messages(self._base):
            known = messages.read(message)
            if known and messages.is_same(known, boundary):
                if commit == self._git.head():
                    self._git.sync_index(f"{commit}^")
                return BoundaryCommit(commit, known, known.refused)
        try:
            return BoundaryCommit(self._git.commit(text, [*changed, *self._own_files()]), boundary)
        except HookError as error:
            if not changed:
                raise
            return self._without_changes(boundary, error)

    def _without_changes(self, boundary: messages.Boundary, error: HookError) -> BoundaryCommit:
        """Commit the files of the run alone: a hook has refused what was changed."""
        assert self._git is not None
        said = f"{error.hook}: {texts.first_line(error.said) or 'refused'}"
        refused = replace(boundary, refused=said, action=f"hook {said}; {boundary.action}")
        made = self._git.commit(messages.message(refused), self._own_files())
        return BoundaryCommit(made, refused, f"{error.hook}: {error.said}")

    def _own_files(self) -> list[str]:
        """Return the files of the run, unless git ignores them."""
        assert self._git is not None
        names = [
            os.path.relpath(os.path.join(folder, name), self.project).replace(os.sep, "/")
            for folder, _, files in os.walk(self.folder)
            for name in sorted(files)
        ]
        shown = f"{RUNS}/{self.run_id}"
        return [] if self._git.is_ignored(f"{shown}/{texts.RUN_STATE}") else names

    def _log(self, boundary: messages.Boundary, text: str) -> None:
        path = self.folder / LOG
        data = read_if_regular(path, 1 << 30) or b""
        mark = f"\n{messages.KEY}: {boundary.key}\n".encode()
        if mark not in data:
            replace_file(path, data + text.encode() + b"\n\n")


def write_run_state(
    project: Path, run_id: str, *, status: str, stack: Sequence[str], data: Mapping[str, Any]
) -> None:
    """Write run-state.md of a run: which node is active, and where its commits are."""
    text = texts.run_state(
        run_id=run_id,
        status=status,
        stack=stack,
        branch=data.get("branch", ""),
        base=data.get("base", ""),
        task=data["task"],
    )
    folder = project / RUNS / run_id
    refuse_links(project, folder)
    make_folder(folder)
    replace_file(folder / texts.RUN_STATE, text.encode())


def is_own(path: str) -> bool:
    """Return whether a path belongs to runs, and does not count as work."""
    return path.startswith(tuple(f"{one}/" for one in OWN))


INCLUDE = "include"
_SHOWN = 5


def branch_of(git: Git, options: FlowOptions, judges: Sequence[str]) -> dict[str, str]:
    """Return branch and base of a new run; raises UsageError where git is not ready for one."""
    tree = git.tree()
    dirty = [path for path in git.dirty() if not is_own(path) and path not in judges]
    if dirty and not options.allow_dirty:
        shown = ", ".join(map(one_line, dirty[:_SHOWN])) + (", ..." if dirty[_SHOWN:] else "")
        hint = "commit or stash it, or --allow-dirty: it stays as it is and is not committed"
        raise UsageError(f"there is unsaved work: {shown}", hint=hint)
    return {
        "branch": _branch_name(git, options),
        "base": tree.branch,
        "base_commit": git.head(),
        "kept_out": "\0".join(dirty if options.allow_dirty != INCLUDE else ()),
    }


def _branch_name(git: Git, options: FlowOptions) -> str:
    """Return a name that no branch has; one that was taken gets a number."""
    wanted = options.branch or BRANCH_PREFIX + slug_of(options.task)
    if not git.is_branch_name(wanted):
        raise UsageError(f"{wanted!r} is not a name of a branch", hint="--branch NAME")
    taken = git.branches()
    folders = {str(one) for name in taken for one in PurePosixPath(name).parents}
    if above := [str(one) for one in PurePosixPath(wanted).parents if str(one) in taken]:
        raise UsageError(f"the branch {above[0]} leaves no room for {wanted}", hint="--branch NAME")
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, 10_000))
    return next(name for name in names if name not in taken and name not in folders)


def refuse_other_branch(git: Git, run_id: str, data: Mapping[str, Any]) -> None:
    """Refuse to go on beside the run's branch; one that is not made yet is made by the run."""
    here, branch = git.tree().branch, data["branch"]
    if here == branch:
        return
    if branch in git.branches():
        elsewhere = git.worktree_of(branch)
        hint = f"cd {one_line(elsewhere)}" if elsewhere else f"git switch {branch}, then resume"
        raise UsageError(f"the branch of {run_id}, {branch}, is not checked out here", hint=hint)
    if (here, git.head()) != (data["base"], data["base_commit"]):
        hint = f"git switch {data['base']}, or begin a new run"
        raise UsageError(f"{run_id} began at another commit than this one", hint=hint)
