"""JSON with comments: which files are read so by their tools, and the JSON that is left of one."""

from __future__ import annotations

import re
from pathlib import PurePath

ENDINGS = frozenset({".jsonc", ".json5", ".code-workspace"})
_NAMES = re.compile(
    r"(?:ts|js)config(?:[.-][\w.-]+)?\.json|\.?(?:eslint|babel|swc|jshint|oxlint|hint|mocha|lua)rc"
    r"(?:\.json)?|babel\.config\.json|\.?devcontainer\.json|\.markdownlint(?:-cli2)?\.json"
    r"|(?:appsettings(?:\.[\w-]+)?|launchSettings|global|angular|project|keybindings|jsr|api-extractor|biome|deno|nx|rush|tslint"
    r"|turbo|tsdoc|typedoc|wrangler|pyrightconfig|language-configuration|cspell)\.json",
    re.IGNORECASE,
)
_FOLDERS = frozenset({".vscode", ".devcontainer", ".zed"})
# What has no end is taken to where it breaks off, so that nothing is read twice.
_JSONC_TOKEN = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"?|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"?|,(?=\s*[\]}])')
_SIGN = re.compile(r"[^\s]")


def has_comments(path: PurePath) -> bool:
    """Return whether the tool of a file reads comments and last commas in its JSON."""
    named = path.suffix.lower() in ENDINGS or bool(_NAMES.fullmatch(path.name))
    return named or (path.suffix.lower() == ".json" and path.parent.name in _FOLDERS)


def without_comments(text: str) -> str:
    """Return the text with blanks for its comments, so that all the rest stays in its place."""
    return _JSONC_TOKEN.sub(lambda found: _blank(found[0]), text)


def plain_json(text: str) -> str:
    """Return the JSON in the text: blanks stand for comments and for last commas."""
    clean = without_comments(text)
    return _LAST_COMMA.sub(lambda found: " " if found[0] == "," else found[0], clean)


def _blank(token: str) -> str:
    is_open = token.startswith("/*") and not (len(token) > 3 and token.endswith("*/"))
    return token if token.startswith('"') or is_open else _SIGN.sub(" ", token)
