"""The plugin that answers the step hooks with the configured agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pluggy

from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Agent, Reply, StepRequest

hookimpl = pluggy.HookimplMarker("pytest")


@dataclass(frozen=True, slots=True)
class AgentRouter:
    """One agent per step; asked last, so that a user's plugin may answer first."""

    agents: Mapping[Step, Agent]

    @hookimpl(trylast=True)
    def pytest_reflex_plan(self, request: StepRequest) -> Reply:
        return self.agents[Step.PLAN].respond(request)

    @hookimpl(trylast=True)
    def pytest_reflex_produce(self, request: StepRequest) -> Reply:
        return self.agents[Step.PRODUCE].respond(request)

    @hookimpl(trylast=True)
    def pytest_reflex_prepare(self, request: StepRequest) -> Reply:
        return self.agents[Step.PREPARE].respond(request)

    @hookimpl(trylast=True)
    def pytest_reflex_critique(self, request: StepRequest) -> Reply:
        return self.agents[Step.CRITIQUE].respond(request)

    @hookimpl(trylast=True)
    def pytest_reflex_refine(self, request: StepRequest) -> Reply:
        return self.agents[Step.REFINE].respond(request)


@dataclass(frozen=True, slots=True)
class HooksOnlyAgent:
    """The agent `python`: says of each step which hook of a plugin has not answered it."""

    name: str = "python"

    def respond(self, request: StepRequest) -> Reply:
        step = request.step.value
        error = (
            f"no plugin has answered {step}: name a module with the hook "
            f"pytest_reflex_{step.lower()} in `plugins`, or another agent"
        )
        return Reply(text="", agent=self.name, error=error, details={"free": True})
