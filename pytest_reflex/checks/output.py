"""What a command wrote, as text for matching and as evidence for people."""

from __future__ import annotations

from pytest_reflex.model.plain import clip, one_line, visible
from pytest_reflex.process.run import Finished
from pytest_reflex.process.secrecy import hide, hide_ends, own_secrets

LINES = 20
LINE_WIDTH = 300
SAID = 120

# Evidence comes from the end: no more of a long output than this is looked at.
_TAIL = 32 * 1024


def text_of(data: bytes) -> str:
    """Return bytes as UTF-8 with line ends as `\\n`; what is not UTF-8 reads as `\\xff`."""
    return data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")


def last_lines(finished: Finished) -> str:
    """Return the last lines of both streams, visible and never cut inside a character."""
    out, err = _lines(finished.stdout), _lines(finished.stderr)
    if not out or not err:
        return "\n".join((out or err)[-LINES:])
    half = LINES // 2
    kept = max(half, LINES - len(err))
    return "\n".join(["stdout:", *out[-kept:], "stderr:", *err[-max(half, LINES - len(out)) :]])


def last_said(finished: Finished) -> str:
    """Return the last line on stderr with something in it, short enough for a message.

    Secrets are hidden before it is cut: a part of one could not be told from other text.
    """
    lines = reversed(text_of(finished.stderr[-_TAIL:]).split("\n"))
    line = next(filter(None, map(str.strip, lines)), "")
    hidden = own_secrets()
    return one_line(visible(hide_ends(hide(line, hidden), hidden)), SAID)


def _lines(data: bytes) -> list[str]:
    tail = data[-_TAIL:]
    if len(tail) < len(data):
        tail = tail[_character_start(tail) :]
    text = visible(hide(text_of(tail), own_secrets())).rstrip("\n")
    return [clip(line, LINE_WIDTH) for line in text.split("\n")] if text.strip() else []


def _character_start(data: bytes) -> int:
    return next((i for i in range(min(4, len(data))) if data[i] & 0xC0 != 0x80), 0)
