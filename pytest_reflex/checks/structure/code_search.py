"""`code`: a pattern over the syntax tree of source code, through ast-grep (extra `code`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from textwrap import dedent
from typing import TYPE_CHECKING, Any, cast

from pytest_reflex.checks.code.sources import parse_python
from pytest_reflex.checks.finding import Finding, Report, missing_extra
from pytest_reflex.checks.options import COUNT, FLAG, REQUIRED, TEXT, nearest_of, word_of
from pytest_reflex.checks.structure.check import Judge, ParameterError, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.targets import CheckContext

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MAX_CHARACTERS = 1_000_000
LANGUAGES: dict[str, tuple[str, ...]] = {
    "bash": ("sh", "bash", "shell"),
    "c": ("c", "h"),
    "cpp": ("cpp", "cc", "cxx", "hpp"),
    "csharp": ("cs", "csharp"),
    "css": ("css",),
    "go": ("go",),
    "html": ("html", "htm"),
    "java": ("java",),
    "javascript": ("js", "mjs", "cjs", "jsx", "javascript"),
    "kotlin": ("kt", "kts", "kotlin"),
    "php": ("php",),
    "python": ("py", "pyi", "python", "python3"),
    "ruby": ("rb", "ruby"),
    "rust": ("rs", "rust"),
    "swift": ("swift",),
    "tsx": ("tsx",),
    "typescript": ("ts", "mts", "cts", "typescript"),
}
"""Languages, and what endings of files and words of fences call them."""


def _suggest_language(value: Any) -> str:
    """Return a hint for what is not a language: `py` is the ending of one."""
    known = (language for language, names in LANGUAGES.items() if value in names)
    return next((f"write {language}" for language in known), "") or nearest_of(LANGUAGES)(value)


def _make(params: Mapping[str, Any]) -> Judge:
    for key in ("language", "pattern"):
        if key not in params:
            raise ValueError(f"it needs the key {key}")
    language, pattern = params["language"], params["pattern"]
    least, most = params.get("min_count"), params.get("max_count")
    if params.get("negate"):
        if least is not None or most is not None:
            raise ParameterError("negate", "negate cannot be combined with min_count and max_count")
        most = 0
    least = (1 if most is None else 0) if least is None else least
    if most is None and not least:
        raise ParameterError("min_count", "min_count 0 holds always, so that it cannot fail")
    if most is not None and least > most:
        raise ParameterError(
            "min_count", f"min_count is {least}, more than max_count, which is {most}"
        )
    if (lack := missing_extra("ast_grep_py")) is not None:
        return lambda artifact, context: lack
    rule = _rule(pattern, params.get("selector"))
    _refuse_broken(pattern, language, rule)

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        sources = list(_sources(artifact, language))
        if not sources:
            if most is not None:
                # Nothing can be said to be absent from a place that is not there.
                raise ArtifactError(
                    f"there is no {language} code in {artifact.name}",
                    reading=_language_name(language),
                )
            return Report(
                [Finding(f"there is no {language} code in it")], reading=_language_name(language)
            )
        found = [spot for text, first in sources for spot in _matches(text, first, language, rule)]
        return _report(found, pattern, least, most)

    return judge


def _report(found: list[tuple[int, int]], pattern: str, least: int, most: int | None) -> Report:
    count = len(found)
    text = f"pattern found {count} times" if count > 1 else "pattern found"
    if most is not None and count > most:
        wanted = f"; at most {most} are wanted" if most else "; it must not be there"
        return Report(
            [Finding(text + wanted, line, column, pattern=pattern) for line, column in found[most:]]
        )
    text = text if count else "pattern not found"
    if count < least:
        what = f"{text}; at least {least} are wanted" if count else text
        return Report([Finding(what, pattern=pattern)])
    return Report((), text)


def _language_name(language: str) -> str:
    """Return what a code check, too, calls a language that an artifact is not in."""
    return "Python" if language == "python" else language


def _sources(artifact: Artifact, language: str) -> Iterator[tuple[str, int]]:
    """Yield the pieces of code with their first lines: the whole text, or the fenced blocks."""
    names = LANGUAGES[language]
    if PurePath(artifact.name).suffix.lower().removeprefix(".") in names:
        yield artifact.text, 1
        return
    for block in model.blocks(artifact.text):
        if block.language in (language, *names):
            yield block.text, block.line


def _rule(pattern: str, selector: str | None) -> dict[str, Any]:
    """Return the pattern as ast-grep takes it; with `selector`, the part of it of that kind."""
    wanted = {"context": pattern, "selector": selector} if selector else pattern
    return {"rule": {"pattern": wanted}}


def _matches(
    text: str, first_line: int, language: str, rule: Mapping[str, Any]
) -> Iterator[tuple[int, int]]:
    from ast_grep_py import SgRoot

    if len(text) > MAX_CHARACTERS:
        raise ArtifactError(
            f"too large to search as code: {len(text):,} characters, "
            f"the limit is {MAX_CHARACTERS:,}",
            reading=_language_name(language),
        )
    root = SgRoot(text, language).root()
    broken = _find_broken_line(root)
    if broken is None and language == "python":
        # A block may be cut out of a body.
        broken = _find_refused_line(root, dedent(text) if first_line > 1 else text)
    if broken is not None:
        raise ArtifactError(
            f"the {language} code cannot be parsed at line {first_line + broken}",
            reading=_language_name(language),
        )
    for match in root.find_all(cast(Any, rule)):
        start = match.range().start
        yield first_line + start.line, start.column + 1


def _find_broken_line(root: SgNode) -> int | None:
    """Return the line, from 0, at which a tree is not that of the text; None where there is none.

    A parser that goes on after a problem leaves out what does not fit, or puts in what is missing:
    a token without a character.
    """
    error = root.find(kind="ERROR")
    put_in = (node for node in root.find_all(regex="^$") if _is_put_in(node))
    found = error or next(put_in, None)
    return found.range().start.line if found else None


def _is_put_in(node: SgNode) -> bool:
    return node.is_leaf() and (not node.is_named() or node.kind().endswith("identifier"))


_DEFINITION = {"any": [{"kind": "function_definition"}, {"kind": "class_definition"}]}
_NEW_NODES: tuple[tuple[tuple[int, int], dict[str, Any]], ...] = (
    ((3, 12), {"kind": "type_alias_statement"}),
    ((3, 12), {"kind": "type_parameter", "inside": _DEFINITION}),
    ((3, 14), {"kind": "string_start", "regex": "(?i)^(t|rt|tr)"}),
)
"""The Python that a node of a tree came with."""
_NEW_REASONS = (((3, 12), "f-string"), ((3, 14), "multiple exception types must be parenthesized"))
"""How an older Python begins to say why it refuses what came with a version."""


def _find_refused_line(root: SgNode, text: str) -> int | None:
    """Return the line, from 0, at which this Python does not take a text that has a tree.

    Older Pythons have such trees too, with `print` as a statement. What may be newer than this one
    is taken.
    """
    try:
        parse_python(text)
    except SyntaxError as error:
        return None if _may_be_newer(root, error.msg) else max((error.lineno or 1) - 1, 0)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None


def _may_be_newer(root: SgNode, reason: str) -> bool:
    if any(reason.startswith(said) for version, said in _NEW_REASONS if version > sys.version_info):
        return True
    rules = [rule for version, rule in _NEW_NODES if version > sys.version_info]
    return any(root.find(cast(Any, {"rule": rule})) for rule in rules)


def _refuse_broken(pattern: str, language: str, rule: Mapping[str, Any]) -> None:
    """Raise ValueError where the pattern does not mean code: it would never be found."""
    from ast_grep_py import SgRoot

    # What stands for a part of the code is a name in it.
    root = SgRoot(pattern.replace("$$$", "z").replace("$", "z"), language).root()
    if language == "go" and not _selects(rule) and root.find(kind="type_conversion_expression"):
        raise ParameterError(
            "pattern",
            "Go reads a call that stands alone as a conversion: write the pattern as "
            "'func t() { CALL }', with selector: call_expression",
        )
    try:
        SgRoot("", language).root().find(cast(Any, rule))
        broken = root.find(kind="ERROR") is not None
    except RuntimeError as error:
        _refuse_selector(str(error), language, rule)
        broken = True
    if broken:
        raise ParameterError(
            "pattern", f"pattern is not a whole piece of {language} code: {one_line(pattern, 80)}"
        )


def _refuse_selector(reason: str, language: str, rule: Mapping[str, Any]) -> None:
    """Raise ValueError where ast-grep says that the kind of node is what is wrong."""
    if not _selects(rule):
        return
    pattern, selector = rule["rule"]["pattern"]["context"], rule["rule"]["pattern"]["selector"]
    shown = one_line(repr(selector), 60)
    if f"Kind `{selector}` is invalid" in reason:
        raise ParameterError("selector", f"selector: {language} has no node kind {shown}")
    if "matches no node" in reason:
        raise ParameterError(
            "selector", f"selector: no node of kind {shown} is in {one_line(pattern, 80)}"
        )


def _selects(rule: Mapping[str, Any]) -> bool:
    return isinstance(rule["rule"]["pattern"], dict)


KIND = StructureKind(
    key="code",
    make=_make,
    forbids=lambda params: bool(params.get("negate")) or "max_count" in params,
    inside={
        "language": word_of(LANGUAGES, instead=_suggest_language).means(
            "what the code is written in", REQUIRED
        ),
        "pattern": TEXT.means(
            "a whole piece of code, in which `$NAME` stands for one part and `$$$` for any number",
            REQUIRED,
        ),
        "selector": TEXT.means(
            "the kind of node within the pattern that is looked for, where it needs surroundings"
        ),
        "min_count": COUNT.means("how often it has to be there", "1"),
        "max_count": COUNT.means("how often it may be there", "any number"),
        "negate": FLAG.means("it must not be there", "`false`"),
    },
)
