"""Whether a client may stop: the Stop hook's decision, as pure functions of payload and state.

Promises: each row either lets go, or holds and counts; what holds is bounded by the hook's own
counts, whatever the client says of itself. Whatever cannot be understood lets go (that is for
stopping alone: no criterion counts as met by it).
Source: seed 003 (both conditions, the open circuit) and section 6 of the specification.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from pytest_reflex.drivers.goal.model import (
    MOST_STUCK,
    Criterion,
    GoalState,
    GoalStatus,
    Verification,
)
from pytest_reflex.model.plain import clip, escape_control, one_line

MOST_BLOCKS = 8
"""As many as Claude Code obeys in a row: at the next one it ends a turn without an answer."""
MOST_EQUAL = 5
LONGEST_REASON = 2_000
_EVIDENCE = 300
_LISTED = 8
_NO_SIGNAL = (
    "All criteria are met, and `exit_signal` in .loop/state.json is not true. "
    "Set it to true if the goal is reached."
)
_NOT_FINISHED = "checks did not finish in their time: make them faster, or narrower."


class HookReason(StrEnum):
    """The row of the decision table; the first that applies counts."""

    BAD_PAYLOAD = "the payload cannot be read"
    OTHER_EVENT = "the event is not Stop"
    NO_SESSION = "the payload has no session id"
    NO_STATE = "no goal is active"
    BAD_STATE = "the state cannot be read"
    DRIVEN = "the goal loop drives this project"
    ENDED = "the goal has ended"
    PAUSED = "the goal is paused"
    OTHER_SESSION = "the goal belongs to another session"
    STUCK = "the circuit is open: the same criteria stayed unmet"
    CAP = "it was held as often as it may be"
    MUST_NOT = "something is true that must not be"
    UNFINISHED_AGAIN = "checks did not finish, twice in a row"
    UNFINISHED = "checks did not finish"
    EQUAL = "nothing changes any more"
    UNMET = "criteria are not met"
    NO_SIGNAL = "the exit is not signalled"
    DONE = "the goal is reached"
    UNCOUNTED = "the count could not be written"
    FAULT = "the hook failed"


HOLDING = frozenset((HookReason.UNFINISHED, HookReason.UNMET, HookReason.NO_SIGNAL))
SILENT = frozenset(
    (HookReason.OTHER_EVENT, HookReason.NO_STATE, HookReason.OTHER_SESSION, HookReason.ENDED)
)
"""Rows that need no message: the hook does not concern this session."""


class PayloadError(ValueError):
    """What a client sent is not a payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a client says when it is about to stop; empty where it does not."""

    event: str = ""
    session: str = ""
    cwd: str = ""
    stop_hook_active: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the hook keeps of one session: how often it held, and in which state the last time.

    `equal` counts the times in a row in which `state`, a digest, was the same.
    """

    session: str = ""
    blocks: int = 0
    equal: int = 0
    state: str = ""
    unfinished: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return what is counted; the session that it is for is named by the file."""
        return {
            "blocks": self.blocks,
            "equal": self.equal,
            "state": self.state,
            "unfinished": self.unfinished,
        }

    def merge(self, other: Counts) -> Counts:
        """Return the higher of two counts of one session; counts of other sessions are ignored."""
        if other.session != self.session:
            return self
        same = other.state == self.state
        later = other if other.blocks > self.blocks else self
        equal = max(self.equal, other.equal) if same else later.equal
        return replace(later, equal=equal, blocks=max(self.blocks, other.blocks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the checks of this call came to; `finished` is False where their time was over.

    `refused` says which commands were not run.
    """

    criteria: tuple[Criterion, ...] = ()
    true_ones: tuple[str, ...] = ()
    finished: bool = True
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDecision:
    """The answer to the client, why, and what is counted from now on (None: nothing changes).

    `detail` is for the person, on standard error.
    """

    why: HookReason
    reason: str = ""
    detail: str = ""
    counts: Counts | None = None

    @property
    def blocks(self) -> bool:
        return self.why in HOLDING

    def to_json(self) -> dict[str, Any]:
        """Return the answer that Claude Code reads."""
        return {"decision": "block", "reason": self.reason} if self.blocks else {}

    def to_ok(self) -> dict[str, Any]:
        """Return the answer in the seed's form."""
        return {"ok": False, "reason": self.reason} if self.blocks else {"ok": True}


def parse_payload(data: bytes) -> Payload:
    """Return the payload in what a client wrote; raises PayloadError."""
    try:
        wire = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"it is not JSON: {one_line(str(error), 80)}") from None
    if not isinstance(wire, dict):
        raise PayloadError("it holds no JSON object")
    texts = {}
    for key in ("hook_event_name", "session_id", "cwd"):
        value = wire.get(key)
        if value is not None and not isinstance(value, str):
            raise PayloadError(f"`{key}` is not a text")
        texts[key] = value or ""
    try:
        texts["session_id"].encode()
    except UnicodeEncodeError:
        raise PayloadError("`session_id` holds half of a surrogate pair") from None
    return Payload(
        event=texts["hook_event_name"],
        session=texts["session_id"].strip(),
        cwd=texts["cwd"],
        stop_hook_active=wire.get("stop_hook_active") is True,
    )


def of_payload(payload: Payload) -> HookDecision | None:
    """Return the decision that a payload alone makes, None where there is none."""
    if payload.event not in ("", "Stop"):
        return HookDecision(why=HookReason.OTHER_EVENT)
    return None if payload.session else HookDecision(why=HookReason.NO_SESSION)


def read_counts(wire: Mapping[str, Any]) -> Counts:
    """Return what a `hook` key says; what has another form counts as nothing."""

    def whole(key: str) -> int:
        value = wire.get(key)
        return value if type(value) is int and value > 0 else 0

    def text(key: str) -> str:
        value = wire.get(key)
        return value if isinstance(value, str) else ""

    return Counts(
        session=text("session"),
        blocks=whole("blocks"),
        equal=whole("equal"),
        state=text("state"),
        unfinished=wire.get("unfinished") is True,
    )


def owner_of(state: GoalState) -> str:
    """Return the session that a goal belongs to, empty for none."""
    return state.id or read_counts(state.hook).session


def before_checks(
    payload: Payload, state: GoalState, counts: Counts, *, driven: bool, most: int = MOST_BLOCKS
) -> HookDecision | None:
    """Return the decision that needs no check, None where criteria have to be looked at."""
    if driven:
        return HookDecision(why=HookReason.DRIVEN)
    if state.status in (GoalStatus.COMPLETED, GoalStatus.CANCELLED):
        return HookDecision(why=HookReason.ENDED)
    if state.status is GoalStatus.PAUSED:
        return HookDecision(why=HookReason.PAUSED, detail=state.pause_reason)
    if owner_of(state) not in ("", payload.session):
        return HookDecision(why=HookReason.OTHER_SESSION)
    if state.stuck_count >= MOST_STUCK:
        unmet = ", ".join(state.unmet)
        return HookDecision(
            why=HookReason.STUCK, detail=f"{state.stuck_count} times: {unmet}", counts=counts
        )
    if counts.blocks >= most:
        return HookDecision(why=HookReason.CAP, detail=cap_text(counts), counts=counts)
    return None


def cap_text(counts: Counts) -> str:
    """Return how often a session was held, and how it is held again."""
    return f"{counts.blocks} times (to start over: pytest-reflex hook release)"


def after_checks(
    state: GoalState, counts: Counts, found: Findings, digest: str, *, most: int = MOST_BLOCKS
) -> HookDecision:
    """Return the decision on what the checks found; `digest` is that of the state as it lies."""
    if found.true_ones:
        return HookDecision(
            why=HookReason.MUST_NOT, detail="; ".join(found.true_ones), counts=counts
        )
    if not found.finished:
        return decide_unfinished(counts, digest, most)
    unmet = [one for one in found.criteria if not one.holds]
    digest = hashlib.sha256("\n".join([digest, *(one.text for one in unmet)]).encode()).hexdigest()
    if unmet or not found.criteria:
        return hold(HookReason.UNMET, unmet_text(unmet, len(found.criteria)), counts, digest, most)
    if not state.exit_signal:
        return hold(HookReason.NO_SIGNAL, _NO_SIGNAL, counts, digest, most)
    return HookDecision(
        why=HookReason.DONE, detail=found.refused, counts=replace(counts, unfinished=False)
    )


def decide_unfinished(counts: Counts, digest: str, most: int) -> HookDecision:
    """Return the decision where the time of the checks was over: it holds once, and counts."""
    if counts.unfinished:
        return HookDecision(
            why=HookReason.UNFINISHED_AGAIN, counts=replace(counts, unfinished=False)
        )
    found = hold(HookReason.UNFINISHED, _NOT_FINISHED, counts, digest, most)
    return replace(found, counts=found.counts and replace(found.counts, unfinished=True))


def hold(why: HookReason, text: str, counts: Counts, digest: str, most: int) -> HookDecision:
    """Return a decision that holds and counts, but lets go where nothing changes any more."""
    counts = replace(counts, unfinished=False)
    if counts.equal >= MOST_EQUAL and counts.state == digest:
        message = f"held {counts.equal} times in this state"
        return HookDecision(why=HookReason.EQUAL, detail=message, counts=counts)
    equal = counts.equal + 1 if counts.state == digest else 1
    counts = replace(counts, blocks=counts.blocks + 1, equal=equal, state=digest)
    return HookDecision(why=why, reason=with_count(text, counts, most), counts=counts)


def with_count(text: str, counts: Counts, most: int) -> str:
    """Return a reason of bounded length, with how often the client was held."""
    last = f"\n(held {counts.blocks} of at most {most} times)"
    return clip(escape_control(text), LONGEST_REASON - len(last)) + last


def unmet_text(unmet: Sequence[Criterion], total: int) -> str:
    """Return the message to a client about criteria that are not met."""
    if not total:
        return (
            "The goal in .loop/state.json has no criteria, so it cannot be reached. "
            "Write `criteria` and `criteriaStatus`."
        )
    lines = [f"The goal is not reached: {len(unmet)} of {total} criteria are not met."]
    for one in unmet[:_LISTED]:
        lines.append(f"- {one_line(one.text, 120)}: {_criterion_text(one)}")
    if len(unmet) > _LISTED:
        lines.append(f"- and {len(unmet) - _LISTED} more")
    lines.append(
        "Work on these, then update `criteriaStatus` in .loop/state.json; "
        "set `exit_signal` to true only when all of them are met."
    )
    return "\n".join(lines)


def _criterion_text(one: Criterion) -> str:
    if one.verification is Verification.ASSUMPTION:
        return "it is assumed, and an assumption proves nothing"
    if not one.evidence:
        wanted = one.plan.required
        return f"not shown yet ({wanted.value} is needed)" if wanted else "not shown yet"
    first, _, rest = one.evidence.partition("\n")
    last = " | ".join(line.strip() for line in rest.strip().splitlines()[-3:] if line.strip())
    return one_line(f"{first} | {last}" if last else first, _EVIDENCE)


def digest_of(wire: Mapping[str, Any], without: str) -> str:
    """Return a digest of a state, without the key that the hook itself writes."""
    kept = {key: value for key, value in wire.items() if key != without}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
