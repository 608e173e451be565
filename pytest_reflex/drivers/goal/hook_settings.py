"""The entry of the Stop hook in the settings of a client, set or removed, with all else kept.

Promises: everything else in the file stays as it is written; where the file was not changed since,
undoing gives back the very bytes that were there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.errors import Place, StateError, UsageError
from pytest_reflex.fixes.data_edit import set_in_json
from pytest_reflex.fixes.kind import FixError
from pytest_reflex.storage.atomic import remove_file, replace_file
from pytest_reflex.storage.files import read_if_regular
from pytest_reflex.storage.folders import make_folder
from pytest_reflex.storage.user_state import UserFile
from pytest_reflex.text.data_tree import Node, data_of, read_json
from pytest_reflex.text.lines import DataSyntaxError


def set_key(text: str, root: Node, key: str, value: Any) -> str:
    """Return an object with a key that has a value."""
    return set_at(text, root, (key,), value)


def set_at(text: str, root: Node, steps: tuple[Any, ...], value: Any) -> str:
    """Return a text with a value at the end of `steps`; the step ``-`` adds to a list."""
    edit = set_in_json(text, root, steps, value)
    return text[: edit.start] + edit.new + text[edit.end :]


def without_entry(text: str, parent: Node, index: int) -> str:
    """Return a text without one entry of an object or list, and without its comma."""
    entries = parent.entries
    start = (entries[index].key or entries[index].value).start
    end = entries[index].value.end
    if len(entries) == 1:
        start, end = parent.start + 1, parent.end - 1
    elif index:
        start = entries[index - 1].value.end
    else:
        end = (entries[1].key or entries[1].value).start
    return text[:start] + text[end:]


KIND = "installed"
_LONGEST = 1_000_000
_HOOKS, _STOP = "hooks", "Stop"
_PROGRAMS = ("pytest-reflex", "pytest_reflex")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEntry:
    """Our entry: where it stands in the settings, its command and its time-out."""

    group: int
    number: int
    command: str
    timeout: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class HookClient:
    """A client with Stop hooks of this form: where its settings lie, in a project and at home.

    `variable` names another folder than `home`; `then` is what a person has to do there.
    """

    title: str
    project: str
    variable: str
    home: str
    then: str = ""


# Only those whose hook was really run. All of them read the same form of entry, and send and take
# the same documents.
CLIENTS: Mapping[str, HookClient] = {
    "claude": HookClient(
        title="Claude Code",
        project=".claude/settings.json",
        variable="CLAUDE_CONFIG_DIR",
        home="~/.claude",
    ),
    "codex": HookClient(
        title="Codex",
        project=".codex/hooks.json",
        variable="CODEX_HOME",
        home="~/.codex",
        then="Codex runs it once you have trusted it: /hooks",
    ),
}


def settings_path(
    client: HookClient, project: Path, environment: Mapping[str, str], *, user: bool
) -> Path:
    """Return the file of settings of a client: that of a project, or that of the user."""
    if not user:
        return project / client.project
    folder = environment.get(client.variable) or os.path.expanduser(client.home)
    return Path(folder) / Path(client.project).name


def stop_command(options: Sequence[str]) -> str:
    """Return the command for a shell that starts this very program as a Stop hook."""
    script = Path(sys.executable).parent / "pytest-reflex"
    # With -P nothing is imported from the folder in which the client happens to be.
    program = [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "pytest_reflex"]
    return shlex.join([*program, "hook", "stop", *options])


def read_settings(path: Path) -> str | None:
    """Return the text of settings, None where there are none; raises UsageError or StateError."""
    data = read_if_regular(_target(path), _LONGEST)
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from None


def _target(path: Path) -> Path:
    """Return where settings lie, behind links; raises UsageError for what is not a regular file."""
    target = Path(os.path.realpath(path))
    try:
        is_regular = stat.S_ISREG(os.lstat(target).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return target
    except OSError as error:
        raise StateError(f"{path} could not be read: {error.strerror}") from None
    if not is_regular:
        raise UsageError(f"{path} is not a regular file", hint="move it away")
    return target


def tree_of(text: str, path: Path) -> Node:
    """Return settings as a tree; raises UsageError where hooks cannot be added to them."""
    try:
        root = read_json(text)
    except DataSyntaxError as error:
        raise UsageError(
            f"it is not JSON: {error}", place=Place(str(path)), hint="correct it"
        ) from None
    wire = data_of(root)
    hooks = wire.get(_HOOKS, {}) if isinstance(wire, dict) else None
    if not isinstance(hooks, dict) or not isinstance(hooks.get(_STOP, []), list):
        raise UsageError(
            f"it is not an object, or `{_HOOKS}` or `{_HOOKS}.{_STOP}` has another form",
            place=Place(str(path)),
            hint="correct it",
        )
    return root


def entries_of(root: Node) -> Iterator[HookEntry]:
    """Yield our entries in their order."""
    groups = data_of(root).get(_HOOKS, {}).get(_STOP, [])
    for index, group in enumerate(groups):
        inner = group.get(_HOOKS, []) if isinstance(group, dict) else []
        for number, one in enumerate(inner if isinstance(inner, list) else []):
            command = one.get("command") if isinstance(one, dict) else None
            if isinstance(command, str) and is_ours(command):
                yield HookEntry(
                    group=index, number=number, command=command, timeout=one.get("timeout")
                )


def is_ours(command: str) -> bool:
    """Return whether a command starts ``pytest-reflex hook stop``."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    names = [os.path.basename(word) in _PROGRAMS for word in words]
    return any(
        known and words[index + 1 : index + 3] == ["hook", "stop"]
        for index, known in enumerate(names)
    )


def with_entry(text: str | None, path: Path, command: str, timeout: int) -> str:
    """Return settings with the entry as the only one of this program."""
    group = {_HOOKS: [{"type": "command", "command": command, "timeout": timeout}]}
    if text is None or not text.strip():
        return json.dumps({_HOOKS: {_STOP: [group]}}, indent=2) + "\n"
    ours = list(entries_of(tree_of(text, path)))
    if len(ours) == 1:
        return _replace_entry(text, path, ours[0], {"command": command, "timeout": timeout})
    text = without_entries(text, path)
    root = tree_of(text, path)
    steps: tuple[Any, ...] = (_HOOKS, _STOP)
    value: Any = [group]
    if data_of(root).get(_HOOKS, {}).get(_STOP):
        steps, value = (*steps, "-"), group
    try:
        return set_at(text, root, steps, value)
    except FixError as error:
        raise UsageError(str(error), place=Place(str(path))) from None


def _replace_entry(text: str, path: Path, entry: HookEntry, values: Mapping[str, Any]) -> str:
    """Return settings in which the entry that is there has other values."""
    place = (_HOOKS, _STOP, entry.group, _HOOKS, entry.number)
    for key, value in values.items():
        if getattr(entry, key) != value:
            text = set_at(text, tree_of(text, path), (*place, key), value)
    return text


def without_entries(text: str, path: Path) -> str:
    """Return settings without our entries, and without tables that are empty then."""
    while True:
        root = tree_of(text, path)
        entry = next(entries_of(root), None)
        if entry is None:
            return text
        text = without_entry(text, *_outermost(root, entry))


def _outermost(root: Node, entry: HookEntry) -> tuple[Node, int]:
    """Return the outermost place, as a node and a number in it, that holds this entry alone."""
    way: list[tuple[Node, int]] = []
    node = root
    for step in (_HOOKS, _STOP, entry.group, _HOOKS, entry.number):
        if isinstance(step, int):
            index = step
        else:
            index = [one.key.value for one in node.entries if one.key].index(step)
        way.append((node, index))
        node = node.entries[index].value
    place = way.pop()
    if len(place[0].entries) > 1:
        return place
    way.pop()  # a group without hooks is none, whatever else it says
    place = way.pop()
    while way and len(place[0].entries) == 1:
        place = way.pop()
    return place


def write_settings(path: Path, text: str | None, before: str | None) -> None:
    """Write settings, or remove them; raises UsageError where they are not what they were."""
    if read_settings(path) != before:
        raise UsageError(f"{path} was changed meanwhile", hint="start again")
    target = _target(path)
    if text is None:
        remove_file(target)
        with suppress(OSError):  # it holds something else
            target.parent.rmdir()
        return
    try:
        make_folder(target.parent)
    except OSError as error:
        raise StateError(f"{target.parent} could not be made: {error.strerror}") from None
    replace_file(target, text.encode(), mode=0o644)


class Undo:
    """What settings were before the hook was installed, in the user's state folder."""

    def __init__(self, path: Path) -> None:
        self._file = UserFile(KIND, path.parent)
        self._name = path.name

    def remember(self, before: str | None, after: str) -> None:
        """Keep what was there; where that is what an earlier installation wrote, what was before.

        Where it cannot be kept, undoing takes the entry out and nothing else.
        """
        try:
            with self._file.change() as wire:
                known = wire.get(self._name)
                again = before is not None and _sum(before)
                if isinstance(known, dict) and again and known.get("after") == again:
                    before = known.get("before")
                wire[self._name] = {"before": before, "after": _sum(after)}
        except StateError:
            return

    def original(self, now: str) -> tuple[bool, str | None]:
        """Return whether what was there is known for a text as it was written, and what it was."""
        known = self._file.read().get(self._name)
        if not isinstance(known, dict) or known.get("after") != _sum(now):
            return False, None
        before = known.get("before")
        return isinstance(before, str | None), before


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
