"""Fragments to text: the file is read, parameters are put in, and everything else is left alone."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_reflex.drivers.iterate.model import Fragment
from pytest_reflex.errors import Place, ReflexError, UsageError
from pytest_reflex.text.own_text import read_own_text

LONGEST = 1_000_000  # bytes
_PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def text_of(fragment: Fragment, what: str = "the fragment") -> str:
    """Return the text of a fragment, read now; `what` is what messages call it.

    `{name}` is a place for a parameter only where the fragment has parameters; what is put in is
    not looked at again. Raises UsageError for a file that cannot be used, a name without a
    parameter, and a parameter without a place.
    """
    text = _raw(fragment, what)
    return _filled(text, fragment, what) if fragment.parameters else text


def _raw(fragment: Fragment, what: str) -> str:
    if fragment.path is None:
        return fragment.content or ""
    path = Path(fragment.path)
    told = f", named in {fragment.origin}," if fragment.origin else ""
    return read_own_text(path, f"{what}{told}", longest=LONGEST)


def _filled(text: str, fragment: Fragment, what: str) -> str:
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
