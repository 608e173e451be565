"""What in a spec earns points of the rubric: a rule for each dimension, by cues in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from pytest_reflex.drivers.goal.claims import (
    Statement,
    code_of,
    commands,
    comparisons,
    measures,
    states_nothing,
    words,
)
from pytest_reflex.model.plain import one_line

MOST = 2
"""Points of one dimension at most."""


class Dimension(StrEnum):
    """What a spec is scored on."""

    OUTCOME = "outcome"
    SCOPE = "scope"
    CONSTRAINTS = "constraints"
    SUCCESS = "success"
    DONE = "done"


_VERBS = re.compile(
    r"\b(?:make|add|implement|create|build|write|fix|repair|debug|improve|optimi[sz]e|speed"
    r" up|reduce|"
    r"increase|lower|raise|refactor|clean up|reorgani[sz]e|migrate|move|rename|remove|delete"
    r"|drop|update|"
    r"upgrade|bump|replace|convert|support|allow|change|handle|document|extract|split|merge"
    r"|port|expose|"
    r"enable|disable|introduce|simplify|validate|cache|parse|render|export|import|rewrite|ship"
    r"|resolve|"
    r"stop|prevent|ensure|show|print|return|log|sort|format)\w{0,3}\b",
    re.I,
)
_WORDS = re.compile(r"[A-Za-z][\w'-]*")
_EMPTY_WORDS = words(
    """
    a an the it its this that these those my our your their all every some any of for to in on
    with and or so as is be by at from up out more much very really just please need needs want i
    we you can could should would must will do does make made get let lot bit few new better good
    great nice nicer best faster cleaner modern proper properly well work works working when until
    if then how app application apps code codebase project system thing things stuff site website
    program software everything something anything whole entire issue issues problem problems bug
    bugs ui ux product tool feature features
    """
)
_QUALITIES = words(
    """
    performance quality speed security stability reliability usability readability maintainability
    efficiency robustness scalability slow fast clean improve optimize test tests pass lint pr
    main
    """
)
_OBSERVABLE = re.compile(
    r"\b(?:returns?|responds?(?: with)?|exits?(?: with)?|prints?|raises?|shows?|outputs?"
    r"|writes?|accepts?|rejects?|"
    r"status(?: code)?)\s+(?:an?\s+|the\s+|with\s+|code\s+)?(?:`[^`\n]{1,200}`|\d{1,4}\b"
    r"|[A-Z]\w*(?:Error|Exception)\b)"
    r"|\bfrom\s+[\d.,]{1,12}\s?\S{0,8}\s+to\s+[\d.,]{1,12}|\b(?:no|zero|0)\s+(?:errors?"
    r"|warnings?|failures?)\b"
    r"|\b\d{1,3}(?:\.\d+)?\s?%",
    re.I,
)
_SUFFIXES = (
    "py|pyi|js|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cpp|cs|swift|sql|toml|ya?ml|json|md|rst|html|css"
    "|scss|sh|tf|ini|cfg|lock|txt|vue"
)
# Repetitions are bounded, so that a long text is searched in time that grows with its length.
_PLACE = re.compile(
    r"(?<![\w/<])(?:/[A-Za-z_{][\w{}.:-]{0,80}(?:/[\w{}.:-]{1,80}){0,20}/?"
    r"|(?:[\w.-]{1,80}/){1,20}[\w.*-]{1,80}"
    rf"|[\w-]{{1,80}}\.(?:{_SUFFIXES}))\b"
    r"|\b[A-Za-z_]\w{0,80}(?:\.\w{1,80}){0,8}\(\)|(?<!\w)--[a-z][\w-]{1,80}"
)
_NOT_PLACES = re.compile(r"(?:and/or|CI/CD|I/O|n/a|w/o|TCP/IP|input/output|yes/no|\d+/\d+)\Z", re.I)
_LIMITS = re.compile(
    r"\b(?:no (?:new|more|other|additional|extra|change|changes|breaking|external)\b|without"
    r" (?:\w+ing|a|any|new|changes?|breaking)\b"
    r"|must not\b|must stay\b|do(?:es)? not\b|don['’]t\b|never\b|avoid\b|only\b|existing\b"
    r"|keep(?:ing|s)?\b|unchanged\b|nothing else\b"
    r"|(?:backward|backwards)[- ]compatib\w+|compatible with\b|standard library\b|stdlib\b"
    r"|stay(?:s|ing)? within\b)",
    re.I,
)
_PROOFS: Mapping[str, re.Pattern[str]] = {
    "tests": re.compile(
        r"(?<!no )(?<!without )(?:\ball (?:the )?(?:\w+ )?tests\b|\btests?\b"
        r"(?:\s+\w+){0,3}\s+(?:pass\w*|green|succeeds?)\b"
        r"|\bpassing tests?\b|\b(?:with|by|new|unit|regression|integration|e2e)\s+tests?\b"
        r"|\btest suite (?:pass|is green)"
        r"|\bsuite passes\b)",
        re.I,
    ),
    "lint": re.compile(
        r"\b(?:lint\w*|ruff|eslint|flake8)\b[^.;]{0,20}\b(?:clean|pass\w*"
        r"|errors?|ok)|no lint",
        re.I,
    ),
    "types": re.compile(r"\b(?:mypy|pyright|tsc|type[- ]?checks?)\b", re.I),
    "coverage": re.compile(r"\bcoverage\b", re.I),
    "manual check": re.compile(r"\b(?:manual(?:ly)?|qa|screenshots?|smoke test|by hand)\b", re.I),
    "benchmark": re.compile(r"\b(?:benchmarks?|load test|profil(?:e|er|ing))\b", re.I),
    "review": re.compile(r"\b(?:code review|reviewed|approved by|sign(?:ed)?[- ]off)\b", re.I),
    "CI": re.compile(r"\b(?:ci|build|pipeline)\b[^.;]{0,12}\b(?:green|pass\w*|succeeds?)\b", re.I),
}
# A statement that rules something out says neither what changes nor where.
_RULES_OUT = re.compile(r"(?:do(?:es)? not|don['’]t|never|avoid|no|must not|without)\b", re.I)
_EVENT = re.compile(
    r"(?<!not )(?<!never )\b(?:merged|released|published|deployed|tagged|pushed|shipped"
    r"|committed|submitted|approved)\b"
    r"(?=\s+(?:to|into|on|in|by|as|and)\b|\s*[.,;)]|\s*\Z)"
    r"|\b(?:open|merge|create|send|submit)s?\s+(?:a |the )?(?:PR|MR|pull request|merge"
    r" request)\b"
    r"|\b(?:PR|pull request|MR) (?:is )?(?:open(?:ed)?|up|merged|approved)\b"
    r"|\b(?:issue|ticket) #?\d* ?(?:is )?closed\b",
    re.I,
)
_ENDS = re.compile(
    r"\b(?:done|finished|complete[d]?|stop|over|ready)\s+(?:when|once|if|after)\b|\buntil\b"
    r"|\A(?:when|once)\b",
    re.I,
)

Scored = tuple[int, str]


def _quote(text: str) -> str:
    return f'"{one_line(text.strip(), 60)}"'


def _statements_in(parts: list[Statement], section: str) -> list[Statement]:
    return [one for one in parts if one.section == section and not states_nothing(one.text)]


def _objects(text: str, left_out: frozenset[str] = frozenset()) -> list[str]:
    """Return the words of a statement that say what it is about."""
    found = [word for word in _WORDS.findall(text) if not _VERBS.fullmatch(word)]
    return [word for word in found if word.lower() not in _EMPTY_WORDS | left_out]


def _positive(parts: list[Statement]) -> list[Statement]:
    return [one for one in parts if not is_ruled_out(one.text)]


def is_ruled_out(text: str) -> bool:
    """Return whether a statement says what must not be."""
    return _RULES_OUT.match(text) is not None


def _outcome(parts: list[Statement]) -> Scored:
    sections = ("", "outcome", "success", "steps", "scope")
    about = [one for one in _positive(parts) if one.section in sections]
    for one in about:
        if found := measures(one.text):
            return 2, f"a number to reach: {_quote(str(found[0]))}"
        if seen := _OBSERVABLE.search(one.text):
            return 2, f"a result that can be seen: {_quote(seen[0])}"
    for one in about:
        goal = one.section == "outcome" and not states_nothing(one.text)
        if (goal or _VERBS.search(one.text)) and (_objects(one.text) or code_of(one.text)):
            return 1, f"a direction without a measure: {_quote(one.text)}"
    return 0, "nothing says what is different afterwards"


def places_of(text: str) -> list[str]:
    """Return the paths, endpoints and names that a statement has."""
    # A command is how something is verified, and no place.
    run = commands(text)
    code = [one for one in code_of(text) if one not in run]
    plain = re.sub(r"`[^`\n]{0,400}`", " ", text)
    return code + [one for one in _PLACE.findall(plain) if not _NOT_PLACES.match(one)]


def _scope(parts: list[Statement]) -> Scored:
    sections = ("constraints", "success", "done")
    about = [one for one in _positive(parts) if one.section not in sections]
    for one in about:
        if found := places_of(one.text):
            return 2, f"names {_quote(found[0])}"
    if stated := _statements_in(parts, "scope"):
        return 1, f"an area: {_quote(stated[0].text)}"
    for one in about:
        ended = _ENDS.search(one.text)
        text = one.text[: ended.start()] if ended else one.text
        if _VERBS.search(text) and (found := _objects(text, _QUALITIES)):
            return 1, f"an area: {_quote(' '.join(found[:4]))}"
    return 0, "nothing says what may change"


def _constraints(parts: list[Statement]) -> Scored:
    found = [one.text for one in _statements_in(parts, "constraints")]
    for one in parts:
        if one.section == "constraints":
            found += [match[0] for match in list(_LIMITS.finditer(one.text))[1:]]
            found += [str(limit) for limit in comparisons(one.text) if _LIMITS.search(one.text)]
        elif one.section != "done":
            limits = _LIMITS.finditer(one.text)
            found += [one.text[match.start() : match.start() + 80] for match in limits]
            found += [str(limit) for limit in comparisons(one.text) if limit.is_limit_of_work]
    if not found:
        return 0, "nothing is named that must not change"
    reason = f"{'limits' if len(found) > 1 else 'a limit'}: {_quote(found[0])}"
    return min(len(found), MOST), reason


def _success(parts: list[Statement]) -> Scored:
    found = [one.text for one in _statements_in(parts, "success")]
    names = {name for one in parts for name, cue in _PROOFS.items() if cue.search(one.text)}
    run = [code for one in parts for code in commands(one.text)]
    if len(found) > 1 or len(names) > 1 or (run and (names or found)):
        text = ", ".join(sorted(names) + [f"`{one}`" for one in run]) or found[0]
        return 2, f"more than one proof, or one that can be run: {_quote(text)}"
    if measured := [one for one in found if measures(one)]:
        return 2, f"a proof with a number: {_quote(measured[0])}"
    if run:
        return 2, f"a command that shows it: {_quote(run[0])}"
    if names or found:
        return 1, f"one proof: {_quote((found or sorted(names))[0])}"
    return 0, "nothing says how it is verified"


def _score_done(parts: list[Statement]) -> Scored:
    stated = _statements_in(parts, "done")
    for one in parts:
        if event := _EVENT.search(one.text):
            return 2, f"an event that ends it: {_quote(event[0])}"
    ends = [one.text for one in stated]
    ends += [one.text[match.end() :] for one in parts if (match := _ENDS.search(one.text))]
    for text in ends:
        if measures(text) or code_of(text) or any(cue.search(text) for cue in _PROOFS.values()):
            return 2, f"a check that ends it: {_quote(text)}"
    if ends:
        return 1, f"an end that cannot be checked: {_quote(ends[0])}"
    return 0, "nothing says when it is done"


RULES: Mapping[Dimension, Callable[[list[Statement]], Scored]] = {
    Dimension.OUTCOME: _outcome,
    Dimension.SCOPE: _scope,
    Dimension.CONSTRAINTS: _constraints,
    Dimension.SUCCESS: _success,
    Dimension.DONE: _score_done,
}
