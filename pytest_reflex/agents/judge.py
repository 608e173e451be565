"""An agent as a judge: one question for each vote, one retry, and whatever fails is a void vote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_reflex.agents.command import STEP, CommandAgent
from pytest_reflex.agents.judge_prompt import case_number, judge_prompt
from pytest_reflex.agents.outcome import without_answer
from pytest_reflex.contracts.judgement import read_judgement
from pytest_reflex.contracts.steps import ContractError
from pytest_reflex.model.cost import Cost, cost_of, total_cost
from pytest_reflex.model.judged import Case, Ruling, Vote
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.steps import Askable, Question, Reply
from pytest_reflex.model.words import Step

TRIES = 2
_A_DAY = 86_400.0

Hear = Callable[[Case, Question, Reply], object]


def _nobody(case: Case, question: Question, reply: Reply) -> None:
    """Nobody listens."""


def _reason(reply: Reply) -> str:
    """Return why there is no answer; what stands on stdout may be a vote, which then is none."""
    is_limit = reply.details.get("limited")
    return reply.error if is_limit else without_answer(reply.error, reply.text)


def for_votes(agent: Askable) -> Askable:
    """Return an agent that waits for no limit for hours: a session of tests is not held up."""
    if not isinstance(agent, CommandAgent):
        return agent
    patience = agent.patience
    longest = min(patience.longest_reset, patience.longest)
    return replace(agent, patience=replace(patience, longest_reset=longest))


@dataclass(frozen=True, slots=True)
class AgentJudge:
    """Judges by asking an agent; `heard` learns of every call before its answer is used."""

    agent: Askable
    heard: Hear = _nobody

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def seconds(self) -> float:
        """The longest that one vote may take: two answers, and the waits for a rate limit."""
        agent = self.agent
        if not isinstance(agent, CommandAgent):
            return _A_DAY
        patience = agent.patience
        one = agent.timeout + agent.grace + patience.longest
        return TRIES * patience.tries * one

    def prompt(self, case: Case) -> str:
        return judge_prompt(case)

    def vote(self, case: Case) -> Vote:
        """Return the agent's vote; an answer that cannot be used is asked for once more."""
        costs: list[Cost | None] = []
        complaint = ""
        for _ in range(TRIES):
            question = Question(
                prompt=judge_prompt(case, complaint),
                environment={**case.environment, STEP: Step.EVALUATE.value},
                cancel=case.cancel,
            )
            reply = self._asked(question)
            self.heard(case, question, reply)
            costs.append(cost_of(reply))
            if reply.error:
                return self._void(_reason(reply), reply, costs)
            try:
                ruling, reasons = read_judgement(reply.text, case_number(case, complaint))
            except ContractError as error:
                complaint = one_line(str(error), 1000)
                continue
            return Vote(ruling=ruling, agent=reply.agent, reasons=reasons, cost=total_cost(costs))
        return self._void(f"its answer cannot be used: {complaint}", reply, costs)

    def _asked(self, question: Question) -> Reply:
        try:
            reply = self.agent.ask(question)
        except Exception as error:  # an agent of a plugin may raise anything
            told = one_line(f"{type(error).__name__}: {error}", 200)
            return Reply(text="", agent=self.name, error=f"the agent raised {told}")
        if not isinstance(reply, Reply):
            told = one_line(repr(reply), 60)
            return Reply(text="", agent=self.name, error=f"the agent returned {told}, no Reply")
        return reply

    def _void(self, error: str, reply: Reply, costs: list[Cost | None]) -> Vote:
        return Vote(
            ruling=Ruling.VOID,
            agent=reply.agent,
            error=one_line(error, 300),
            limited=bool(reply.details.get("limited")),
            cost=total_cost(costs),
        )
