"""Run the examples of a page in an empty folder, as a reader would who types them in order."""

from __future__ import annotations

import contextlib
import doctest
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs.compare import matches, readable
from tests.docs.pages import Block, Exchange, blocks_of, exchanges
from tests.docs.shell import Shell, environment


@dataclass(frozen=True, slots=True)
class Deviation:
    """An example that does not do what the page says; `output` is what a command printed."""

    line: int
    message: str
    exchange: Exchange | None = None
    output: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


def run_page(text: str, home: Path) -> Iterator[Deviation]:
    """Yield what differs; the working directory has to be `home`/project already."""
    folder = home / "project"
    namespace: dict[str, Any] = {"__name__": "page"}
    with _own_modules(), Shell(folder, environment(home)) as shell:
        for block in blocks_of(text):
            if block.excuse:
                continue
            if block.title:
                _write(folder / block.title, block.text)
            elif block.language == "console":
                yield from _dialogue(block, shell, folder)
            elif block.language == "python":
                yield from _python(block, namespace)


@contextlib.contextmanager
def _own_modules() -> Iterator[None]:
    """Forget the modules that a page imported: the next page may have others of that name."""
    before = set(sys.modules)
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if Path(origin).is_relative_to(Path.cwd()):
                del sys.modules[name]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _dialogue(block: Block, shell: Shell, folder: Path) -> Iterator[Deviation]:
    found = exchanges(block)
    for number, exchange in enumerate(found):
        output, status = shell.run(exchange.command)
        output = readable(output, folder)
        if not matches(exchange.expected, output):
            message = f"$ {exchange.command}\n--- it printed:\n{output}\n--- the page says:\n"
            yield Deviation(exchange.line, message + exchange.expected, exchange, output)
        follower = found[number + 1].command if number + 1 < len(found) else ""
        if status and "$?" not in follower:
            message = f"$ {exchange.command}\nexit status {status}; add `$ echo $?`\n{output}"
            yield Deviation(exchange.line, message)


def _python(block: Block, namespace: dict[str, Any]) -> Iterator[Deviation]:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            if ">>>" in block.text:
                _doctest(block, namespace)
            else:
                exec(compile(block.text, f"line {block.line}", "exec"), namespace)
    except Exception as error:
        yield Deviation(block.line, f"{type(error).__name__}: {error}\n{printed.getvalue()}")


def _doctest(block: Block, namespace: dict[str, Any]) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(block.text, namespace, "page", None, block.line)
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(test, clear_globs=False)
    namespace.update(test.globs)
    assert not runner.failures, f"{runner.failures} examples failed"
