"""How git fails, and which hook refused: git's own trace says it, not the text that it prints.

Promises: a failure of git itself (a lock, a signature, a full disk) is not a refusal of a hook.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_reflex.errors import StepError
from pytest_reflex.model.plain import one_line

MOST_OF_A_HOOK = 4_000
"""Characters of what a hook said that are kept: its beginning."""
_REFUSING = ("pre-commit", "prepare-commit-msg", "commit-msg", "reference-transaction")


class GitError(StepError):
    """The git command failed; `said` is all that it and its hooks said."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


class HookError(StepError):
    """A hook of the repository refused a commit: its name, and what it said."""

    def __init__(self, hook: str, said: str) -> None:
        self.hook, self.said = hook, said.strip()[:MOST_OF_A_HOOK]
        super().__init__(
            f"the hook {hook} refused a commit: {one_line(self.said or 'silent', 400)}"
        )


def tracing(trace: Path) -> Mapping[str, str]:
    """Return the variables by which git writes down in a file what it starts."""
    return {"GIT_TRACE2_EVENT": str(trace), "GIT_TRACE2_EVENT_NESTING": "2"}


def refusing_hook(trace: Path) -> str:
    """Return the name of the hook that ended with an error, or did not end; empty for none.

    What a hook starts traces into the same file: a git below another one has a name with a slash.
    """
    running: dict[object, str] = {}
    refused = ""
    for event in _events(trace):
        if "/" in str(event.get("sid", "/")):
            continue
        number = event.get("child_id")
        if event.get("event") == "child_start" and event.get("child_class") == "hook":
            running[number] = str(event.get("hook_name", ""))
        elif event.get("event") == "child_exit":
            hook = running.pop(number, "")
            refused = hook if hook in _REFUSING and event.get("code") else refused
    return refused or next((hook for hook in running.values() if hook in _REFUSING), "")


def _events(trace: Path) -> Iterator[dict[str, object]]:
    try:
        lines = trace.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event
