"""The branch of a new run, and what is unsaved beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.flow.ground import is_own
from pytest_reflex.drivers.flow.labels import BRANCH_PREFIX, slug_of
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import one_line

if TYPE_CHECKING:
    from pytest_reflex.drivers.flow.opening import Options

INCLUDE = "include"
_SHOWN = 5


def branch_of(git: Git, options: Options, judges: Sequence[str]) -> dict[str, str]:
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


def _branch_name(git: Git, options: Options) -> str:
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
