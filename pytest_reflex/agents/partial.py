"""What a tool had written when it ended before its answer was complete: not used, but paid for."""

from __future__ import annotations

from pytest_reflex.agents.command import BAD_EXIT, END, PARTIAL, STOPPED, TIMED_OUT
from pytest_reflex.model.steps import Reply


def partial_output(reply: Reply) -> str:
    """Return what a tool wrote that was stopped, killed or failed; empty where nothing is lost.

    The notice of a limit is not work.
    """
    details = reply.details
    if details.get(END) not in (TIMED_OUT, STOPPED, BAD_EXIT):
        return ""
    if details.get("limited"):
        return ""
    text = str(details.get(PARTIAL) or reply.text)
    return text if text.strip() else ""


def was_killed(reply: Reply) -> bool:
    """Return whether a tool was ended from outside: by us, or by a signal."""
    code = reply.details.get("exit")
    by_signal = isinstance(code, int) and code < 0
    return by_signal or reply.details.get(END) in (TIMED_OUT, STOPPED)
