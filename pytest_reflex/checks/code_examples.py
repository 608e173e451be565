"""Which code blocks of a Markdown text show how something is used: those that install nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_reflex.checks.structure.markdown import model

SHELLS = frozenset(
    ("", "sh", "shell", "bash", "zsh", "console", "shellsession", "powershell", "bat")
)
"""What the languages of blocks with commands are called."""

_INSTALLS = re.compile(
    r"""(?:sudo\s+)?(?:
    (?:python[\d.]*\s+-m\s+)?(?:pip[\d.]*|pipx|conda|mamba|brew|apt|apt-get|dnf|yum|zypper|apk|port|
       snap|choco|scoop|winget|gem|bundle|cargo|go|composer|nix-env|flatpak|luarocks|opam|stack|mix|
       dotnet|nuget|cpan|cpanm|helm|code|asdf|mise)\s+(?:\S+\s+)?(?:install|add|get|require|update|
       upgrade|tap|global|use)\b
    |(?:npm|pnpm|yarn|bun|deno|uv|poetry|pdm|hatch|rye|pixi)\s+(?:\S+\s+)?(?:i|install|add|ci|sync)\b
    |(?:yarn|npm\s+ci)\s*$ | pacman\s+-S | emerge\b | (?:docker|podman)\s+pull\b | git\s+clone\b
    |cd\b | mkdir\b | (?:python[\d.]*\s+-m\s+venv|virtualenv|uv\s+venv)\b | (?:source|\.)\s
    |(?:curl|wget|iwr|irm)\b.*(?:install|setup|\|) | \./configure\b | make\s+install\b
    |(?:python[\d.]*\s+)?setup\.py\b | chmod\b | (?:export|set)\s+PATH\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_DECLARES = re.compile(
    r"""^[\s{]*(?:\[.*dependencies.*\]|"(?:dev|peer)?dependencies"\s*:|<dependency>|<packagereference|
    (?:implementation|api|compile|testImplementation)[\s(]+["']|gem\s+["']|pod\s+["']|\.package\(|\{:\w+,\s*"~>|
    require\s+\S+/\S+\s+v\d)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_LONGEST_DECLARATION = 12  # lines
_NO_USE = frozenset(("bibtex", "bib", "mermaid", "diff", "patch", "latex", "license", "tree"))
_OF_PROJECT = re.compile(
    r"\b(?:contribut|develop|hacking|build(?:ing)? from|test(?:s|ing)\b|licen[cs]e|"
    r"cit(?:e|ing|ation)|changelog|clon(?:e|ing)|releas(?:e|ing)\b|requirements|install)",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"(?:\$|>|PS[^>]*>|%|#)\s+")


def usage_lines(document: model.Markdown) -> Iterator[int]:
    """Yield the lines of the blocks that show a use: neither an installation nor a contribution."""
    apart = [
        (section.line, section.line + document.text.count("\n", section.start, section.end))
        for section in document.sections
        if _OF_PROJECT.search(section.title)
    ]
    for text, language, line in _code(document):
        if language in _NO_USE or any(first <= line <= last for first, last in apart):
            continue
        if text.strip() and not _installs(text, language):
            yield line


def count_unfenced(document: model.Markdown) -> int:
    """Return how many code blocks with something in them are indented or `<pre>`."""
    return sum(bool(text.strip()) for text, _ in unfenced(document))


def _code(document: model.Markdown) -> Iterator[tuple[str, str, int]]:
    for block in document.blocks:
        yield block.text, block.language, block.line
    for text, line in unfenced(document):
        yield text, "", line


def unfenced(document: model.Markdown) -> Iterator[tuple[str, int]]:
    """Yield text and line of the code blocks that are indented, or `<pre>`."""
    for token in document.tokens:
        if token.type == "code_block" and token.map:
            yield token.content, token.map[0] + 1
    for html, line in document.html:
        if "<pre" in html.lower():
            yield re.sub(r"<[^<>]*>", "", html), line


def _installs(text: str, language: str) -> bool:
    if language not in SHELLS:
        return text.count("\n") <= _LONGEST_DECLARATION and bool(_DECLARES.search(text))
    lines = [line.strip() for line in text.splitlines()]
    prompted = [_PROMPT.sub("", line, count=1) for line in lines if _PROMPT.match(line)]
    commands = [line for line in prompted or lines if line and not line.startswith(("#", "//"))]
    return not commands or all(_INSTALLS.match(command) for command in commands)
