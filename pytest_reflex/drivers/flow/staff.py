"""Who senses, controls and acts in a flow: agents by role, with the model of an agent file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from pytest_reflex.drivers.common.running import Tools
from pytest_reflex.errors import LimitError
from pytest_reflex.model.steps import Askable, Reply

_INHERITED = "inherit"


class Role(StrEnum):
    """What an agent is asked for in a flow; `cheap` judges where every sensor passes."""

    SENSOR = "sensor"
    CONTROLLER = "controller"
    ACTUATOR = "actuator"
    CHEAP = "cheap"


class Staff:
    """Agents by role. `make` returns one by its name and a model, which may be empty."""

    def __init__(
        self, names: Mapping[str, str], default: str, make: Callable[[str, str], Askable]
    ) -> None:
        self._names, self._default, self._make = names, default, make
        self._made: dict[tuple[str, str], Askable] = {}

    @property
    def has_cheap(self) -> bool:
        return Role.CHEAP.value in self._names

    def agent(self, role: Role, model: str = "") -> Askable:
        """Return the agent of a role; the model of an agent file wins, unless the role is cheap."""
        name = self._names.get(role.value, self._default)
        wanted = "" if role is Role.CHEAP or model == _INHERITED else model
        if (name, wanted) not in self._made:
            self._made[name, wanted] = self._make(name, wanted)
        return self._made[name, wanted]

    def ask(self, tools: Tools, role: Role, prompt: str, model: str) -> Reply:
        """Ask the agent of a role, which may write files; raises LimitError at a rate limit."""
        reply = tools.ask(prompt, by=self.agent(role, model), may_edit=True)
        if reply.details.get("limited"):
            raise LimitError(reply.error)
        return reply
