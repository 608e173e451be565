"""What a round came to, decided once from an agent's answer and the gates behind it: pure.

A signal counts only where it stands alone in the last lines of an answer that is not empty: a tool
that repeats its prompt, in which the signal is explained, says nothing by that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_reflex.agents.command import BAD_EXIT, END, NOT_STARTED, TIMED_OUT
from pytest_reflex.contracts.limits import is_limit_notice
from pytest_reflex.iterations.model import Cause, GateResult
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.steps import Reply

_SHOWN = 200


class Promise(StrEnum):
    """What an agent may say of its work in the last line of its answer."""

    SUCCESS = "<promise>SUCCESS</promise>"
    FAILURE = "<promise>FAILURE</promise>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Why a round failed (None: it did not), and whether it promised that all is done."""

    cause: Cause | None = None
    detail: str = ""
    promised_success: bool = False


def promised(text: str) -> Promise | None:
    """Return what the end of an answer promises; a FAILURE beside a SUCCESS is a failure.

    Only lines that hold nothing but a signal count, and only as the last ones.
    """
    said = None
    for line in reversed(text.split("\n")):
        bare = line.strip()
        if bare == Promise.FAILURE:
            return Promise.FAILURE
        if bare == Promise.SUCCESS:
            said = Promise.SUCCESS
        elif bare:
            break
    return said


def unheard(text: str, *, offers_success: bool) -> str:
    """Return what to tell of a signal in an answer that counts for nothing; empty without one."""
    if promised(text) is Promise.SUCCESS:
        return "" if offers_success else _NOT_OFFERED
    last = next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")
    bare = last.strip(_MARKS)
    is_near = bare != last and bare in set(Promise)
    return f"The last line of the answer is no signal, as it is not bare: {last}" if is_near else ""


_NOT_OFFERED = "The success signal ends nothing: the procedure does not say success = true"
_MARKS = " \t\r`*_\"'.,;:!"


def outcome_of_answer(reply: Reply, *, offers_success: bool) -> Outcome:
    """Return what an agent's answer alone comes to; a failed one is not put before the gates.

    `offers_success` says whether the prompt offers the signal that ends the loop.
    """
    if cause := _cause(reply):
        return Outcome(cause=cause, detail=_detail(cause, reply))
    said = promised(reply.text)
    if said is Promise.FAILURE:
        return Outcome(cause=Cause.PROMISED_FAILURE, detail=_reason(reply.text))
    return Outcome(promised_success=offers_success and said is Promise.SUCCESS)


def _reason(text: str) -> str:
    """Return the last line before the signals: there a tool says what it cannot decide."""
    signals = {"", *Promise}
    lines = (line.strip() for line in reversed(text.split("\n")))
    return one_line(next((line for line in lines if line not in signals), ""), _SHOWN)


def outcome_with_gates(answer: Outcome, gates: Sequence[GateResult]) -> Outcome:
    """Return what a round comes to whose answer was good; a required gate decides over it."""
    missed = [found for found in gates if found.gate.required and not found.passed]
    if not missed:
        return answer
    told = "; ".join(f"{found.gate.name}: {found.summary}" for found in missed)
    return Outcome(cause=Cause.GATE, detail=told)


def _cause(reply: Reply) -> Cause | None:
    end = reply.details.get(END)
    if end in _CAUSES:
        return _CAUSES[end]
    if reply.details.get("limit") or reply.details.get("limited"):
        return Cause.LIMIT_NOTICE
    if reply.details.get("silent"):
        return Cause.EMPTY
    if reply.error:
        return Cause.UNUSABLE
    if not reply.text.strip():
        return Cause.EMPTY
    return Cause.LIMIT_NOTICE if is_limit_notice(reply.text) else None


_CAUSES = {TIMED_OUT: Cause.TIMED_OUT, NOT_STARTED: Cause.SPAWN_ERROR, BAD_EXIT: Cause.EXIT}


def _detail(cause: Cause, reply: Reply) -> str:
    error = one_line(reply.error, _SHOWN)
    if cause is Cause.EXIT:
        code = reply.details.get("exit")
        how = f"signal {-code}" if isinstance(code, int) and code < 0 else f"exit {code}"
        return f"{how}; {error}" if reply.details.get("limit") else how
    if cause is Cause.EMPTY:
        return ""
    if cause is Cause.LIMIT_NOTICE:
        return error.removeprefix("the tool ran into a limit: ") or one_line(reply.text, _SHOWN)
    return error
