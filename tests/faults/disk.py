"""A disk as it may be after a power cut: what was not synced is lost, cut or reordered.

A model of what POSIX promises and no more: a write is safe after the fsync of its file, a name
after the fsync of its folder; everything else may be there or not, in any combination.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.faults.intercepted import Call

_ALL_COMBINATIONS = 5  # up to that many unsynced operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One change: of a name (make, name, drop a folder or file), or of a file's bytes.

    `file` numbers the file or folder itself, whatever it is called; `synced` is the operation after
    which the change is safe (None: never).
    """

    kind: str
    path: str
    file: int
    offset: int = 0
    data: bytes = b""
    synced: int | None = None


@dataclass(slots=True)
class Recorder:
    """A watch that notes operations below a folder `root` that is there and stays.

    `mark()` is noted with each: what the outside knew then.
    """

    root: Path
    mark: Callable[[], Any]
    operations: list[Operation] = field(default_factory=list)
    marks: list[Any] = field(default_factory=list)
    _names: dict[str, int] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)

    def __call__(self, call: Call, perform: Callable[[], Any]) -> Any:
        is_new = call.name == "open" and not os.path.lexists(call.path)
        done = perform()
        self._note(call, is_new)
        return done

    def _note(self, call: Call, is_new: bool) -> None:
        if call.name == "mkdir" or is_new:
            self._names[call.path] = len(self._names) + len(self.operations) + 1
            kind = "folder" if call.name == "mkdir" else "file"
            self._add(Operation(kind=kind, path=call.path, file=self._names[call.path]))
        elif call.name == "write":
            file = self._names[call.path]
            offset = self._sizes.get(file, 0)
            self._sizes[file] = offset + len(call.data)
            self._add(
                Operation(kind="write", path=call.path, file=file, offset=offset, data=call.data)
            )
        elif call.name in ("replace", "rename"):
            file = self._names[call.to] = self._names.pop(call.path)
            self._add(Operation(kind="drop", path=call.path, file=file))
            self._add(Operation(kind="name", path=call.to, file=file))
        elif call.name in ("unlink", "rmdir"):
            self._add(Operation(kind="drop", path=call.path, file=self._names.pop(call.path)))
        elif call.name in ("fsync", "fdatasync"):
            self._sync(call.path)

    def _add(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.marks.append(self.mark())

    def _sync(self, path: str) -> None:
        """All earlier writes of a file, or names of a folder, are safe from now on."""
        now = len(self.operations)
        for at, operation in enumerate(self.operations):
            if operation.synced is not None:
                continue
            if operation.kind == "write":
                safe = operation.file == self._names.get(path)
            else:
                safe = os.path.dirname(operation.path) == path
            if safe:
                self.operations[at] = replace(operation, synced=now)

    def states(self) -> Iterator[tuple[str, Any, Mapping[str, bytes | None]]]:
        """Yield (what happened, the mark, the tree) for each different tree that a cut may leave.

        A tree maps paths to bytes, folders to None.
        """
        seen = set()
        for length in range(len(self.operations) + 1):
            done = self.operations[:length]
            mark = self.marks[length - 1] if length else None
            for word, kept in _subsets(done, length):
                tree = _tree(kept, str(self.root))
                key = (repr(mark), frozenset(tree.items()))
                if key not in seen:
                    seen.add(key)
                    yield f"after {length} changes, {word}", mark, tree


def _subsets(done: list[Operation], now: int) -> Iterator[tuple[str, list[Operation]]]:
    """Yield what may have reached the disk: unsynced operations are there, lost, or cut."""
    unsafe = [at for at, o in enumerate(done) if o.synced is None or o.synced > now]
    yield "all", done
    most = len(unsafe) if len(unsafe) <= _ALL_COMBINATIONS else 1
    for count in range(1, most + 1):
        for lost in combinations(unsafe, count):
            yield f"without {lost}", [o for at, o in enumerate(done) if at not in lost]
    if most == 1:
        yield "synced only", [o for at, o in enumerate(done) if at not in unsafe]
        for kept in unsafe:
            yield (
                f"synced and {kept}",
                [o for at, o in enumerate(done) if at not in unsafe or at == kept],
            )
    for at in unsafe:
        if done[at].kind == "write":
            for word, data in _cut(done[at].data):
                yield (
                    f"{at} {word}",
                    [
                        *done[:at],
                        replace(done[at], data=data),
                        *done[at + 1 :],
                    ],
                )


def _cut(data: bytes) -> Iterator[tuple[str, bytes]]:
    yield "as zeros", b"\0" * len(data)
    for length in (0, 1, len(data) // 2, len(data) - 1):
        yield f"cut at {length}", data[:length]
    half = len(data) // 2
    yield "half and zeros", data[:half] + b"\0" * (len(data) - half)


def _tree(operations: list[Operation], root: str) -> dict[str, bytes | None]:
    names: dict[str, int] = {}
    contents: dict[int, bytes] = {}
    folders: set[int] = set()
    for operation in operations:
        if operation.kind == "write":
            old = contents.get(operation.file, b"").ljust(operation.offset, b"\0")
            contents[operation.file] = old[: operation.offset] + operation.data
        elif operation.kind == "drop":
            if names.get(operation.path) == operation.file:
                del names[operation.path]
        else:
            names[operation.path] = operation.file
            if operation.kind == "folder":
                folders.add(operation.file)
    return {
        path: None if file in folders else contents.get(file, b"")
        for path, file in names.items()
        if _is_reached(path, names, root)
    }


def _is_reached(path: str, names: Mapping[str, int], root: str) -> bool:
    """Return whether every folder between the root and a path is there."""
    parent = os.path.dirname(path)
    return parent == root or (parent in names and _is_reached(parent, names, root))


def lay_out(tree: Mapping[str, bytes | None], old: Path, new: Path) -> None:
    """Write a tree that was recorded below `old` below `new`."""
    for path, data in sorted(tree.items()):
        target = new / Path(path).relative_to(old)
        if data is None:
            target.mkdir()
        else:
            target.write_bytes(data)
