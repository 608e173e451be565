"""Code in a document that is a part of a file: cut lines, no outer braces, a signature alone.

A block that does not parse as a whole file may be a fragment of one. What was left out of it
(`...`, `…`), comments of JSON, and what a template engine fills in are taken out; braces are put
around. A problem in what is left is still a problem.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from textwrap import dedent, indent

from pytest_reflex.checks.code.sources import parse_python
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError

_CUT = r"(?:\.{3,}|…)"
_CUT_LINE = re.compile(
    rf"^[ \t]*(?:#|//|;|--)?[ \t]*[\[(<{{]?[ \t]*{_CUT}[^\n:={{}}]*$", re.MULTILINE
)
_CUT_VALUE = re.compile(rf"=[ \t]*(?:\{{[ \t]*{_CUT}[ \t]*\}}|{_CUT})[ \t]*$", re.MULTILINE)
_INCLUDE_LINE = re.compile(
    r"^[ \t]*(?:[#;]|//)?[ \t]*(?:\{!.*!\}|-+8<-+.*|<<<[ \t]*@/.*)[ \t]*(?:\n|\Z)", re.MULTILINE
)
"""A line in whose place the text of another file is put."""

_OF_YAML = re.compile(r":(?:\s|$)|^[ \t]*-\s|[\[{]|^[ \t]*[%&*!|>?]", re.MULTILINE)
_SENTENCE = re.compile(r"\s*[A-Z][\w'-]*(?:,? [\w'-]+)+\.[ \t]*(?:\n|\Z)")
_OF_PYTHON = re.compile(
    r"^[^#\n]*[=()\[\]{}@\"]|^\s*(?:import|from|def|class|return|print|pip|python)\b", re.MULTILINE
)
_CUT_ALONE = re.compile(rf"^([ \t]*){_CUT}[ \t]*$", re.MULTILINE)
_TEMPLATE_LINE = re.compile(r"^[ \t]*(?:\{%.*%\}|\{\{.*\}\}|<%.*%>)[ \t]*$", re.MULTILINE)
_TEMPLATE = re.compile(r"\$?\{\{.*?\}\}|<%.*?%>|\{%.*?%\}")
_NAMED = re.compile(r"<([A-Za-z][\w .-]*)>")
_NAMED_VALUE = re.compile(r"=[ \t]*<[A-Za-z][\w .-]*>[ \t]*$", re.MULTILINE)
"""What a reader is to put in."""

_JSON_PART = re.compile(
    rf"""(?P<text>"(?:\\.|[^"\\\n])*")|(?P<remark>//[^\n]*|/\*.*?\*/|\#[^\n]*)"""
    rf"""|(?P<cut>^[ \t]*{_CUT}[^\n"{{}}\[\]:]*$|{_CUT})"""
    rf"""|(?P<value>\$?\{{\{{.*?\}}\}}|<[A-Za-z][\w .-]*>)""",
    re.DOTALL | re.MULTILINE,
)
_COMMAS = re.compile(r",(?:\s*,)+")
_NEXT = re.compile(r"(?<=[}\]])\s*\n\s*(?=[{\[])")
_LEADING = re.compile(r"([\[{]\s*),")
_TRAILING = re.compile(r",(\s*[\]}])")
_PYTHON_PART = re.compile(
    rf"""(?P<text>\"{{3}}.*?\"{{3}}|'{{3}}.*?'{{3}}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*)"""
    rf"""|(?P<cut>{_CUT})""",
    re.DOTALL,
)
_SIGNATURE = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)\b", re.MULTILINE)
_UNDER_DECORATOR = re.compile(r"@|(?:async\s+)?def\b|class\b")
_LEFT_OUT_PARAMETERS = re.compile(rf"(\bdef[ \t]+\w+[ \t]*\([^()]*?){_CUT}")
_CLAUSES = (
    (re.compile(r"\s*case\b"), "match _:\n"),
    (re.compile(r"\s*(?:except|finally)\b"), "try:\n pass\n"),
    (re.compile(r"\s*(?:elif|else)\b"), "if _:\n pass\n"),
)
"""What has to stand before a clause that is shown alone."""

_REMARK_LINE = re.compile(r"^([ \t]+)#[^\n]*$", re.MULTILINE)
_NEWER = (
    ((3, 12), re.compile(r"^\s*(?:type\s+\w+.*=|(?:async\s+def|def|class)\s+\w+\s*\[)", re.M)),
    ((3, 12), re.compile(r"""\b[fF](["'])(?:(?!\1)[^\n{])*\{[^}\n]*\1[^\n]*\}""")),
    ((3, 14), re.compile(r"""\b[tT][rR]?["']""")),
)
"""Syntax that an older Python does not know, by the version that does."""


def is_fragment(text: str, language: str) -> bool:
    """Return whether a text that is not a whole file (json, yaml, toml, python) is a part of
    one.
    """
    whole = _INCLUDE_LINE.sub("", text)
    if whole != text:
        if not whole.strip():
            return True
        text = whole
    if language == "yaml" and not _OF_YAML.search(text):
        return True  # lines of another format, that take the colours
    if language == "python" and _SENTENCE.match(text) and not _OF_PYTHON.search(text):
        return True  # the text of a docstring, in the colours of code
    if language == "python":
        return _is_newer(text) or any(map(_is_python, _python_readings(text)))
    return any(_reads(reading, language) for reading in _READINGS[language](text))


def _json_readings(text: str) -> Iterator[str]:
    loose = False  # with comments, or with something left out, a comma may be one too many

    def put(part: re.Match[str]) -> str:
        nonlocal loose
        if part["text"]:
            return part["text"]
        loose = loose or not part["value"]
        if part["cut"]:
            return "null" if text[: part.start()].rstrip().endswith(":") else ","
        return "null" if part["value"] else ""

    plain = _JSON_PART.sub(put, text).strip()
    if loose:
        plain = _tidy(plain)
    yield plain
    inner = plain.removesuffix(",")
    yield "[" + _NEXT.sub(",", inner) + "]"  # one after another
    yield "{" + inner + "}"


def _tidy(text: str) -> str:
    """Return JSON without the commas that stand beside what was left out."""
    text = _COMMAS.sub(",", text)
    return _TRAILING.sub(r"\1", _LEADING.sub(r"\1", text)).strip().strip(",")


def _yaml_readings(text: str) -> Iterator[str]:
    text = _TEMPLATE.sub("x", _TEMPLATE_LINE.sub("", text))
    yield text
    yield _CUT_LINE.sub("", text)


def _toml_readings(text: str) -> Iterator[str]:
    text = _TEMPLATE.sub("x", _TEMPLATE_LINE.sub("", text))
    text = _NAMED.sub(lambda name: re.sub(r"\W", "_", name[1]), _NAMED_VALUE.sub('= ""', text))
    yield _CUT_VALUE.sub('= ""', _CUT_LINE.sub("", text))


_READINGS = {"json": _json_readings, "yaml": _yaml_readings, "toml": _toml_readings}


def _reads(text: str, language: str) -> bool:
    if language == "json":
        return _is_json(text)
    try:
        read_data(text, language)
    except DataSyntaxError:
        pieces = _CUT_LINE.split(text) if language == "yaml" else []
        return len(pieces) > 1 and all(_reads(piece, language) for piece in pieces)
    except ArtifactError:
        return False
    return True


def _is_json(text: str) -> bool:
    try:
        # Of two values in a row the second is another document; of a key twice, another case.
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict | list)


def _complete_decorators(text: str) -> str:
    """Return code in which every decorator that stands alone has a function under it."""
    lines: list[str] = []
    alone = False
    for line in text.split("\n"):
        bare = line.strip()
        if alone and bare and not bare.startswith("#") and not _UNDER_DECORATOR.match(bare):
            lines.append("def _(): ...")
            alone = False
        # Two with words or nothing between them are two examples.
        if alone and bare.startswith("@") and lines and not lines[-1].lstrip().startswith("@"):
            lines.append("def _(): ...")
        alone = bare.startswith("@") or (alone and (not bare or bare.startswith("#")))
        lines.append(line)
    return "\n".join([*lines, "def _(): ..."] if alone else lines)


def _python_readings(text: str) -> Iterator[str]:
    cut = False
    yield text
    yield _LEFT_OUT_PARAMETERS.sub(r"\1*_", text)

    def put(part: re.Match[str]) -> str:
        nonlocal cut
        cut = cut or bool(part["cut"])
        return part["text"] or ""

    plain = _PYTHON_PART.sub(put, text)
    if cut:
        yield _PYTHON_PART.sub(lambda part: part["text"] or "...", text)  # … for ...
        yield _CUT_ALONE.sub(r"\1...,", text)  # both a statement and an item of a list
        yield _COMMAS.sub(",", re.sub(r"([(\[{]\s*),", r"\1", plain))
        yield f"_(\n{plain.strip().strip(',')}\n)"
    if plain.rstrip().endswith(","):
        yield f"_(\n{plain}\n)"
    if cut or ":" in plain:
        yield f"{{\n{plain}\n}}"
    if plain.lstrip().startswith("@"):
        yield plain.rstrip() + "\ndef _(): ..."
    if "@" in plain:
        yield _complete_decorators(plain)
    for clause, before in _CLAUSES:
        if clause.match(plain):
            body = dedent(plain.strip("\n"))
            yield before + (indent(body, " ") if before.startswith("match") else body)
    if _TEMPLATE_LINE.search(text):
        yield _TEMPLATE.sub("_", _TEMPLATE_LINE.sub("", text))
    if _REMARK_LINE.search(plain):
        yield _REMARK_LINE.sub(r"\1...", plain)  # all that stands under a clause is a remark
    if _SIGNATURE.match(plain):
        yield plain.rstrip().removesuffix(":") + ": ..."


def _is_python(text: str) -> bool:
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    # What is in braces is a part of a dictionary: braces around a statement are a set.
    first = tree.body[0] if tree.body else None
    return not text.startswith("{\n") or (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Dict)
    )


def _is_newer(text: str) -> bool:
    return any(sys.version_info < version and sign.search(text) for version, sign in _NEWER)
