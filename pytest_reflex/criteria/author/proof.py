"""What is known of a rule after it was tried, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.rules import Rule


class Proof(StrEnum):
    """What is known of a rule after all tries."""

    PROVED = "proved"
    VACUOUS = "vacuous"
    UNCLEAR = "unclear"
    UNPROVEN = "unproven"
    NOT_RUN = "not run"
    NOT_PROVABLE = "not provable"
    JUDGED = "judged"


MEANING = {
    Proof.VACUOUS: "it passes whatever is removed, garbled or inserted",
    Proof.UNCLEAR: "a check could not judge what it has to fail on",
    Proof.UNPROVEN: "there is nothing to prove it with",
    Proof.NOT_RUN: "it runs a command",
    Proof.NOT_PROVABLE: "what judges it is not installed",
    Proof.JUDGED: "an agent judges it, which no number of free tries can prove",
}
ADVICE = {
    Proof.VACUOUS: "make the check stricter, or give a bad sample that it fails on",
    Proof.UNCLEAR: "see what it says, and have it fail where there is nothing",
    Proof.UNPROVEN: "give samples, or name an artifact that passes",
    Proof.NOT_RUN: "--run-commands runs it on every text",
    Proof.NOT_PROVABLE: "install it",
    Proof.JUDGED: "give good and bad samples, and ask about them: criteria test --judge NAME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProof:
    """What is known of a rule: `empty` is its outcome on the empty artifact, None if not tried.

    A rule of absence passes there, or says of itself that it forbids something.
    `failed_on` says for each check on what it failed first, empty where it never did; None for a
    check that was not run. `tried` counts the texts beside the empty one; `cut` says that the time
    was over before all of them were tried. `needs` is the distribution without which it cannot be
    proved. `among` is the outcome on a folder that has a file on
    which the rule fails and one on which it passes; None where no check chooses files.
    """

    rule: Rule
    proof: Proof
    empty: Outcome | None = None
    is_absence: bool = False
    failed_on: tuple[str | None, ...] = ()
    tried: int = 0
    message: str = ""
    cut: bool = False
    among: Outcome | None = None
    needs: str = ""

    @property
    def idle(self) -> tuple[int, ...]:
        """The checks (from 1) that failed on nothing, in a rule that fails by another one."""
        if self.proof is not Proof.PROVED or self.cut:
            return ()
        return tuple(number for number, what in enumerate(self.failed_on, 1) if what == "")

    @property
    def is_one_enough(self) -> bool:
        """Whether a bad file passes beside a good one, and nobody has said that it may."""
        unsaid = any("files" in s.params and "each" not in s.params for s in self.rule.checks)
        return self.among is Outcome.PASS and unsaid

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule.id,
            "proof": self.proof.value,
            "empty": self.empty.value if self.empty else None,
            "absence": self.is_absence,
            "failed_on": list(self.failed_on),
            "tried": self.tried,
            "message": self.message,
            "among_good": self.among.value if self.among else None,
            **({"needs": self.needs} if self.needs else {}),
        }
