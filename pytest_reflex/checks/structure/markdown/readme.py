"""What a README shows: code blocks of how something is used, and how it is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

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
    return sum(bool(text.strip()) for text, _ in unfenced_blocks(document))


def _code(document: model.Markdown) -> Iterator[tuple[str, str, int]]:
    for block in document.blocks:
        yield block.text, block.language, block.line
    for text, line in unfenced_blocks(document):
        yield text, "", line


def unfenced_blocks(document: model.Markdown) -> Iterator[tuple[str, int]]:
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


_COMMAND = re.compile(
    r"""(?:^|[\s$;&|(])(?:
    (?:python[\d.]*\s+-m\s+)?(?:pip[\d.]*|pipx|conda|mamba|micromamba|brew|apt|apt-get|dnf|yum|
       zypper|apk|port|snap|choco|scoop|winget|gem|cargo|go|composer|flatpak|luarocks|opam|dotnet|
       cpanm?|helm|asdf|mise|poetry|pdm|hatch|rye|pixi|npm|pnpm|yarn|bun|deno|vcpkg|mix|stack|cabal|
       nix-env|uv|krew|code)\s+(?:\S+\s+){0,2}?(?:install|--install-extension|-i|i|add|get|require)\s
    |(?:npx|uvx|bunx)\s+\S|(?:pnpm|yarn)\s+dlx\b|pipx\s+run\b|(?:docker|podman)\s+(?:pull|run)\b
    |pacman\s+-S|make\s+install\b|(?:curl|wget|iwr|irm)\b[^\n]{0,200}?(?:install|\|\s*(?:ba|z)?sh\b)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_DECLARATION = re.compile(
    r"""^[ \t]*\[[\w.-]*dependencies[\w.-]*\]|"(?:dev|peer)?dependencies"\s*:|<dependency>"""
    r"""|<packagereference|^[ \t]*(?:implementation|testImplementation)[ \t(]+["']"""
    r"""|^[ \t]*gem\s+["']|^[ \t]*(?:-[ \t]+)?uses:\s+\S+@|^[ \t]*-[ \t]+repo:\s+\S"""
    r"""|\.package\(|^[ \t]*pod\s+["']|\{:\w+,\s*["'](?:~>|>=|==)"""
    r"""|<script\s[^<>]{0,200}\bsrc=""",
    re.IGNORECASE | re.MULTILINE,
)
"""How a project says that it needs a package, an action or a hook."""

_SENTENCE = re.compile(
    r"\binstall(?:ed|able|s|ing)?\b[^.!?]{0,60}\b(?:with|via|using|from|by|through|as|globally)\b"
    r"|^(?:to |first,? |you can |please )*install\b"
    r"|\bavailable (?:on|from|via|through|at|in) (?:the )?(?:pypi|npm|conda|homebrew|docker hub|"
    r"crates\.io|rubygems|nuget|packagist|maven|marketplace|releases)\b"
    r"|\b(?:pip|npm|cargo|brew|gem|go|apt|dnf) install\b|\bno (?:installation|setup|set-up)\b"
    r"|\bnothing to install\b|\b(?:ships|comes|bundled|included) with\b",
    re.IGNORECASE,
)
_PAGES = re.compile(
    r"\b(?:documentation|docs?|manual|handbook|guides?|tutorials?|wiki|websites?|web site|homepage"
    r"|home page|project page|readthedocs|rtfd|get(?:ting)? started|quick ?start|install\w*"
    r"|(?:cli|api) reference"
    r"|(?:more|further|full|detailed) (?:information|details)|learn more|en (?:latest|stable)"
    r"|(?:github|gitlab|codeberg) (?:io|page)|pages dev)\b",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    r"https?://(?:docs\.(?:python\.org|github\.com|npmjs\.com|docker\.com|microsoft\.com)"
    r"|developer\.mozilla\.org|nodejs\.org|learn\.microsoft\.com)",
    re.IGNORECASE,
)
"""Documentation of languages and forges, which says nothing about what is built with them."""

_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"']+")
_BETWEEN_WORDS = re.compile(r"[/_.:?#=-]+")
_WORDS_BESIDE = 2  # at most, where an address is all that a paragraph says


def install_lines(document: model.Markdown) -> Iterator[int]:
    """Yield the lines that say how to install: commands, declarations, sentences."""
    for block in document.blocks:
        if _COMMAND.search(block.text) or _DECLARATION.search(block.text):
            yield block.line
    for text, line in unfenced_blocks(document):
        if _COMMAND.search(text):
            yield line
    for child, line in document.inline():
        if child.type == "code_inline" and _COMMAND.search(f"{child.content} "):
            yield line
    for paragraph in document.paragraphs:
        if _SENTENCE.search(paragraph.text):
            yield paragraph.line


def pages_lines(document: model.Markdown) -> Iterator[int]:
    """Yield the lines of links and addresses that lead to documentation or a website."""
    for link in document.links:
        leads_out = not link.image and link.target[:1] not in ("", "#")
        leads_out = leads_out and not _OF_OTHERS.match(link.target)
        if leads_out and _PAGES.search(_link_words(link.text, link.target)):
            yield link.line
    for paragraph in document.paragraphs:
        for address in _ADDRESS.findall(paragraph.text):
            beside = _ADDRESS.sub("", paragraph.text)
            alone = len(beside.split()) <= _WORDS_BESIDE
            if not _OF_OTHERS.match(address) and (
                alone or _PAGES.search(_link_words(beside, address))
            ):
                yield paragraph.line


def _link_words(text: str, target: str) -> str:
    parts = urlsplit(target) if "://" in target else None
    path = f"{parts.netloc}/{parts.path}" if parts else target
    return f"{text} | {_BETWEEN_WORDS.sub(' ', path)}"
