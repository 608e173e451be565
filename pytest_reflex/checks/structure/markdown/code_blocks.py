"""`code_blocks`: fenced blocks are there, name their language, and parse in it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_reflex.checks.code.sources import parse_python
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, FLAG, TEXT
from pytest_reflex.checks.structure.check import Judge, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.markdown.fragments import is_fragment
from pytest_reflex.checks.structure.markdown.readme import count_unfenced
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError

_BAD = r"(?:invalid|incorrect|wrong|broken|malformed|problematic|bad)"
_WRONG = re.compile(
    rf"❌|^\W*(?:{_BAD}|not valid|don't)\W*$"
    rf"|\b{_BAD} (?:code|syntax|examples?|usage|json|ya?ml|toml|python|files?|indentation)\b"
    rf"|\b(?:this|these|the following|that)(?: \w+)? (?:is|are) (?:{_BAD}|not valid)\b",
    re.IGNORECASE,
)
"""Words that show a block as what should not be."""

_PROMPTS = (">>>", "In [", "$ ", "%", "!")


def _make(params: Mapping[str, Any]) -> Judge:
    language = params.get("language", "").lower()
    least = params.get("min_count", 0)
    if not least and not params.get("parse") and not params.get("tagged"):
        raise ValueError("it asks for nothing, so that it cannot fail")

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        document = model.of(artifact)
        blocks = [block for block in document.blocks if language in ("", block.language)]
        findings: list[Finding] = []
        if params.get("parse"):
            findings += _find_unparsable(document, blocks)
        if params.get("tagged"):
            findings += _find_untagged(blocks)
        kind = f"{language} blocks" if language else "fenced blocks"
        if least:
            findings += _too_few(document, blocks, language, least)
        parsed = sum(block.language in PARSERS for block in blocks) if params.get("parse") else 0
        return Report(findings, f"{len(blocks)} {kind}" + (f", {parsed} parsed" if parsed else ""))

    return judge


def _too_few(
    document: model.Markdown, blocks: list[model.Block], language: str, least: int
) -> Iterator[Finding]:
    filled = sum(bool(block.text.strip()) for block in blocks)
    if not language:
        filled += count_unfenced(document)
    if filled < least:
        kind = f"{language} blocks" if language else "code blocks"
        yield Finding(f"{filled} {kind} with content, at least {least} are wanted")


def _find_untagged(blocks: list[model.Block]) -> Iterator[Finding]:
    for block in blocks:
        if not block.language:
            yield Finding("a fenced block names no language", block.line - 1)


def _find_unparsable(document: model.Markdown, blocks: list[model.Block]) -> Iterator[Finding]:
    for block in blocks:
        if not block.closed:
            yield Finding("a fence is never closed", block.line - 1)
            continue
        parse = PARSERS.get(block.language)
        fault = parse(block.text) if parse else None
        if not fault or is_fragment(block.text, _SAME.get(block.language, block.language)):
            continue
        if not _WRONG.search(_text_above(document, block)):
            message = f"a {block.language} block does not parse: {fault.message(block.line)}"
            yield Finding(message, block.line + max(fault.line, 1) - 1, fault.column)


def _text_above(document: model.Markdown, block: model.Block) -> str:
    """Return the last heading or paragraph above a block."""
    said = [(heading.line, heading.title) for heading in document.sections]
    said += [(paragraph.line, paragraph.text) for paragraph in document.paragraphs]
    return max(((line, text) for line, text in said if line < block.line), default=(0, ""))[1]


def _python(text: str) -> DataSyntaxError | None:
    source = textwrap.dedent(text)
    if any(line.lstrip().startswith(_PROMPTS) for line in source.splitlines()):
        return None  # a session, or cells of a notebook
    try:
        parse_python(source)
    except SyntaxError as error:
        return DataSyntaxError(error.msg, error.lineno or 0, error.offset or 0)
    except (ValueError, RecursionError, MemoryError) as error:
        return DataSyntaxError(str(error) or "nested too deeply")
    return None


def _data(language: str) -> Callable[[str], DataSyntaxError | None]:
    def parse(text: str) -> DataSyntaxError | None:
        try:
            read_data(text, language)
        except DataSyntaxError as error:
            return error
        return None

    return parse


PARSERS: dict[str, Callable[[str], DataSyntaxError | None]] = {
    **dict.fromkeys(("python", "python3", "py"), _python),
    "json": _data("json"),
    **dict.fromkeys(("yaml", "yml"), _data("yaml")),
    "toml": _data("toml"),
}
"""Languages that are parsed; blocks of others are taken as they are."""
_SAME = {"python3": "python", "py": "python", "yml": "yaml"}

KIND = StructureKind(
    key="code_blocks",
    make=_make,
    forbids=lambda params: any(params.get(key) for key in ("parse", "tagged")),
    inside={
        "parse": FLAG.means(
            "fences are closed, and blocks tagged python, json, yaml or toml parse: as a file, or "
            "as a part of one",
            "`false`",
        ),
        "tagged": FLAG.means("every fence names its language", "`false`"),
        "min_count": COUNT.means(
            "there are at least so many blocks with something in them; without `language` those "
            "that are indented, or `<pre>`, count too",
            "0",
        ),
        "language": TEXT.means("only blocks of this language are looked at", "all of them"),
    },
)
