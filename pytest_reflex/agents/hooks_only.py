"""The agent `python`: steps are answered by the hooks of plugins, and by nothing behind them."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_reflex.model.steps import Reply, StepRequest


@dataclass(frozen=True, slots=True)
class HooksOnlyAgent:
    """Says of each step that comes to it which hook has not answered: plugins are asked first."""

    name: str = "python"

    def respond(self, request: StepRequest) -> Reply:
        hook = f"pytest_reflex_{request.step.value.lower()}"
        error = (
            f"no plugin has answered {request.step.value}: name a module with the hook {hook} in "
            "`plugins`, or another agent"
        )
        return Reply(text="", agent=self.name, error=error, details={"free": True})
