"""Python read as a tree, by one thread at a time.

CPython counts how deep a tree is for the whole interpreter (gh-106905): threads that build trees at
the same time make each other fail with a SystemError. `warnings.catch_warnings` is not for threads
either.
"""

from __future__ import annotations

import ast
import warnings
from threading import Lock

_ONE_AT_A_TIME = Lock()
_TRIES = 5  # others build trees too: pytest does so when it imports a test


def parse_python(text: str, name: str = "<text>", *, compiles: bool = False) -> ast.Module:
    """Return the tree of a text; with `compiles` it is held to what only the compiler refuses.

    Raises SyntaxError, ValueError, RecursionError or MemoryError, as the compiler does.
    """
    for left in reversed(range(_TRIES)):
        try:
            return _parse(text, name, compiles)
        except SystemError:
            if not left:
                raise
    raise AssertionError  # the last try has returned or raised


def _parse(text: str, name: str, compiles: bool) -> ast.Module:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, name)
        if compiles:
            compile(tree, name, "exec", dont_inherit=True)
    return tree
