"""`.loop/state.json` as bytes and as a `GoalState`.

Promises: what `dump` wrote is read back as the same state; keys of other programs stay; a
`criteriaStatus` that is empty or cannot be understood never counts as met. How criteria are
verified stands under `goal`, a key of our own; a state that was written by hand may have it in the
entry of a criterion.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.goal.model import (
    Criterion,
    GoalState,
    GoalStatus,
    MustNot,
    Verification,
    VerificationPlan,
)
from pytest_reflex.errors import Place, StateError
from pytest_reflex.model.plain import one_line

FOLDER = ".loop"
STATE_NAME = "state.json"
STATE_FILE = f"{FOLDER}/{STATE_NAME}"
LOCK_NAME = "state.lock"
"""The file whose lock the goal loop holds while it drives a project."""
HOOK = "hook"
_OWN, _PLANS, _BREAKER, _REQUIRED = "goal", "plans", "circuitBreaker", "required"
LONGEST = 2_000_000
"""Bytes of a state file."""
_TEXTS = ("command", "compare", "criteria", "artifact", "rule")
_ENTRY = ("met", "verification", _REQUIRED, "evidence", *_TEXTS)
_KEYS = (
    *("spec", "criteria", "criteriaStatus", "exit_signal", "steps", "completedSteps"),
    *("remainingSteps", "iteration", "status", _BREAKER, "pause_reason", "mustNot", "id"),
    *(HOOK, _OWN),
)


class KeyFaultError(ValueError):
    """What is wrong with the value of a key."""


def state_path(project: Path) -> Path:
    """Return where the state of a project lies."""
    return project / FOLDER / STATE_NAME


def lock_path(project: Path) -> Path:
    """Return whose lock says that the goal loop drives a project."""
    return project / FOLDER / LOCK_NAME


def read_object(data: bytes, path: Path | str) -> dict[str, Any]:
    """Return the JSON object of a state file; raises StateError."""
    from pytest_reflex.contracts.validate import ContractError, parse_json

    place = Place(str(path))
    try:
        if len(data) > LONGEST:
            raise ValueError(f"{len(data):,} bytes, the limit is {LONGEST:,}")
        wire = parse_json(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        place = Place(str(path), error.lineno, error.colno)
        raise StateError(f"it is not JSON: {error.msg}", place=place) from None
    except (ValueError, ContractError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise StateError(f"it is not JSON: {one_line(why)}", place=place) from None
    if not isinstance(wire, dict):
        raise StateError("it holds no JSON object", place=place)
    return wire


def load(data: bytes, path: Path | str = STATE_NAME) -> GoalState:
    """Return the state in a file; raises StateError with the file, the key and what is wrong."""
    return from_json(read_object(data, path), path)


def from_json(wire: Mapping[str, Any], path: Path | str = STATE_NAME) -> GoalState:
    """Return the state that an object stands for; raises StateError as `load` does."""
    try:
        return _state(wire)
    except KeyFaultError as error:
        raise StateError(str(error), place=Place(str(path)), hint="correct the key") from None


def _state(wire: Mapping[str, Any]) -> GoalState:
    own = _object(wire, _OWN)
    breaker = _object(wire, _BREAKER)
    unmet = breaker.get("unmet", breaker.get("lastUnmet", ""))
    rest = {key: value for key, value in wire.items() if key not in _KEYS}
    if more := {k: v for k, v in breaker.items() if k not in ("stuckCount", "lastUnmet", "unmet")}:
        rest[_BREAKER] = more
    return GoalState(
        spec=_text(wire, "spec"),
        criteria=tuple(_criteria(wire, own.get(_PLANS, {}))),
        exit_signal=_boolean(wire, "exit_signal"),
        steps=_texts(wire, "steps"),
        completed_steps=_texts(wire, "completedSteps"),
        remaining_steps=_texts(wire, "remainingSteps"),
        iteration=_whole(wire, "iteration"),
        status=_status(wire),
        stuck_count=_whole(breaker, "stuckCount", f"{_BREAKER}."),
        unmet=_texts({"unmet": [unmet] if isinstance(unmet, str) and unmet else unmet}, "unmet"),
        pause_reason=_text(wire, "pause_reason"),
        must_not=tuple(_must_not(wire)),
        id=_text(wire, "id") or _text(wire, "session_id"),
        hook=_object(wire, HOOK),
        own={key: value for key, value in own.items() if key != _PLANS},
        rest=rest,
    )


def _criteria(wire: Mapping[str, Any], plans: Any) -> Iterator[Criterion]:
    """Yield the criteria in the order of `criteria`, then those that only `criteriaStatus` has."""
    status = wire.get("criteriaStatus", {})
    fault = "" if isinstance(status, dict) else "criteriaStatus is not an object"
    known: Mapping[str, Any] = status if isinstance(status, dict) else {}
    if not isinstance(plans, dict):
        raise KeyFaultError(f"`{_OWN}.{_PLANS}` is not an object")
    for text in dict.fromkeys((*_texts(wire, "criteria"), *known)):
        yield _criterion(text, known.get(text, False), plans.get(text), fault)


def _criterion(text: str, entry: Any, plan: Any, fault: str) -> Criterion:
    if fault or not isinstance(entry, bool | dict):
        evidence = fault or f"criteriaStatus has {one_line(json.dumps(entry), 40)}, no boolean"
        return Criterion(text=text, plan=plan_from_json(plan, text), evidence=evidence)
    if isinstance(entry, bool):
        claim = Verification.CLAIM if entry else None
        plan = plan_from_json(plan, text)
        return Criterion(text=text, plan=plan, met=entry, verification=claim)
    met = entry.get("met") is True
    word = entry.get("verification")
    verification = _verification(word, met)
    if plan is None:
        plan = {key: entry[key] for key in (*_TEXTS, "check", _REQUIRED) if key in entry}
        # A kind of proof on what is not met yet is the kind that is planned.
        if not met and verification is not None:
            plan.setdefault(_REQUIRED, verification.value)
    rest = {key: value for key, value in entry.items() if key not in _ENTRY}
    said = entry.get("evidence")
    return Criterion(
        text=text,
        plan=plan_from_json(plan, text),
        met=met,
        verification=verification,
        evidence=said if isinstance(said, str) else "",
        rest=rest,
    )


def _verification(word: Any, met: bool) -> Verification | None:
    """Return how a criterion was verified; an unknown word proves nothing."""
    try:
        return Verification(word)
    except ValueError:
        return Verification.CLAIM if met else None


def plan_from_json(wire: Any, text: str) -> VerificationPlan:
    """Return a plan from JSON, empty for None; raises KeyFaultError, which names the criterion.

    `check` is another name of `criteria`.
    """
    if wire is None:
        return VerificationPlan()
    name = one_line(text, 60)
    if not isinstance(wire, dict):
        raise KeyFaultError(f"the plan of {name!r} is not an object")
    if "criteria" not in wire and "check" in wire:
        wire = {**wire, "criteria": wire["check"]}
    for key in _TEXTS:
        if not isinstance(wire.get(key, ""), str):
            raise KeyFaultError(f"`{key}` of {name!r} is not a text")
    required = wire.get(_REQUIRED)
    known = [one.value for one in Verification]
    if required is not None and required not in known:
        required = None  # a word of another program asks for no kind that we could give
    return VerificationPlan(
        **{key: wire[key] for key in _TEXTS if key in wire},
        required=None if required is None else Verification(required),
    )


def plan_to_json(plan: VerificationPlan) -> dict[str, Any]:
    """Return the keys of a plan that have a value."""
    wire = {one.name: getattr(plan, one.name) for one in fields(plan)}
    return {key: value for key, value in wire.items() if value}


def _must_not(wire: Mapping[str, Any]) -> Iterator[MustNot]:
    found = wire.get("mustNot", [])
    if not isinstance(found, list):
        raise KeyFaultError("`mustNot` is not a list")
    for one in found:
        if isinstance(one, str):
            yield MustNot(text=one)
        elif isinstance(one, dict) and isinstance(one.get("text"), str):
            yield MustNot(text=one["text"], plan=plan_from_json(one, one["text"]))
        else:
            raise KeyFaultError(
                "`mustNot` has an item that is neither a text nor an object with `text`"
            )


def _object(wire: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = wire.get(key, {})
    if not isinstance(value, dict):
        raise KeyFaultError(f"`{key}` is not an object")
    return dict(value)


def _text(wire: Mapping[str, Any], key: str) -> str:
    value = wire.get(key)
    if value is not None and not isinstance(value, str):
        raise KeyFaultError(f"`{key}` is not a text")
    return value or ""


def _boolean(wire: Mapping[str, Any], key: str) -> bool:
    value = wire.get(key, False)
    if not isinstance(value, bool):
        raise KeyFaultError(f"`{key}` is not true or false")
    return value


def _whole(wire: Mapping[str, Any], key: str, within: str = "") -> int:
    value = wire.get(key, 0)
    if type(value) is not int or value < 0:
        raise KeyFaultError(f"`{within}{key}` is not a whole number")
    return value


def _texts(wire: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a list of texts; what another program has in it as objects is kept as JSON."""
    value = wire.get(key) or []
    if not isinstance(value, list):
        raise KeyFaultError(f"`{key}` is not a list")
    return tuple(one if isinstance(one, str) else json.dumps(one) for one in value)


def _status(wire: Mapping[str, Any]) -> GoalStatus:
    value = wire.get("status", GoalStatus.IN_PROGRESS.value)
    try:
        return GoalStatus(value)
    except ValueError:
        words = ", ".join(one.value for one in GoalStatus)
        raise KeyFaultError(
            f"`status` is {one_line(json.dumps(value), 40)}, none of {words}"
        ) from None


def dump(state: GoalState) -> bytes:
    """Return the state file of a state: the seed's keys in their order, then ours and others'."""
    return (json.dumps(to_json(state), indent=2) + "\n").encode()


def to_json(state: GoalState) -> dict[str, Any]:
    """Return the wire form of a state."""
    plans = _plans(state.criteria)
    more = state.rest.get(_BREAKER, {})
    wire: dict[str, Any] = {
        "spec": state.spec,
        "criteria": [one.text for one in state.criteria],
        "criteriaStatus": {one.text: _entry(one) for one in state.criteria},
        "exit_signal": state.exit_signal,
        "steps": list(state.steps),
        "completedSteps": list(state.completed_steps),
        "remainingSteps": list(state.remaining_steps),
        "iteration": state.iteration,
        "status": state.status.value,
        _BREAKER: {
            "stuckCount": state.stuck_count,
            "lastUnmet": state.unmet[0] if state.unmet else "",
            "unmet": list(state.unmet),
            **more,
        },
    }
    if state.pause_reason:
        wire["pause_reason"] = state.pause_reason
    if state.must_not:
        wire["mustNot"] = [{"text": one.text, **plan_to_json(one.plan)} for one in state.must_not]
    if state.id:
        wire["id"] = state.id
    if state.hook:
        wire[HOOK] = dict(state.hook)
    if state.own or plans:
        wire[_OWN] = ({_PLANS: plans} if plans else {}) | dict(state.own)
    return wire | {key: value for key, value in state.rest.items() if key != _BREAKER}


def _entry(one: Criterion) -> Any:
    """Return a boolean where nothing more is known, as the seed has it."""
    wire: dict[str, Any] = {"met": one.met}
    if one.verification is not None:
        wire["verification"] = one.verification.value
    if one.plan.required is not None:
        wire[_REQUIRED] = one.plan.required.value
    if one.evidence:
        wire["evidence"] = one.evidence
    wire |= one.rest
    claimed = one.met and wire == {"met": True, "verification": Verification.CLAIM.value}
    return one.met if claimed or wire == {"met": False} else wire


def _plans(criteria: Iterable[Criterion]) -> dict[str, Any]:
    """Return the plans; a criterion without one needs an entry where its proof would be its plan.

    A plan without any key stands there for that reason alone.
    """
    return {
        one.text: plan_to_json(one.plan)
        for one in criteria
        if one.plan != VerificationPlan() or (one.verification is not None and not one.met)
    }
