"""The environment that children inherit, as a snapshot."""

from __future__ import annotations

import os

# What pytest keeps for itself: it would make a pytest in a child believe that it is a worker.
_OF_PYTEST = ("PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS", "PYTEST_XDIST_", "PYTEST_REFLEX_")
# Nobody is there to answer a prompt.
_NO_QUESTIONS = {"GIT_TERMINAL_PROMPT": "0"}


def inherited() -> dict[str, str]:
    """Return a copy of our environment for children, without what concerns this session only.

    A snapshot, because another thread may change the environment while a child is started.
    """
    while True:
        try:
            copy = dict(os.environ)
        except (KeyError, RuntimeError):  # changed while it was copied
            continue
        kept = {name: value for name, value in copy.items() if not name.startswith(_OF_PYTEST)}
        return kept | _NO_QUESTIONS
