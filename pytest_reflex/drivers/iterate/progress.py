"""Whether gates that fail come nearer to a pass, by the numbers of their failures: pure.

An iteration makes progress where no gate that failed forbids it, none has more failures than it
ever had fewer of, and at least one has fewer. What counts is the fewest so far, so that going back
and forth is not progress, and progress has an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_reflex.drivers.iterate.model import GateResult
from pytest_reflex.model.plain import counted

Known = Mapping[str, Mapping[str, int]]
"""The fewest failures of each gate so far, by how they were counted."""
_PASS = "pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is `better` in words, empty where there was no progress; `known` is what holds now."""

    better: str
    known: Known


def compare(results: Iterable[GateResult], known: Known) -> Comparison:
    """Compare the required gates of an iteration with what is known of them."""
    needed = [one for one in results if one.gate.required]
    counted = [one for one in needed if one.gate.progress and one.failures is not None]
    failing = [one for one in needed if not one.passed]
    steps = {one.gate.name: _step(one, known.get(one.gate.name, {})) for one in counted}
    held = all(steps.get(one.gate.name, "") for one in failing)
    better = [text for text in steps.values() if text and text != _SAME]
    good = not failing or bool(held and better)
    after = {**known, **{one.gate.name: _known(one, known, good=good) for one in counted}}
    return Comparison(better="; ".join(better) if failing and good else "", known=after)


_SAME = "same"


def _step(result: GateResult, known: Mapping[str, int]) -> str:
    """Return how a gate became better, that it is the same, or nothing where it did not hold."""
    assert result.failures is not None
    how, number = result.failures
    before = 0 if _PASS in known else known.get(how)
    name = result.gate.name
    if result.passed:
        failed = bool(known) and _PASS not in known
        return f"{name} passes" if failed else _SAME
    if before is None or number > before:
        return ""
    return f"{name} has {_failures(number)}, before {before}" if number < before else _SAME


def _failures(number: int) -> str:
    return counted(number, "failure")


def _known(result: GateResult, known: Known, *, good: bool) -> Mapping[str, int]:
    """Return the fewest failures of a gate; what a bad iteration has only where nothing is known.

    A pass is known of a bad iteration only where the gate was not measured before.
    """
    assert result.failures is not None
    how, number = result.failures
    before = known.get(result.gate.name, {})
    if good:
        return {**before, how: number}
    if how == _PASS and before:
        return before
    return {how: number, **before}


def failing_gates(results: Sequence[GateResult]) -> tuple[str, ...]:
    """Return the names of the required gates that failed."""
    return tuple(one.gate.name for one in results if one.gate.required and not one.passed)


def known_from_json(wire: object) -> Known:
    """Read what is known; raises ValueError for what nobody counted."""
    if not isinstance(wire, dict) or not all(isinstance(one, dict) for one in wire.values()):
        raise ValueError(f"known_failures is {wire!r}, not an object of objects")
    for one in wire.values():
        if not all(type(number) is int and number >= 0 for number in one.values()):
            raise ValueError(f"known_failures has {one!r}, not numbers of failures")
    return wire
