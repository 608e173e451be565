"""The prompt of an iteration: fragments, contexts, feedback, and how an answer ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_reflex.drivers.iterate.decide import parse_promise
from pytest_reflex.drivers.iterate.model import Fragment, Phase, Procedure
from pytest_reflex.errors import Place, ReflexError, UsageError
from pytest_reflex.text.lines import cut_sections, read_own_text

LONGEST = 1_000_000  # bytes
_PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def text_of(fragment: Fragment, what: str = "the fragment") -> str:
    """Return the text of a fragment, read now; `what` is what messages call it.

    `{name}` is a place for a parameter only where the fragment has parameters; what is put in is
    not looked at again. Raises UsageError for a file that cannot be used, a name without a
    parameter, and a parameter without a place.
    """
    text = _raw(fragment, what)
    return _fill(text, fragment, what) if fragment.parameters else text


def _raw(fragment: Fragment, what: str) -> str:
    if fragment.path is None:
        return fragment.content or ""
    path = Path(fragment.path)
    text = f", named in {fragment.origin}," if fragment.origin else ""
    return read_own_text(path, f"{what}{text}", longest=LONGEST)


def _fill(text: str, fragment: Fragment, what: str) -> str:
    given = fragment.parameters
    for match in _PARAMETER.finditer(text):
        if match[1] not in given:
            place = _place(fragment, text, match.start())
            hint = f"given: {', '.join(given)}; without parameters, braces are only text"
            raise UsageError(f"{what} has no parameter for {match[0]}", place=place, hint=hint)
    used = {match[1] for match in _PARAMETER.finditer(text)}
    if unused := [name for name in given if name not in used]:
        hint = f"its text has no {{{unused[0]}}}"
        raise UsageError(
            f"{what} does not use the parameter {unused[0]!r}",
            place=Place(fragment.origin) if fragment.origin else None,
            hint=hint,
        )
    return _PARAMETER.sub(lambda match: given[match[1]], text)


def _place(fragment: Fragment, text: str, offset: int) -> Place | None:
    """Return where in a file a text has something; for content, where that was declared."""
    if fragment.path is None:
        return Place(fragment.origin) if fragment.origin else None
    before = text[:offset]
    return Place(fragment.path, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def from_flag(value: str, project: Path, flag: str) -> Fragment:
    """Return the fragment of a file that is named on the command line; raises UsageError."""
    fragment = Fragment(path=str(project / value), origin=flag)
    read_own_text(project / value, f"the value of {flag}", longest=LONGEST)
    return fragment


def from_context(value: str, project: Path) -> Fragment:
    """Return the fragment of ``--context TEXT|FILE``: a file where there is one of that name.

    What looks like the name of a file, and is none, is refused rather than sent as text.
    """
    path = project / value
    try:
        if path.is_file():
            return from_flag(value, project, "--context")
        is_folder = path.is_dir()
    except (OSError, ValueError):  # too long, or no name at all: text
        is_folder = False
    if not value.strip() or "\0" in value:
        raise UsageError("--context is empty", hint="give it a text or the name of a file")
    if is_folder:
        raise UsageError(f"--context {value}: that is a folder", hint="name a file in it")
    if re.fullmatch(r"\S*(/\S*|\.[A-Za-z]\w{0,9})", value):
        hint = "a text of one word is taken for a file where it has a slash or a suffix"
        raise UsageError(f"--context {value}: there is no such file", hint=hint)
    return Fragment(content=value, origin="--context")


def problem_of(fragment: Fragment, what: str) -> ReflexError | None:
    """Return what is wrong with a fragment, None where its text can be had."""
    try:
        text_of(fragment, what)
    except ReflexError as error:
        return error
    return None


TITLE = "# OODA Loop Iteration"
_FRESH = """\
You are a fresh process: all that you know of earlier iterations is in the files of this project.
Work through the four phases below, once, and then exit."""
_GOING_ON = """\
You are a fresh process: all that you know of earlier iterations is in the files of this project and
in the section about the last iteration below. Work through the four phases below, once, and then
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

    `last` describes the last iteration; `contexts` stand before the phases; `replaced` are
    fragments instead of those that the procedure has for a phase. Files are read now, so that an
    iteration has what the one before left in them. Each fragment stands there once, as it is, but
    for blank lines around it. Raises UsageError for a fragment that cannot be used any more.
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
    return f"{text}\n\n{_CLOSING}\n" if parse_promise(text) else f"{text}\n"


def _preamble(procedure: Procedure, number: int, total: int, known: str) -> str:
    of = f" of {total}" if total else ", without a limit"
    return f"Procedure: {procedure.name}\nIteration: {number}{of}\n\n{known}"


def _clean(text: str) -> str:
    return text.strip("\n")


_SECTION = re.compile(r"^## ([A-Z][A-Z -]+)$", re.MULTILINE)


def prompt_sections(prompt: str) -> list[tuple[str, str]]:
    """Return the sections of a prompt with their titles, the first of which is the preamble."""
    return cut_sections(prompt, _SECTION)
