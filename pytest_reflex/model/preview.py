"""What would happen: a step that is not performed, its prompt, and the command of its agent."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_reflex.model.words import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPreview:
    """A command as it would run.

    `argv` has words in angle brackets for what is made when it runs; `environment` are names, never
    values; `prompt_by` is stdin, argument or file; `timeout` is seconds.
    """

    argv: tuple[str, ...]
    cwd: str
    environment: tuple[str, ...]
    prompt_by: str
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPreview:
    """A step that an agent would be asked to do.

    `unknown` says what is not known before other steps have run: where it stands in the prompt, a
    word in angle brackets does. `asked_first` are plugins whose hooks may answer before the agent.
    `command` is None for an agent that is no command.
    """

    step: Step
    agent: str
    prompt: str
    unknown: tuple[str, ...] = ()
    asked_first: tuple[str, ...] = ()
    command: CommandPreview | None = None

    @property
    def exact(self) -> bool:
        return not self.unknown
