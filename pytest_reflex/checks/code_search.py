"""`code`: a pattern over the syntax tree of source code, through ast-grep (extra `code`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, cast

from pytest_reflex.checks import markdown
from pytest_reflex.checks.finding import Finding, Report, lacking
from pytest_reflex.checks.options import COUNT, FLAG, REQUIRED, TEXT, nearest_of, word_of
from pytest_reflex.checks.structure_kind import Judge, ParameterError, StructureKind
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.targets import CheckContext

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


def _meant_language(value: Any) -> str:
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
            raise ParameterError("negate", "negate does not go with min_count and max_count")
        most = 0
    least = (1 if most is None else 0) if least is None else least
    if most is None and not least:
        raise ParameterError("min_count", "min_count 0 holds always, so that it cannot fail")
    if most is not None and least > most:
        raise ParameterError(
            "min_count", f"min_count is {least}, more than max_count, which is {most}"
        )
    if (lack := lacking("ast_grep_py")) is not None:
        return lambda artifact, context: lack
    rule = _rule(pattern, params.get("selector"))
    _refuse_broken(pattern, language, rule)

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        sources = list(_sources(artifact, language))
        if not sources:
            if most is not None:
                # Nothing can be said to be absent from a place that is not there.
                raise ArtifactError(
                    f"there is no {language} code in {artifact.name}", reading=_named(language)
                )
            return Report([Finding(f"there is no {language} code in it")], reading=_named(language))
        found = [spot for text, first in sources for spot in _matches(text, first, language, rule)]
        return _report(found, one_line(pattern, 60), least, most)

    return judge


def _report(found: list[tuple[int, int]], shown: str, least: int, most: int | None) -> Report:
    count = len(found)
    told = f"'{shown}' is there {count} times" if count != 1 else f"'{shown}' is there once"
    if most is not None and count > most:
        wanted = f"; at most {most} are wanted" if most else "; it must not be there"
        spots = found[most:]
        return Report([Finding(told + wanted, line, column) for line, column in spots])
    if count < least:
        what = f"{told}; at least {least} are wanted" if count else f"'{shown}' is not there"
        return Report([Finding(what)])
    return Report((), told)


def _named(language: str) -> str:
    """Return what a code check, too, calls a language that an artifact is not in."""
    return "Python" if language == "python" else language


def _sources(artifact: Artifact, language: str) -> Iterator[tuple[str, int]]:
    """Yield the pieces of code with their first lines: the whole text, or the fenced blocks."""
    names = LANGUAGES[language]
    if PurePath(artifact.name).suffix.lower().removeprefix(".") in names:
        yield artifact.text, 1
        return
    for block in markdown.blocks(artifact.text):
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
            reading=_named(language),
        )
    root = SgRoot(text, language).root()
    broken = root.find(kind="ERROR")
    if broken is not None:
        line = first_line + broken.range().start.line
        raise ArtifactError(
            f"the {language} code cannot be parsed at line {line}", reading=_named(language)
        )
    for match in root.find_all(cast(Any, rule)):
        start = match.range().start
        yield first_line + start.line, start.column + 1


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
        "language": word_of(LANGUAGES, instead=_meant_language).means(
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
