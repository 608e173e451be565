"""A spec taken apart: its sections, sentences and comparisons, and what a measured number has to
be.

Promises: every text can be taken apart, in time that grows with its length. Fenced blocks are left
out: they show something and state nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import one_line

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_NUMBER = r"[-+]?(?:\d+(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?"
_COMPARE = re.compile(
    rf"(?P<name>[^=!<>≤≥]*?)\s*(?P<op>[=!<>]=|[<>=≤≥])\s*(?P<number>{_NUMBER})"
    r"\s*(?P<unit>[^\s\d]\S{0,15})?"
)
# Units of one kind, by the smallest of them; others have to be the same word.
_UNITS: Mapping[str, tuple[str, Fraction]] = {
    "ns": ("time", Fraction(1, 1_000_000_000)),
    "us": ("time", Fraction(1, 1_000_000)),
    "µs": ("time", Fraction(1, 1_000_000)),
    "ms": ("time", Fraction(1, 1000)),
    "s": ("time", Fraction(1)),
    "sec": ("time", Fraction(1)),
    "seconds": ("time", Fraction(1)),
    "min": ("time", Fraction(60)),
    "b": ("size", Fraction(1)),
    "bytes": ("size", Fraction(1)),
    "kb": ("size", Fraction(1000)),
    "mb": ("size", Fraction(1000**2)),
    "gb": ("size", Fraction(1000**3)),
    "kib": ("size", Fraction(1024)),
    "mib": ("size", Fraction(1024**2)),
    "gib": ("size", Fraction(1024**3)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """What a measured number has to be, such as ``p95 < 100 ms``."""

    text: str
    name: str
    op: str
    number: Fraction
    unit: str = ""

    def holds(self, value: Fraction) -> bool:
        return _OPERATORS[self.op](value, self.number)


def parse_comparison(text: str) -> Threshold:
    """Return the comparison that a text stands for; raises UsageError."""
    match = _COMPARE.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{one_line(text, 60)!r} is not a comparison", hint="such as: p95 < 100 ms, or: >= 90"
        )
    return Threshold(
        text=" ".join(text.split()),
        name=match["name"],
        op=match["op"],
        number=_number(match["number"]),
        unit=match["unit"] or "",
    )


def number_in(output: str, wanted: Threshold) -> Fraction | None:
    """Return the number that an output has, in the unit of a comparison; the last one counts.

    Where the comparison has a name and the output has it too, only numbers behind it count. An
    output with a number of another unit has none.
    """
    tail = output[-100_000:]
    number = re.compile(rf"(?<![\w.])({_NUMBER})(?:\s?([A-Za-zµ%][\w%/]{{0,15}}))?(?![\d])")
    if wanted.name:
        named = re.compile(
            rf"(?<!\w){re.escape(wanted.name)}(?!\w)[^\d\n+-]{{0,40}}({_NUMBER})"
            r"(?:\s?([A-Za-zµ%][\w%/]{0,15}))?",
            re.IGNORECASE,
        )
        if found := list(named.finditer(tail)):
            return _in_unit(found[-1], wanted)
        # Without the name, a command that prints one number and nothing else has said it too.
        only = number.fullmatch(tail.strip())
        return _in_unit(only, wanted) if only else None
    found = list(number.finditer(tail))
    return _in_unit(found[-1], wanted) if found else None


def _in_unit(match: re.Match[str], wanted: Threshold) -> Fraction | None:
    value, unit = _number(match[1]), match[2] or ""
    if not unit or not wanted.unit or unit.lower() == wanted.unit.lower():
        return value
    mine, theirs = _UNITS.get(unit.lower()), _UNITS.get(wanted.unit.lower())
    if mine is None or theirs is None or mine[0] != theirs[0]:
        # A word behind a number may be the next word of a sentence, and no unit at all.
        return value if mine is None and theirs is None else None
    return value * mine[1] / theirs[1]


def _number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# The section that each heading or label of a spec stands for.
_TITLES = {
    "outcome": ("outcome", "outcomes", "goal", "objective", "result"),
    "scope": ("scope", "in scope", "files", "area"),
    "constraints": ("constraints", "constraint", "limits", "must not", "non-goals", "out of scope"),
    "success": (
        *("success", "success criteria", "criteria", "acceptance", "acceptance criteria"),
        *("verification", "tests"),
    ),
    "done": ("done", "done when", "definition of done", "finished when", "complete when"),
    "steps": ("steps", "plan", "tasks"),
}
_SECTIONS = {title: name for name, titles in _TITLES.items() for title in titles}

_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>[^\n]{1,80})\Z")
_LABEL = re.compile(r"[*_]{0,2}(?P<title>[A-Za-z][A-Za-z -]{1,30})[*_]{0,2}:[*_]{0,2}(?:\s|\Z)")
_LABEL_IN_LINE = re.compile(r"(?<=[.;] )(?=[A-Z][a-z]+(?: [a-z]+){0,2}: )")
_ITEM = re.compile(r"(?:[-*+•□☐]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s+(?=\S)")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_WORD = re.compile(r"[\w%/.-]+")

_SIGNS = {
    "<": "<",
    ">": ">",
    "<=": "<=",
    ">=": ">=",
    "==": "==",
    "≤": "<=",
    "≥": ">=",
    **dict.fromkeys(("under", "below", "less than", "fewer than", "lower than"), "<"),
    **dict.fromkeys(("at most", "no more than", "up to", "within"), "<="),
    **dict.fromkeys(("over", "above", "more than", "greater than"), ">"),
    **dict.fromkeys(("at least", "no less than", "no fewer than"), ">="),
}
_COMPARED = re.compile(
    r"(?P<sign><=|>=|==|[<>≤≥]|(?<![\w-])(?:no (?:more|less|fewer) than|(?:less|fewer|lower"
    r"|more|greater)"
    r" than|at (?:most|least)|up to|under|below|within|over|above)(?=\s))"
    r"\s{0,4}(?P<money>[$€£]?)(?P<number>\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,9})?)(?![\w.]*\d)"
    r"\s?(?P<unit>%|[A-Za-z]{1,12}(?:/[A-Za-z]{1,6})?)?",
    re.IGNORECASE,
)
_FILLERS = words(
    """
    a an the is are be was were stay stays stayed remain remains must should shall will keep keeps
    kept to of and or with that has have takes take get gets reach reaches reached in make
    """
)
_WITHIN = words("of in per")
_NO_UNITS = words(
    """
    and or on in for at to with of per under over when if is are
    """
)
_LIMIT_UNITS = words(
    """
    loc sloc line lines dep deps dependency dependencies file files day days week weeks usd eur
    dollars commit commits
    """
)
_VERSIONED = words(
    """
    python node java go ruby php rust version django react postgres
    """
)

_CODE = re.compile(r"`([^`\n]{1,400})`")
_PASSING = re.compile(
    r"`([\w./-]{1,60} [^`\n]{1,400})`\s+(?:passes|succeeds|exits (?:with )?0|is green)"
)
_PROGRAMS = words(
    """
    pytest python python3 make npm npx pnpm yarn node deno bun uv uvx poetry hatch tox nox ruff
    mypy pyright flake8 pylint black cargo go gradle mvn dotnet bundle rake rspec jest vitest
    eslint tsc docker curl bash sh git grep rg test pre-commit cmake ctest bazel
    terraform php composer phpunit swift mix coverage k6 wrk hey ab helm kubectl pytest-reflex
    """
)
_ALONE = words(
    """
    pytest make tox nox rake rspec jest vitest eslint tsc ctest phpunit
    """
)
_OPTION = re.compile(r"\s--?[A-Za-z]")
_NOTHING = re.compile(r"(?:none|n/?a|tbd|todo|unknown|implied|-|\?|nothing|open)\W*", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a spec: a list item or a sentence, and the section that it stands in.

    `section` is empty outside of those that are known; `numbered` where it is an item with a
    number.
    """

    text: str
    section: str = ""
    item: bool = False
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """A number that something is compared with: ``p95 < 100 ms``."""

    what: str
    sign: str
    number: Fraction
    unit: str

    @property
    def is_limit_of_work(self) -> bool:
        """Return whether it bounds the work (lines, dependencies, days) and not the result."""
        last = self.what.lower().rpartition(" ")[2]
        return self.unit.lower() in _LIMIT_UNITS or last in _VERSIONED

    def __str__(self) -> str:
        number = f"{float(self.number):.9f}".rstrip("0").rstrip(".")
        if self.number.denominator == 1:
            number = str(self.number)
        return " ".join(part for part in (self.what, self.sign, number, self.unit) if part)


def parts_of(spec: str) -> Iterator[Statement]:
    """Yield the statements of a spec in their order."""
    section, fenced = "", False
    for line in _LABEL_IN_LINE.sub("\n", spec).splitlines():
        text = line.strip()
        if text.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if fenced or not text:
            continue
        if heading := _HEADING.match(text):
            section = _SECTIONS.get(heading["title"].strip("*_: #").lower(), "")
            continue
        mark = _ITEM.match(text)
        body = text[mark.end() :] if mark else text
        label = _LABEL.match(body)
        name = _SECTIONS.get(label["title"].strip().lower(), "") if label else ""
        if label and name:
            body, mark = body[label.end() :].strip(" *_"), None
            section = name
        elif label and not mark:
            section = ""
        numbered = bool(mark) and _NUMBERED.match(text) is not None
        for sentence in [body] if mark else _SENTENCE_END.split(body):
            if plain := sentence.strip().rstrip(".;").strip():
                yield Statement(plain, section, bool(mark), numbered)


def states_nothing(text: str) -> bool:
    """Return whether a text stands for the lack of one, such as `none` or `tbd`."""
    return _NOTHING.fullmatch(text) is not None


def comparisons(text: str) -> Iterator[ComparedNumber]:
    """Yield the comparisons with a number in a statement."""
    start = 0
    for match in _COMPARED.finditer(text):
        unit = match["unit"] or ""
        if unit.lower() in _NO_UNITS:
            unit = ""
        before = text[max(start, match.start() - 120) : match.start()]
        yield ComparedNumber(
            _subject_of(before),
            _SIGNS[" ".join(match["sign"].lower().split())],
            Fraction(match["number"].replace(",", "")),
            {"$": "USD", "€": "EUR", "£": "GBP"}.get(match["money"], unit),
        )
        start = match.end()


def _subject_of(before: str) -> str:
    """Return what is compared: the last words before the sign, up to one that joins."""
    phrase = re.split(r"[,;:(]|\. ", before)[-1]
    found: list[str] = []
    for word in reversed(_WORD.findall(phrase)):
        joins = word.lower() in _FILLERS
        if joins and found and word.lower() not in _WITHIN:
            break
        if found or not joins:
            found.insert(0, word)
        if len(found) == 5:
            break
    while found and found[0].lower() in _FILLERS:
        found.pop(0)
    return " ".join(found)


def measures(text: str) -> list[ComparedNumber]:
    """Return the comparisons of a statement that are about the result."""
    return [one for one in comparisons(text) if not one.is_limit_of_work]


def code_of(text: str) -> list[str]:
    """Return what stands in backticks."""
    return [found for code in _CODE.findall(text) if (found := code.strip())]


def commands(text: str) -> list[str]:
    """Return what stands in backticks and is a command that can be run."""
    passing = {match.strip() for match in _PASSING.findall(text)}
    return [code for code in code_of(text) if _is_command(code) or code in passing]


def _is_command(code: str) -> bool:
    first, _, rest = code.partition(" ")
    if first.startswith("./") or (first in _PROGRAMS and (rest or first in _ALONE)):
        return True
    return bool(_OPTION.search(code)) and re.fullmatch(r"[\w./-]+", first) is not None
