"""Scripts: what they hold, and the simple commands in texts for a shell, make and npm.

Limits: of what a shell makes while it runs, only variables that were given a plain text and the
folder of a script are put in; everything else stays as written.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence

from pytest_reflex.drivers.common.gate_programs import OTHER_INTERPRETERS, PYTHON, SHELLS

_LONGEST_SCRIPT = 256_000
_OPERATOR = re.compile(r"[;&|()\n]+")
_PUNCTUATION = "();<>|&\n"
_SUBSTITUTED = re.compile(r"\$\(([^()]+)\)|`([^`]+)`")
_SELF = r"""["']?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\})["']?"""
_OWN_FOLDER = re.compile(rf"\$\(\s*dirname\s+(?:--\s+)?{_SELF}\s*\)|\$\{{0%/\*\}}")
_SET = re.compile(
    r"""(?:^|[;&])\s*(?:export\s+|readonly\s+|local\s+)?(\w+)=("[^"$`\n]*"|'[^'\n]*'|[^\s"'$`;|&()]+)\s*(?=$|[;&])""",
    re.MULTILINE,
)
_MAKE_SET = re.compile(
    r"^(?:export |override )?([\w.-]+)[ \t]*(?::{0,3}|\?)=[ \t]*(.{0,300}?)[ \t]*$", re.MULTILINE
)
_MOST_VARIABLES = 200
_LOOP_WORDS = frozenset({"do", "then", "if", "!", "exec", "time"})
FOLDER_OPTIONS = frozenset({"cd", "pushd", "-C", "--directory", "--prefix", "--rootdir"})
FILE_OPTIONS = frozenset({"-f", "--file", "--makefile", "-c", "--config", "-s", "--noxfile"})


def with_folder(text: str, folder: str) -> str:
    """Return a script with its own folder put in where it asks for that."""
    text = _OWN_FOLDER.sub(lambda _: folder, text)
    own = re.escape(folder)
    asked = rf"""\$\(\s*cd\s+(?:--\s+)?["']?({own}[\w./-]*)["']?[^)\n]*(?:&&|;)\s*pwd[^)]*\)"""
    return re.sub(asked, lambda found: found[1], text)


def with_variables(text: str) -> str:
    """Return a text for a shell with its variables put in that have a plain text."""
    found = {name: value.strip("\"'") for name, value in _SET.findall(text)[:_MOST_VARIABLES]}
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda use: found.get(use[1] or use[2], use[0]), text)


def make_text(text: str) -> str:
    """Return a makefile with the variables put in that it sets."""
    found = dict(reversed(_MAKE_SET.findall(text)[:_MOST_VARIABLES]))
    for _ in range(3):
        text = re.sub(r"\$[({]([\w.-]+)[)}]", lambda use: found.get(use[1], use[0]), text)
        if len(text) > 1_000_000:
            break
    return text


def simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in a text for a shell."""
    lines = _without_comments(text)
    words = _lexed("\n".join(lines))
    # A quote that is never closed, as in a comment behind a command, spoils its own line only.
    for part in [words] if words is not None else map(_words_of_line, lines):
        yield from _between_operators(part)
    for inner in _SUBSTITUTED.findall("\n".join(lines)):
        yield from simple_commands("".join(inner))


def parted(name: str, words: Sequence[str]) -> Iterator[str]:
    """Yield words with options parted from their values: `--file=x`, and `-Cx` of make."""
    for word in words:
        option, equals, value = word.partition("=")
        if equals and option in FILE_OPTIONS | FOLDER_OPTIONS:
            yield from (option, value)
        elif name == "make" and len(word) > 2 and word.startswith(("-C", "-f")):
            yield from (word[:2], word[2:])
        else:
            yield word


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


def fed_to_shells(commands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the names of files whose content a shell or interpreter is given to run."""
    fed = any(len(words) == 1 and is_interpreter(words[0]) for words in commands)
    for words in commands:
        if words[:1] == ["eval"]:
            yield from re.findall(r"[\w./~+-]+", " ".join(words[1:]))
        elif fed and words[:1] == ["cat"]:
            yield from words[1:]


def run_in_loops(commands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the patterns in `for NAME in PATTERN` of files that the loop runs."""
    for words in commands:
        if len(words) < 4 or words[0] != "for" or words[2] != "in":
            continue
        uses = {f"${words[1]}", f"${{{words[1]}}}"}
        if any(_runs(command, uses) for command in commands):
            yield from (word for word in words[3:] if "*" in word or "?" in word)


def _runs(words: Sequence[str], names: set[str]) -> bool:
    first = next((number for number, word in enumerate(words) if word in names), None)
    if first is None:
        return False
    before = [word for word in words[:first] if word not in _LOOP_WORDS]
    return not before or any(word in (".", "source") or is_interpreter(word) for word in before[:1])


def is_interpreter(word: str) -> bool:
    """Return whether a program runs the text that it is given."""
    name = word.rpartition("/")[2]
    return name in SHELLS or name in OTHER_INTERPRETERS or bool(PYTHON.fullmatch(name))


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


def contents(path: str, most: int = _LONGEST_SCRIPT) -> str:
    """Return the beginning of a file as text; empty where it cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def first_line(path: str) -> list[str]:
    """Return the interpreter that a script names, with its arguments."""
    line = contents(path, 512).partition("\n")[0]
    return line[2:].split() if line.startswith("#!") else []


def is_built(path: str) -> bool:
    """Return whether a program looks as if a compiler made it."""
    return not os.path.islink(path) and "\0" in contents(path, 512)


def joined(folder: str, name: str) -> str:
    """Return the path of a name; empty where it can be none."""
    if not name or "\0" in name or "\n" in name or len(name) > 1_000:
        return ""
    return os.path.normpath(os.path.join(folder, os.path.expanduser(name)))
