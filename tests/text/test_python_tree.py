"""Threads that read Python at the same time do not make each other fail."""

from __future__ import annotations

import ast
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_reflex.checks.code.sources import parse_python

LONG = "\n".join(f"def f{n}(a, b=[1, {{2: (3,)}}]):\n    return [a, *b]" for n in range(50))


@pytest.fixture
def collections() -> Iterator[None]:
    """Have another thread come to its turn in each collection of garbage, as tools do."""

    def give_way(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(100)
    yield
    gc.callbacks.remove(give_way)
    gc.set_threshold(*before)


def _read(number: int, depth: int = 0) -> int:
    """Return the length of a tree, read from as deep as the number says."""
    if depth < number % 20:
        return _read(number, depth + 1)
    return len(parse_python(LONG).body)


@pytest.mark.long
@pytest.mark.usefixtures("collections")
def test_threads_may_read_at_the_same_time() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(_read, range(40))) == {50}


def test_who_is_made_to_fail_by_others_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fails = iter([SystemError("depth mismatch"), SystemError("depth mismatch")])
    parse = ast.parse

    def disturbed(text: str, name: str) -> ast.Module:
        if (error := next(fails, None)) is not None:
            raise error
        return parse(text, name)

    monkeypatch.setattr(ast, "parse", disturbed)
    assert isinstance(parse_python("x = 1").body[0], ast.Assign)


def test_a_failure_that_stays_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str, name: str) -> ast.Module:
        raise SystemError("broken")

    monkeypatch.setattr(ast, "parse", broken)
    with pytest.raises(SystemError, match="broken"):
        parse_python("x = 1")


@pytest.mark.parametrize("text", ["def", "return 1", "x = \0", "(" * 300])
def test_what_does_not_compile_is_refused(text: str) -> None:
    with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
        parse_python(text, compiles=True)
