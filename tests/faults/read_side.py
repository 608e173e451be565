"""The calls of this process that read below one folder: counted, recorded, or met by a fault.

It replaces functions of `os`, and the `open` of files: by descriptor, path or folder.
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tests.faults.intercepted import Call, Watch

_ON_DESCRIPTORS = ("read", "pread", "fstat")
_ON_PATHS = ("stat", "lstat", "scandir", "listdir")
_WRITES = os.O_CREAT | os.O_TRUNC


class ReadSide:
    """Hands every call that reads below `folder` to `watch(call, perform)`; use it with `with`."""

    def __init__(self, folder: str | os.PathLike[str], watch: Watch) -> None:
        self._folder, self._watch = os.path.realpath(folder), watch
        self._true: dict[str, Any] = {}
        self._paths: dict[int, str] = {}

    def __enter__(self) -> ReadSide:
        for name in ("open", "close", *_ON_DESCRIPTORS, *_ON_PATHS):
            self._true[name] = getattr(os, name)
        self._open_file = io.open
        for name, ours in (("open", self._open), ("close", self._close)):
            setattr(os, name, ours)
        for name in _ON_DESCRIPTORS:
            setattr(os, name, self._on_descriptor(name))
        for name in _ON_PATHS:
            setattr(os, name, self._on_path(name))
        self._put_open(self._opened)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name, function in self._true.items():
            setattr(os, name, function)
        self._put_open(self._open_file)

    @staticmethod
    def _put_open(function: Any) -> None:
        for module in (builtins, io):
            module.open = function  # type: ignore[attr-defined]

    def _meet(self, name: str, path: str, perform: Callable[[], Any]) -> Any:
        inside = (path + os.sep).startswith(self._folder + os.sep)
        return self._watch(Call(name=name, path=path), perform) if inside else perform()

    def _full(self, path: Any, folder: int | None = None) -> str:
        base = os.getcwd() if folder is None else self._paths.get(folder, "/?")
        return os.path.normpath(os.path.join(base, os.fsdecode(path)))

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        full = self._full(path, dir_fd)

        def perform() -> int:
            descriptor: int = self._true["open"](path, flags, mode, dir_fd=dir_fd)
            self._paths[descriptor] = full
            return descriptor

        if flags & _WRITES:
            return perform()
        found: int = self._meet("open", full, perform)
        return found

    def _close(self, descriptor: int) -> None:
        self._paths.pop(descriptor, None)
        self._true["close"](descriptor)

    def _opened(self, file: Any, mode: str = "r", *more: Any, **rest: Any) -> Any:
        def perform() -> Any:
            return self._open_file(file, mode, *more, **rest)

        if isinstance(file, int) or set(mode) & set("wax"):
            return perform()
        return self._meet("open", self._full(file), perform)

    def _on_descriptor(self, name: str) -> Callable[..., Any]:
        def call(descriptor: int, *more: Any) -> Any:
            path = self._paths.get(descriptor, "/?")
            return self._meet(name, path, lambda: self._true[name](descriptor, *more))

        return call

    def _on_path(self, name: str) -> Callable[..., Any]:
        def call(path: Any = ".", **rest: Any) -> Any:
            def perform() -> Any:
                return self._true[name](path, **rest)

            if isinstance(path, int):
                return perform()
            return self._meet(name, self._full(path, rest.get("dir_fd")), perform)

        return call
