"""What a judge has to answer, read from its text or refused with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_reflex.contracts.extract import ContractError, find_json
from pytest_reflex.contracts.limits import is_limit_notice
from pytest_reflex.contracts.validate import problems
from pytest_reflex.model.judged import Ruling

LONGEST_REASON = 300
_TELLING = 3


def read_judgement(text: str, case: str) -> tuple[Ruling, tuple[str, ...]]:
    """Return the verdict and its reasons, each in one line.

    `case` is the number that the question told: an object without it is not an answer. Raises
    ContractError, also where text stands around the object, since it may take the verdict back, and
    where the verdict stands before the reasons: it then was not made of them.
    """

    def faults(value: Any) -> list[str]:
        return list(problems("judgement", value)) or _faults(value, case)

    try:
        found = find_json(text, faults, alone=True)
    except ContractError:
        if is_limit_notice(text):
            told = f"the answer is a notice about a limit: {text.strip()[:200]!r}"
            raise ContractError(told) from None
        raise
    reasons = tuple(" ".join(reason.split()) for reason in found["reasons"])
    return Ruling(found["verdict"]), tuple(map(_short, reasons))


def _faults(value: Any, case: str) -> list[str]:
    return list(_wrong(value, case))[:_TELLING]


def _wrong(value: Any, case: str) -> Iterator[str]:
    if value["case"] != case:
        yield "/case: is not the number of this case"
    keys = list(value)
    if keys.index("verdict") < keys.index("reasons"):
        yield "/verdict: comes before the reasons; give the reasons first, then the verdict"


def _short(reason: str) -> str:
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]} ..."
