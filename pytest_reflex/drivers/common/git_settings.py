"""How git is started: what is switched off, and which variables it sees."""

from __future__ import annotations

import os
import re

HARDENED = (
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.pager=cat"),
    *("-c", "core.editor=true", "-c", "sequence.editor=true", "-c", "protocol.ext.allow=never"),
    *("-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "diff.external=", "-c", "core.askPass=", "-c", "log.showSignature=false"),
    *("-c", "i18n.commitEncoding=UTF-8", "-c", "i18n.logOutputEncoding=UTF-8"),
    *("-c", "submodule.recurse=false"),
)
# Programs that git would run for a file or a commit, and where it would take the files from.
PROGRAMS = (
    r"^(filter\..*\.(clean|smudge|process)|gpg\.(.*\.)?(program|defaultkeycommand)|core\.worktree)$"
)
OF_LFS = ("git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process")
OWN_SCOPES = ("local", "worktree")
# A hook of git, in which we may run, says by these which repository is meant.
ELSEWHERE = frozenset(
    f"GIT_{name}"
    for name in (
        *("DIR", "WORK_TREE", "COMMON_DIR", "INDEX_FILE", "PREFIX", "OBJECT_DIRECTORY"),
        *("ALTERNATE_OBJECT_DIRECTORIES", "IMPLICIT_WORK_TREE", "NAMESPACE"),
        *("CONFIG", "CONFIG_PARAMETERS", "CONFIG_COUNT"),
    )
)
# Of the variables of git, those that say who commits and where a user's configuration is.
_KEPT = re.compile(r"GIT_(AUTHOR_|COMMITTER_|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$|SSL_)")
WITHOUT_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}


def is_kept(name: str) -> bool:
    """Return whether a variable of the environment is left to git."""
    return not name.startswith("GIT_") or bool(_KEPT.match(name))
