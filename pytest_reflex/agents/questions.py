"""A question to an agent whose answer has to keep a contract: one retry, and all that it cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_reflex.agents.outcome import without_answer
from pytest_reflex.agents.prompts import told_answer
from pytest_reflex.contracts.extract import ContractError
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import Cost, cost_of, total_cost
from pytest_reflex.model.steps import Askable, Question, Reply

TRIES = 2

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Answered(Generic[Value]):
    """What an agent was understood to say: `value` is None where `error` says why there is none.

    `reply` is the last one; `cost` is that of all calls, None where they were free.
    """

    value: Value | None
    reply: Reply
    cost: Cost | None
    error: str = ""


def ask_for(
    agent: Askable,
    question: Callable[[str], Question],
    read: Callable[[str, str], Value],
    heard: Callable[[Question, Reply], object] = lambda question, reply: None,
) -> Answered[Value]:
    """Ask an agent; an answer that `read` refuses with a ContractError is asked for once more.

    `question` and `read` get what was wrong with the answer before and how that began, first an
    empty text. `heard`
    learns of each call before its answer is used. Nothing that an agent does is raised.
    """
    costs: list[Cost | None] = []
    complaint = reason = ""
    for _ in range(TRIES):
        asked = question(complaint)
        reply = ask_safely(agent, asked)
        heard(asked, reply)
        costs.append(cost_of(reply))
        if reply.error:
            return Answered(None, reply, total_cost(costs), _reason(reply))
        try:
            return Answered(read(reply.text, complaint), reply, total_cost(costs))
        except ContractError as error:
            reason = one_line(str(error), 1000)
            complaint = f"{reason}\n{told_answer(reply.text)}"
    return Answered(None, reply, total_cost(costs), f"its answer cannot be used: {reason}")


def ask_safely(agent: Askable, question: Question) -> Reply:
    """Return an agent's reply; one of a plugin may raise or return anything."""
    try:
        reply = agent.ask(question)
    except Exception as error:
        told = one_line(f"{type(error).__name__}: {error}", 200)
        return Reply(text="", agent=agent.name, error=f"the agent raised {told}")
    if not isinstance(reply, Reply):
        told = one_line(repr(reply), 60)
        return Reply(text="", agent=agent.name, error=f"the agent returned {told}, no Reply")
    return reply


def _reason(reply: Reply) -> str:
    """Return why there is no answer; what stands on stdout may be one, which then is none."""
    is_limit = reply.details.get("limited")
    return reply.error if is_limit else without_answer(reply.error, reply.text)
