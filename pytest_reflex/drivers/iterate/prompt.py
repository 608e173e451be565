"""The prompt of an iteration: what the iteration is, what it has to know, and the four phases in
order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from pytest_reflex.drivers.iterate.fragments import text_of
from pytest_reflex.drivers.iterate.model import Fragment, Phase, Procedure
from pytest_reflex.drivers.iterate.outcome import promised

TITLE = "# OODA Loop Iteration"
_FRESH = """\
You are a fresh process: of earlier iterations nothing is known but what stands in the files of this
project. Work through the four phases below, once, and then exit."""
_GOING_ON = """\
You are a fresh process: of earlier iterations nothing is known but what stands in the files of this
project, and what is said of the last one below. Work through the four phases below, once, and then
exit."""
_CLOSING = "(Here the prompt ends.)"


def compose(
    procedure: Procedure,
    *,
    number: int,
    total: int,
    contexts: Sequence[Fragment] = (),
    replaced: Mapping[Phase, Sequence[Fragment]] | None = None,
    last: str = "",
) -> str:
    """Return the prompt of iteration `number` (from 1) of `total` (0: no limit).

    `last` tells of the last iteration; `contexts` stand before the phases; `replaced` are fragments
    instead of those that the procedure has for a phase. Files are read now, so that an iteration
    has what the one before left in them. Each fragment stands there once, as it is, but for blank
    lines around it. Raises UsageError for a fragment that cannot be used any more.
    """
    parts = [TITLE, _preamble(procedure, number, total, _GOING_ON if last else _FRESH)]
    parts += [last] if last else []
    if contexts:
        parts += ["## CONTEXT", *(_clean(text_of(one, "the context")) for one in contexts)]
    instead = replaced or {}
    for phase in Phase:
        parts.append(f"## {phase.value.upper()}")
        what = f"{procedure.name}: the prompt of {phase.value}"
        parts += [_clean(text_of(one, what)) for one in instead.get(phase, procedure.phases[phase])]
    text = "\n\n".join(parts)
    # A tool that repeats its prompt must not be taken for one that gives the signal in it.
    return f"{text}\n\n{_CLOSING}\n" if promised(text) else f"{text}\n"


def _preamble(procedure: Procedure, number: int, total: int, known: str) -> str:
    of = f" of {total}" if total else ", without a limit"
    return f"Procedure: {procedure.name}\nIteration: {number}{of}\n\n{known}"


def _clean(text: str) -> str:
    return text.strip("\n")


_SECTION = re.compile(r"^## ([A-Z][A-Z -]+)$", re.MULTILINE)


def prompt_sections(prompt: str) -> list[tuple[str, str]]:
    """Return the sections of a prompt with their titles, the first of which is the preamble."""
    heads = [*_SECTION.finditer(prompt)]
    starts = [0, *(head.start() for head in heads), len(prompt)]
    titles = ["Preamble", *(head[1] for head in heads)]
    texts = (prompt[start:end] for start, end in pairwise(starts))
    return list(zip(titles, texts, strict=True))
