"""Which parts of an artifact a critique names, and what a step changed outside them. Pure.

What a REFINE, or a later PRODUCE, changed outside is reported, or taken back. An issue names a part
by its heading or first key, in what it says or in what its rule says; by a line in which its rule's
check found something; by what the rule's fixes change; by `section:` of a check. An issue that
names nothing at all opens the whole text, and so do a person's critique and a rule whose safe fix
is a formatter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pytest_reflex import fixes
from pytest_reflex.drivers.reflex.history import artifact_with
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.results import Evaluation, evaluation_from_json
from pytest_reflex.model.rules import FORMAT, Criteria, Rule
from pytest_reflex.model.run import RunState
from pytest_reflex.storage.parts import (
    BEFORE_HEADINGS,
    FRONT_MATTER,
    TextPart,
    TextParts,
    find_changes,
    find_moved,
    merge,
    parts_of,
)

FEEDBACK = "feedback"

_SHORT = 2
_NUMBER = re.compile(r" \(\d+\)$")
_FORMATTING = re.compile(r"[*`_#~\[\]]+")
_EVIDENCE_LINE = re.compile(r"^(\d+) \| ", re.MULTILINE)
_ALIASES = {BEFORE_HEADINGS: ("preamble", "introduction"), FRONT_MATTER: ("front matter",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineInput:
    """What a REFINE was given: the issues, a person's words, and the evaluation they rest on."""

    issues: Sequence[Mapping[str, str]]
    feedback: Sequence[str]
    evaluation: Evaluation | None
    criteria: Criteria


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedParts:
    """Names of the parts that may change; `opened_by` are the issues that opened the whole text."""

    named: frozenset[str]
    opened_by: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        return bool(self.opened_by)

    def to_json(self) -> dict[str, Any]:
        if self.whole:
            return {"whole": list(self.opened_by)}
        return {"named": sorted(self.named)}


def last_critique(events: Sequence[Event], criteria: Criteria) -> tuple[RefineInput, str] | None:
    """Return the last critique of a run and the hash of what it was about, None before one."""
    rules = {rule.id: rule for rule in criteria.rules}
    said = next((e for e in reversed(events) if e.kind is EventKind.CRITIQUE_DONE), None)
    if said is None:
        return None
    judges = (EventKind.EVALUATION_DONE, EventKind.RUN_ADOPTED)
    judged = next(e for e in reversed(events) if e.kind in judges and e.seq < said.seq)
    evaluation = evaluation_from_json(judged.payload["evaluation"], rules)
    critique = RefineInput(
        issues=said.payload["issues"],
        feedback=said.payload.get("feedback", ()),
        evaluation=evaluation,
        criteria=criteria,
    )
    return critique, evaluation.artifact_sha256


def scope_of(critique: RefineInput, old: str, new: str) -> AllowedParts:
    """Return which parts of `old` and `new` a critique of `old` named."""
    before, after = parts_of(old), parts_of(new)
    known = [parts for parts in (before, after) if parts]
    named: set[str] = set()
    opened_by = []
    for issue in critique.issues:
        rule = critique.criteria.rule(issue["rule_id"])
        found = set(_parts_named_by(issue, rule, critique, old, known))
        named |= found
        if not found or _has_formatter(rule):
            opened_by.append(issue["rule_id"])
    for text in critique.feedback:
        found = set(_mentioned_parts([text], known))
        named |= found
        if not found:
            opened_by.append(FEEDBACK)
    return AllowedParts(named=frozenset(named), opened_by=tuple(dict.fromkeys(opened_by)))


def _has_formatter(rule: Rule | None) -> bool:
    """Return whether a program fixes a rule, which may change whatever it likes."""
    return rule is not None and any(fix.safe and fix.kind == FORMAT for fix in rule.fixes)


def _parts_named_by(
    issue: Mapping[str, str],
    rule: Rule | None,
    critique: RefineInput,
    old: str,
    known: Sequence[TextParts],
) -> Iterator[str]:
    yield from _mentioned_parts([*issue.values(), *_words_of(rule)], known)
    yield from _at_lines(_lines(critique.evaluation, issue["rule_id"]), parts_of(old))
    if rule is None:
        return
    fixed, _ = fixes.apply_all(rule.fixes, old)
    yield from find_changes(old, fixed).all if fixed != old else ()
    wanted = {_key(str(c.params["section"])) for c in rule.checks if "section" in c.params}
    for parts in known:
        for part in parts.parts:
            if _title(part) in wanted or _key(part.name) in wanted:
                yield from _with_children(part, parts)


def _words_of(rule: Rule | None) -> Iterator[str]:
    """Yield what a rule says: its words, and every text in its checks."""
    if rule is None:
        return
    yield from (rule.description, rule.hint, rule.prose)
    for check in rule.checks:
        yield check.expected
        yield from _texts(check.params)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)


def _mentioned_parts(texts: Iterable[str], known: Sequence[TextParts]) -> Iterator[str]:
    """Yield parts whose title stands in a text, each with the parts that it contains."""
    plain = "\n".join(" ".join(_FORMATTING.sub("", text).split()) for text in texts)
    folded = plain.casefold()
    for parts in known:
        for part in parts.parts:
            words = _ALIASES.get(part.name, ()) or (_NUMBER.sub("", part.name), part.name)
            if any(_stands_in(word, plain, folded) for word in words):
                # A document's title contains everything, and is often the name of its subject.
                yield from [part.name] if part.level == 1 else _with_children(part, parts)


def _stands_in(title: str, plain: str, folded: str) -> bool:
    words = " ".join(_FORMATTING.sub("", title).split())
    if len(words) > _SHORT:  # "a" is a word of most sentences
        words, plain = words.casefold(), folded
    if not words or words not in plain:  # thousands of titles are not worth a pattern each
        return False
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", plain))


def _with_children(part: TextPart, parts: TextParts) -> Iterator[str]:
    yield part.name
    if not part.level:
        return
    for other in islice(parts.parts, parts.places[part.name] + 1, None):
        if other.level <= part.level:
            return
        yield other.name


def _lines(evaluation: Evaluation | None, rule_id: str) -> Iterator[int]:
    """Yield the lines at which the checks of a rule found what they report."""
    rows = evaluation.results if evaluation else ()
    checks = (check for row in rows if row.rule.id == rule_id for check in row.checks)
    for check in checks:
        if check.outcome.value == "pass":
            continue
        if check.location and check.location.line:
            yield check.location.line
        yield from map(int, _EVIDENCE_LINE.findall(check.evidence))


def _at_lines(lines: Iterable[int], parts: TextParts | None) -> Iterator[str]:
    for line in lines if parts else ():
        assert parts is not None
        above = [part for part in parts.parts if part.line <= line]
        if above:
            yield above[-1].name


def _title(part: TextPart) -> str:
    return _key(_NUMBER.sub("", part.name))


def _key(title: str) -> str:
    return " ".join(title.lstrip("# ").split()).casefold()


OFF, REPORT, STRICT = "off", "report", "strict"
NO_PARTS = "its parts have no distinct names"


def apply_guard(done: StepOutcome, state: RunState, events: Sequence[Event]) -> StepOutcome:
    """Return a step's new artifact as the guard of the run lets it stand, with what it found.

    The payload gets `scope` and `outside` (names of parts); with the guard strict also `reverted`,
    or `unguarded`, which says why nothing could be taken back. Everything is compared with the
    artifact that was evaluated last.
    """
    mode = state.setup.get("guard", REPORT)
    if mode == OFF or done.artifact is None or not _is_held(done.step, state):
        return done
    found = last_critique(events, state.criteria)
    if found is None:
        return done
    critique, sha256 = found
    old, new = artifact_with(events, sha256), done.artifact
    scope = scope_of(critique, old, new)
    payload: dict[str, Any] = {"scope": scope.to_json(), "outside": []}
    if parts_of(old) is None or parts_of(new) is None:
        payload |= {"unguarded": NO_PARTS} if mode == STRICT else {}
    elif not scope.whole:
        payload["outside"] = outside(old, new, scope.named)
        if mode == STRICT and payload["outside"]:
            new = _revert(old, new, scope.named, payload)
    return replace(done, payload={**done.payload, **payload}, artifact=new)


def _is_held(step: Step, state: RunState) -> bool:
    return step is Step.REFINE or (step is Step.PRODUCE and state.iteration > 1)


def outside(old: str, new: str, named: frozenset[str]) -> list[str]:
    """Return the parts that were changed or moved and are not named."""
    changed = find_changes(old, new).all
    return [
        name
        for name in dict.fromkeys((*changed, *find_moved(old, new, named)))
        if name not in named
    ]


def _revert(old: str, new: str, named: frozenset[str], payload: dict[str, Any]) -> str:
    merged = merge(old, new, named)
    if merged is None:
        payload["unguarded"] = NO_PARTS
        return new
    payload["reverted"] = payload["outside"]
    return merged
