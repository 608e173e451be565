"""Asking something of a run from outside: it is done at once, or its driver is asked to.

Promises: who drives a run is asked again where a request was lost on the way; nobody waits longer
than was said.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from pytest_reflex.errors import LockedError, UsageError

Answer = TypeVar("Answer")
_POLL = 0.1


def act_or_ask(
    act: Callable[[], Answer],
    *,
    ask: Callable[[], object],
    is_driven: Callable[[], bool],
    is_done: Callable[[], bool],
    asked: Callable[[bool], Answer],
    patience: float,
) -> Answer:
    """Return what `act` comes to where nobody drives the run, else what asking its driver does.

    `act` raises LockedError where another process drives the run. `ask` leaves a request, `is_done`
    looks whether the driver has taken it; after `patience` seconds nobody waits any more. `asked`
    makes the answer then: True where it was taken.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return act()
        except LockedError:
            pass
        while is_driven():
            if is_done():
                return asked(True)
            ask()
            if time.monotonic() >= deadline:
                return asked(False)
            time.sleep(_POLL)


def check_text(what: str, text: str) -> None:
    """Refuse bytes of the command line that are not text: no agent and no file could take them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = f"at character {error.start + 1}"
        raise UsageError(f"the {what} is not UTF-8 text {place}", hint="give it in UTF-8") from None
