"""The simple commands in texts for a shell, in the recipes of make, and in scripts of npm: pure.

Limits: what a shell makes only while it runs (variables, `$(...)`, wildcards) stays as written.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence

_OPERATOR = re.compile(r"[;&|()\n]+")
_PUNCTUATION = "();<>|&\n"


def simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in a text for a shell."""
    lines = _without_comments(text)
    words = _lexed("\n".join(lines))
    # A quote that is never closed, as in a comment behind a command, spoils its own line only.
    for part in [words] if words is not None else map(_words_of_line, lines):
        yield from _between_operators(part)


def recipes(text: str) -> Iterator[str]:
    """Yield the recipe lines of a makefile."""
    for line in _without_comments(text):
        if line.startswith("\t"):
            yield line.strip().lstrip("@-+")


def included_files(text: str) -> Iterator[str]:
    """Yield the files that a makefile includes."""
    for line in _without_comments(text):
        words = line.split()
        if words[0] in ("include", "-include", "sinclude"):
            yield from words[1:]


def package_scripts(text: str) -> Iterator[str]:
    """Yield the scripts of a package.json."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    scripts = document.get("scripts") if isinstance(document, dict) else None
    for script in scripts.values() if isinstance(scripts, dict) else ():
        if isinstance(script, str):
            yield script


def _between_operators(words: Sequence[str]) -> Iterator[list[str]]:
    command: list[str] = []
    for word in words:
        if _OPERATOR.fullmatch(word):
            yield command
            command = []
        else:
            command.append(word)
    yield command


def _words_of_line(line: str) -> list[str]:
    words = _lexed(line)
    return re.sub(r"[;&|()\"'`]", " ", line).split() if words is None else words


def _lexed(text: str) -> list[str] | None:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:
        return None


def _without_comments(text: str) -> list[str]:
    lines = text.replace("\\\n", " ").split("\n")
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
