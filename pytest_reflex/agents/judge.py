"""An agent as a judge: one question for each vote, one retry, and whatever fails is a void vote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from pytest_reflex.agents.command import STEP, CommandAgent
from pytest_reflex.agents.judge_prompt import case_number, judge_prompt
from pytest_reflex.agents.questions import TRIES, ask_for
from pytest_reflex.contracts.judgement import read_judgement
from pytest_reflex.model.enums import Step
from pytest_reflex.model.judged import Case, Ruling, Vote
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.steps import Askable, Question, Reply

_A_DAY = 86_400.0

Hear = Callable[[Case, Question, Reply], object]


def _nobody(case: Case, question: Question, reply: Reply) -> None:
    """Nobody listens."""


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
    def command(self) -> tuple[str, ...]:
        """The command of the agent, none where it is not a command."""
        return self.agent.command if isinstance(self.agent, CommandAgent) else ()

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

        def question(complaint: str) -> Question:
            if not getattr(self.agent, "is_free", False):
                case.asked()
            return Question(
                prompt=judge_prompt(case, complaint),
                contract="judgement",
                environment={**case.environment, STEP: Step.EVALUATE.value},
                cancel=case.cancel,
            )

        def read(text: str, complaint: str) -> tuple[Ruling, tuple[str, ...]]:
            return read_judgement(text, case_number(case, complaint))

        found = ask_for(self.agent, question, read, partial(self.heard, case))
        reply, cost = found.reply, found.cost
        if found.value is not None:
            ruling, reasons = found.value
            return Vote(ruling=ruling, agent=reply.agent, reasons=reasons, cost=cost)
        return Vote(
            ruling=Ruling.VOID,
            agent=reply.agent,
            error=one_line(found.error, 300),
            limited=bool(reply.details.get("limited")),
            cost=cost,
        )
