"""A spec taken apart: its sections, its sentences, and the comparisons and commands in them.

Promises: every text can be taken apart, in time that grows with its length. Fenced blocks are left
out: they show something and state nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction


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
class Part:
    """One statement of a spec: a list item or a sentence, and the section that it stands in.

    `section` is empty outside of those that are known; `numbered` where it is an item with a
    number.
    """

    text: str
    section: str = ""
    item: bool = False
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
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


def parts_of(spec: str) -> Iterator[Part]:
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
                yield Part(plain, section, bool(mark), numbered)


def states_nothing(text: str) -> bool:
    """Return whether a text stands for the lack of one, such as `none` or `tbd`."""
    return _NOTHING.fullmatch(text) is not None


def comparisons(text: str) -> Iterator[Comparison]:
    """Yield the comparisons with a number in a statement."""
    start = 0
    for match in _COMPARED.finditer(text):
        unit = match["unit"] or ""
        if unit.lower() in _NO_UNITS:
            unit = ""
        before = text[max(start, match.start() - 120) : match.start()]
        yield Comparison(
            _named(before),
            _SIGNS[" ".join(match["sign"].lower().split())],
            Fraction(match["number"].replace(",", "")),
            {"$": "USD", "€": "EUR", "£": "GBP"}.get(match["money"], unit),
        )
        start = match.end()


def _named(before: str) -> str:
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


def measures(text: str) -> list[Comparison]:
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
