"""What a spec states: criteria and steps, the kind of work, the files that may change.

Source: seed 003. Workflow: the earliest indicator wins; where two begin at one place, debugging
comes before refactoring, and that before building. Reversibility: what is hardest to roll back
wins, and a spec without a cue can be rolled back within minutes.

A criterion is an item under success, acceptance or done, or a sentence elsewhere that can be
verified: it compares a number, or has a command that passes. Its text is that of the spec.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pytest_reflex.drivers.common.protection import within
from pytest_reflex.drivers.goal.claims import (
    Statement,
    commands,
    measures,
    parts_of,
    states_nothing,
)
from pytest_reflex.drivers.goal.model import (
    Criterion,
    Reversibility,
    Verification,
    VerificationPlan,
    Workflow,
)
from pytest_reflex.drivers.goal.scoring import is_ruled_out, places_of
from pytest_reflex.integrity.patterns import escape_path

# In the order in which ties are decided.
_INDICATORS: Mapping[Workflow, re.Pattern[str]] = {
    Workflow.DEBUG: re.compile(
        r"\b(?:fix(?:e[sd]|ing)?|debug(?:s|ged|ging)?|broken|errors?|fail(?:s|ing|ed"
        r"|ures?)?)\b",
        re.I,
    ),
    Workflow.REFACTOR: re.compile(
        r"\b(?:refactor(?:s|ed|ing)?|clean(?:s|ed|ing)?[ -]?up|re-?organi[sz](?:e[sd]?|ing)"
        r"|migrat(?:e[sd]?|ing|ions?))\b",
        re.I,
    ),
    Workflow.BUILD: re.compile(
        r"\b(?:add(?:s|ed|ing)?|implement(?:s|ed|ing)?|creat(?:e[sd]?|ing)|new features?)\b", re.I
    ),
}

_NEGATED = re.compile(
    r"(?:\b(?:no|not|without|never|avoid|keep(?:ing)?|don['’]t|unchanged)\b"
    r"(?:\s+[\w'-]+){0,3}\s*)\Z",
    re.I,
)
_CUES: Mapping[Reversibility, re.Pattern[str]] = {
    Reversibility.ONE_WAY: re.compile(
        r"\b(?:schemas?(?! (?:file|json))\b[^.;\n]{0,20}\b(?:chang\w*|migrat\w*)|database"
        r" migrations?"
        r"|(?:chang|migrat|alter|drop|renam|delet|truncat)\w*\s+(?:\w+\s+){0,3}"
        r"(?:schemas?|tables?|columns?|databases?|production|user data|public)\b"
        r"|public (?:\w+ )?(?:apis?|interfaces?)|breaking changes?|wire formats?"
        r"|(?:deploy|release|publish|roll out)\w*\s+(?:\w+\s+){0,2}(?:to|in) (?:prod\w*|pypi"
        r"|npm|users)"
        r"|force[- ]push\w*|send\w* (?:e-?mails?|payments?))\b",
        re.I,
    ),
    Reversibility.CHECKPOINTED: re.compile(
        r"\b(?:dependenc(?:y|ies)|deps|refactor\w*|re-?organi[sz]\w*|upgrad\w*|migrat\w*"
        r"|rewrit\w*"
        r"|lock ?files?|split\w*|extract\w*)\b",
        re.I,
    ),
    Reversibility.FAST: re.compile(
        r"\b(?:config\w*|settings?|renam\w*|typos?|comments?|docs?|documentation|readme"
        r"|changelog"
        r"|wording|log level|feature flags?|format(?:ting)?|whitespace)\b",
        re.I,
    ),
}

_GATES: Mapping[Workflow, str] = {
    Workflow.BUILD: "libraries were searched for before anything was built",
    Workflow.DEBUG: "the root cause was found before any workaround",
    Workflow.REFACTOR: "what can be deleted was deleted before the redesign",
}

_POINTS = ((1, 1), (3, 3), (5, 5), (8, 8))
_MOST_POINTS = 13


def workflow_of(spec: str) -> Workflow | None:
    """Return the kind of work by the earliest indicator; None where there is none."""
    found = [
        (match.start(), order, workflow)
        for order, (workflow, pattern) in enumerate(_INDICATORS.items())
        if (match := pattern.search(spec))
    ]
    return min(found)[2] if found else None


def gate_of(workflow: Workflow) -> Criterion:
    """Return what has to be shown in each workflow; only evidence can show it."""
    return Criterion(
        text=_GATES[workflow], plan=VerificationPlan(required=Verification.OBSERVATION)
    )


def reversibility_of(spec: str) -> Reversibility:
    """Return how far the work can be rolled back; what the spec rules out is not a cue."""
    for kind, pattern in _CUES.items():
        for match in pattern.finditer(spec):
            before = spec[max(match.start() - 60, 0) : match.start()]
            if not _NEGATED.search(before):
                return kind
    return Reversibility.CHECKPOINTED


def points_of(steps: int) -> int:
    """Return the points of a goal by its number of steps: 1, 3, 5, 8 or 13."""
    return next((points for most, points in _POINTS if steps <= most), _MOST_POINTS)


_CRITERIA_SECTIONS = ("success", "done")
_NO_CRITERIA = ("constraints", "steps")
# A command that has to fail, or that must not be run, verifies nothing by its exit status.
_REVERSED = re.compile(
    r"\b(?:fails?|non-?zero|exits? (?:with )?(?:status |code )?[1-9]|finds nothing|no longer"
    r"|must not|never|do(?:es)? not|don['’]t|instead of|without)\b",
    re.I,
)
_PASSES = re.compile(
    r"\b(?:pass(?:es)?|succeeds?|works?|(?:is|stays|runs) (?:green|clean)|exits? (?:with )?0"
    r"|no (?:errors?|warnings?))\b",
    re.I,
)
_STATED = re.compile(
    r"\b(?:tests?|lint\w*|suite|ci|build|type ?checks?|mypy|ruff)\b(?:\s+\w+){0,2}\s+"
    r"(?:pass(?:es)?|succeeds?|(?:is |are |stays? )?(?:green|clean))\b",
    re.I,
)
_KINDS = (
    (Verification.CODE_REVIEW, re.compile(r"\b(?:code review|reviewed|approved by)\b", re.I)),
    (
        Verification.OBSERVATION,
        re.compile(r"\b(?:manual(?:ly)?|qa|screenshots?|renders?|by hand|looks?|visible)\b", re.I),
    ),
)
_PRINTS = re.compile(r"\b(?:prints?|reports?|shows?|says|outputs?|measures?|gives?)\b", re.I)
_UNTIL = re.compile(r"\b(?:until|so that|done when|done once|finished when)\s+", re.I)


def criteria_of(spec: str) -> tuple[Criterion, ...]:
    """Return the criteria of a spec, each text once, in their order."""
    found: dict[str, Criterion] = {}
    for part in parts_of(spec):
        text = _criterion_of(part)
        if text and not states_nothing(text):
            found.setdefault(text, Criterion(text=text, plan=plan_of(text)))
    return tuple(found.values())


def _criterion_of(part: Statement) -> str:
    """Return the criterion that a statement is, or has behind an `until`; empty for none."""
    if part.section in _CRITERIA_SECTIONS:
        return part.text
    if part.section in _NO_CRITERIA or part.numbered:
        return ""
    pieces = _UNTIL.split(part.text, maxsplit=1)
    text = pieces[-1].strip()
    plan = plan_of(text)
    proven = plan.command and (_PASSES.search(text) or plan.compare)
    return text if plan.compare or proven or _STATED.search(text) else ""


def plan_of(text: str) -> VerificationPlan:
    """Return how a criterion can be verified by what its text names."""
    compared = measures(_without_commands(text))
    compare = str(compared[0]) if compared and compared[0].what else ""
    run = [] if _REVERSED.search(text) else commands(text)
    command = " && ".join(run)
    if compare:
        # Which of several commands prints the number is not known.
        command = command if len(run) == 1 else ""
        return VerificationPlan(command=command, compare=compare, required=Verification.MEASUREMENT)
    if command:
        return VerificationPlan(command=command, required=Verification.EXECUTION_OUTPUT)
    kind = next((kind for kind, pattern in _KINDS if pattern.search(text)), None)
    return VerificationPlan(required=kind)


def _without_commands(text: str) -> str:
    """Return a statement in which no command, and no word for what it prints, names a number."""
    for command in commands(text):
        text = text.replace(f"`{command}`", ";")
    return _PRINTS.sub(";", text)


def steps_of(spec: str) -> tuple[str, ...]:
    """Return the steps of a spec: what stands under steps, or numbered items outside criteria."""
    parts = list(parts_of(spec))
    steps = [one.text for one in parts if one.section == "steps" and one.item]
    if not steps:
        outside = (*_CRITERIA_SECTIONS, "constraints", "scope")
        steps = [one.text for one in parts if one.numbered and one.section not in outside]
    return tuple(dict.fromkeys(steps))


_OTHERS = ("constraints", "success", "done")
_SCOPE_END = re.compile(
    r"\b(?:until|so that|such that|done when|except|but not|other than)\b", re.I
)
_JUDGES = re.compile(r"(?:\A|[/_.-])(?:tests?|checks?|specs?|conftest)(?:[/_.-]|\Z)", re.I)

_ALL_TESTS = re.compile(r"(?<![\w./-])tests?(?:/(?![\w*])|(?![\w/.-]))", re.I)


def may_change(spec: str, commands: Iterable[str], project: Path) -> list[str]:
    """Return patterns of the files that the work on a spec may change.

    They are those of its scope. Without a scope they are those that it names elsewhere, but for
    tests. What a command names and is not there yet has to be made.
    """
    parts = _about_work(spec)
    stated = [one.text for one in parts if one.section == "scope"]
    found = [place for text in stated for place in _places(text)]
    if not found:
        named = [place for one in parts for place in _places(one.text)]
        found = [place for place in named if not _JUDGES.search(place)]
    found += [name for command in commands for name in _find_missing(command, project)]
    patterns = [_pattern(one, project) for one in dict.fromkeys(found)]
    return [pattern for one in patterns for pattern in within(one)]


def tests_may_change(spec: str) -> bool:
    """Return whether the scope of a spec names its tests as such, and no file of them."""
    return any(_ALL_TESTS.search(one.text) for one in _about_work(spec) if one.section == "scope")


def _about_work(spec: str) -> list[Statement]:
    parts = [one for one in parts_of(spec) if one.section not in _OTHERS]
    return [one for one in parts if not is_ruled_out(one.text)]


def _places(text: str) -> Iterator[str]:
    """Yield the places in a statement that can be paths of a project."""
    for place in places_of(_SCOPE_END.split(text, maxsplit=1)[0]):
        if not re.search(r"[\s()<>|;&$:]", place) and not place.startswith(("/", "~", "-", "..")):
            yield place.removeprefix("./").rstrip("/")


def _pattern(place: str, project: Path) -> str:
    return escape_path(place) if (project / place).exists() else place


def _find_missing(command: str, project: Path) -> Iterator[str]:
    """Yield what a command names as a file of the project that is not there."""
    try:
        words = shlex.split(command)
    except ValueError:
        return
    for word in words[1:]:
        is_path = re.fullmatch(r"[\w./-]+\.[A-Za-z0-9]+", word) and not word.startswith(("/", "-"))
        if is_path and ".." not in word.split("/") and not (project / word).exists():
            yield word.removeprefix("./")
