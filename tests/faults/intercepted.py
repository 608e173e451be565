"""The write-side calls of this process below one folder: counted, recorded, or met by a fault.

It replaces functions of `os`, which is all that the store writes with; `kill` checks with strace
that no other way exists.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

_ON_DESCRIPTORS = ("write", "fsync", "fdatasync", "fchmod", "ftruncate")
_ON_PATHS = ("unlink", "rmdir", "mkdir", "chmod")
_ON_PAIRS = ("replace", "rename", "link")
_CREATES = os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call before it is made; `to` is the second path of a pair, `data` what is written."""

    name: str
    path: str
    to: str = ""
    data: bytes = b""


Watch = Callable[[Call, Callable[[], Any]], Any]


class Intercepted:
    """Hands every write-side call below `folder` to `watch(call, perform)`; use it with `with`."""

    def __init__(self, folder: str | os.PathLike[str], watch: Watch) -> None:
        self._folder, self._watch = os.path.realpath(folder), watch
        self._true: dict[str, Any] = {}
        self._paths: dict[int, str] = {}

    def __enter__(self) -> Intercepted:
        for name in ("open", "close", *_ON_DESCRIPTORS, *_ON_PATHS, *_ON_PAIRS):
            self._true[name] = getattr(os, name)
        self._put("open", self._open)
        self._put("close", self._close)
        for name in _ON_DESCRIPTORS:
            self._put(name, self._on_descriptor(name))
        for name in _ON_PATHS:
            self._put(name, self._on_path(name))
        for name in _ON_PAIRS:
            self._put(name, self._on_pair(name))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name, function in self._true.items():
            setattr(os, name, function)

    def _put(self, name: str, function: Callable[..., Any]) -> None:
        setattr(os, name, function)

    def _meet(self, call: Call, perform: Callable[[], Any]) -> Any:
        inside = (call.path + os.sep).startswith(self._folder + os.sep)
        return self._watch(call, perform) if inside else perform()

    def _full(self, path: Any, folder: int | None) -> str:
        base = os.getcwd() if folder is None else self._paths.get(folder, "/?")
        return os.path.normpath(os.path.join(base, os.fsdecode(path)))

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        full = self._full(path, dir_fd)

        def perform() -> int:
            descriptor: int = self._true["open"](path, flags, mode, dir_fd=dir_fd)
            self._paths[descriptor] = full
            return descriptor

        if not flags & _CREATES:
            return perform()
        found: int = self._meet(Call(name="open", path=full), perform)
        return found

    def _close(self, descriptor: int) -> None:
        self._paths.pop(descriptor, None)
        self._true["close"](descriptor)

    def _on_descriptor(self, name: str) -> Callable[..., Any]:
        def call(descriptor: int, *more: Any) -> Any:
            data = bytes(more[0]) if name == "write" else b""
            met = Call(name=name, path=self._paths.get(descriptor, "/?"), data=data)
            return self._meet(met, lambda: self._true[name](descriptor, *more))

        return call

    def _on_path(self, name: str) -> Callable[..., Any]:
        def call(path: Any, *more: Any, dir_fd: int | None = None, **rest: Any) -> Any:
            words = {**rest, **({} if dir_fd is None else {"dir_fd": dir_fd})}
            met = Call(name=name, path=self._full(path, dir_fd))
            return self._meet(met, lambda: self._true[name](path, *more, **words))

        return call

    def _on_pair(self, name: str) -> Callable[..., Any]:
        def call(old: Any, new: Any, **words: Any) -> Any:
            met = Call(
                name=name,
                path=self._full(old, words.get("src_dir_fd")),
                to=self._full(new, words.get("dst_dir_fd")),
            )
            return self._meet(met, lambda: self._true[name](old, new, **words))

        return call


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens at the `at`-th call (1-based; 0: nothing, they are counted).

    `kind` is "kill" (before the call), "torn" (half of a write, then killed), "error" with an error
    `number`, or "short" (half of a write, then the error). It comes at so many calls in a row, and
    what is `sticky` at every later one. Only calls that begin with `only` are counted ("write
    history"; empty: all).
    """

    at: int = 0
    kind: str = "kill"
    number: int = 0
    sticky: bool = False
    times: int = 1
    only: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Fault:
        return cls(**wire)

    def __str__(self) -> str:
        if not self.number:
            return self.kind
        often = " from there on" if self.sticky else f" {self.times} times" * (self.times > 1)
        return f"{errno.errorcode[self.number]}{often}"


class Faulty:
    """A watch that counts calls and brings a fault about; `seen` has the calls' names and files."""

    def __init__(self, fault: Fault) -> None:
        self._fault, self._counted = fault, 0
        self.seen: list[str] = []

    def __call__(self, call: Call, perform: Callable[[], Any]) -> Any:
        self.seen.append(f"{call.name} {os.path.basename(call.to or call.path)}")
        fault = self._fault
        self._counted += self.seen[-1].startswith(fault.only)
        number = self._counted
        due = fault.at and number >= fault.at
        due = due and (fault.sticky or number < fault.at + fault.times)
        if not due or not self.seen[-1].startswith(fault.only):
            return perform()
        if fault.kind in ("torn", "short") and call.name == "write":
            with open(call.path, "ab") as file:
                file.write(call.data[: len(call.data) // 2])
        if fault.kind in ("error", "short"):
            raise OSError(fault.number, os.strerror(fault.number))
        os.kill(os.getpid(), signal.SIGKILL)
        signal.pause()
        return None
