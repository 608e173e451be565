"""With which state a sitting begins: a fresh one, or that of a run that was left: pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_reflex.drivers.iterate.decide import BUDGET, PERSON
from pytest_reflex.drivers.iterate.messages import RESUME
from pytest_reflex.drivers.iterate.model import Bounds, Phase, State, Status
from pytest_reflex.drivers.iterate.state import beyond_limit
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import one_line, pluralize
from pytest_reflex.settings.readers import budget, flag, positive, text, whole

RUN = "pytest-reflex iterate run"
_MEND = "fix it in the state file, or start over: iterate run --fresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class IterateOptions:
    """What the command line says of every iteration; a resume takes it over, as it was typed.

    `agent` is a name, `ai_command` a command instead of one, `judge` the name of the LLM judge in
    gates; `contexts` are texts or names of files, `phases` names of files that replace those of a
    procedure; `timeout` is in seconds, `unchanged` a number of iterations, 0 for none; `budget` has
    limits of spending; with `commit` git keeps each iteration. Limits and threshold stand in the
    state itself.
    """

    agent: str | None = None
    ai_command: str | None = None
    judge: str | None = None
    timeout: int | None = None
    contexts: tuple[str, ...] = ()
    phases: Mapping[Phase, tuple[str, ...]] = field(default_factory=dict)
    no_caps: bool = False
    unchanged: int | None = None
    stop_unchanged: bool = False
    budget: Mapping[str, float] = field(default_factory=dict)
    commit: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the wire form, without what was not said."""
        wire: dict[str, Any] = {
            "agent": self.agent,
            "ai_cmd": self.ai_command,
            "judge": self.judge,
            "timeout": self.timeout,
            "context": list(self.contexts),
            **{phase.value: list(paths) for phase, paths in self.phases.items()},
            "no_caps": self.no_caps,
            "stop_unchanged": self.stop_unchanged,
            "budget": dict(self.budget),
            "commit": self.commit,
        }
        said = {key: value for key, value in wire.items() if value}
        return said if self.unchanged is None else said | {"unchanged": self.unchanged}

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> IterateOptions:
        """Read options, each as its flag is read; those of other programs count as not said.

        Raises UsageError for a value that no flag takes: a bound that cannot be read is never none.
        """
        said = {key: _read(key, wire[key]) for key in _READERS if wire.get(key) is not None}
        if "agent" in said and "ai_cmd" in said:
            raise UsageError("options: agent and ai_cmd cannot be combined", hint=_MEND)
        phases = {phase: said[phase.value] for phase in Phase if said.get(phase.value)}
        return cls(
            agent=said.get("agent"),
            ai_command=said.get("ai_cmd"),
            judge=said.get("judge"),
            timeout=said.get("timeout"),
            contexts=said.get("context", ()),
            phases=phases,
            no_caps=said.get("no_caps", False),
            unchanged=said.get("unchanged"),
            stop_unchanged=said.get("stop_unchanged", False),
            budget=said.get("budget", {}),
            commit=said.get("commit", False),
        )

    def over(self, before: IterateOptions) -> IterateOptions:
        """Return these options, and those from before where one is not given."""
        named = self.agent is not None or self.ai_command is not None
        return IterateOptions(
            agent=self.agent if named else before.agent,
            ai_command=self.ai_command if named else before.ai_command,
            judge=before.judge if self.judge is None else self.judge,
            timeout=before.timeout if self.timeout is None else self.timeout,
            contexts=self.contexts or before.contexts,
            phases={**before.phases, **self.phases},
            no_caps=self.no_caps or before.no_caps,
            unchanged=before.unchanged if self.unchanged is None else self.unchanged,
            stop_unchanged=self.stop_unchanged or before.stop_unchanged,
            budget={**before.budget, **self.budget},
            commit=self.commit or before.commit,
        )


def is_unfinished(found: State | None) -> bool:
    """Return whether a state was left by a run that can go on as it is.

    Its owner holds a lock: where we have that, `running` was left behind by one that is gone.
    """
    return found is not None and found.status in (Status.INTERRUPTED, Status.RUNNING)


def fresh(name: str, bounds: Bounds, options: IterateOptions, at: str, log_name: str = "") -> State:
    """Return the state of a run that begins at a time; `log_name` where that is another's log."""
    return State(
        procedure_name=name,
        max_iterations=bounds.max_iterations,
        failure_threshold=bounds.failure_threshold,
        started_at=at,
        options=options.to_json(),
        log_name=log_name,
    )


def resume_state(
    found: State | None, name: str, bounds: Bounds, options: IterateOptions, *, reset_failures: bool
) -> State:
    """Return the state with which a run goes on, under the bounds that hold now.

    What gates relied on at the start is kept where its owner was killed, and else seen anew.
    Raises UsageError where there is none, where it was aborted and no one says that what failed is
    fixed, or where nothing is left in which that could be seen.
    """
    if found is None or found.status is Status.COMPLETED:
        raise nothing_to_resume(name)
    if found.status is Status.ABORTED and not reset_failures:
        failures = pluralize(found.consecutive_failures, "failure")
        raise UsageError(
            f"{name} was aborted after {failures} in a row",
            hint=f"fix the cause, then: {RESUME} {name} --reset-failures",
        )
    limit = bounds.max_iterations
    if found.consecutive_failures and reset_failures and limit and found.iteration >= limit:
        raise UsageError(
            beyond_limit(found)
            or f"{name} has no iteration left of {limit}, and the last one failed",
            hint=f"allow more: {RESUME} {name} --reset-failures --max-iterations {limit + 1}",
        )
    killed = found.status is Status.RUNNING
    # A person was asked, and has decided; where no iteration is left, the last one failed still.
    heard = found.outcome == PERSON and not (limit and found.iteration >= limit)
    return replace(
        found,
        gates_at_start=found.gates_at_start if killed else {},
        status=Status.RUNNING,
        outcome="" if found.outcome in (BUDGET, PERSON) else found.outcome,
        max_iterations=bounds.max_iterations,
        failure_threshold=bounds.failure_threshold,
        consecutive_failures=0 if reset_failures or heard else found.consecutive_failures,
        options=options.to_json(),
        spend=found.paid,
        calls=(),
    )


def another_program() -> str:
    """Return what is to be thought of a state that says running where no process holds the lock."""
    return "no process holds its lock: it was killed, or another program is at work on it"


def nothing_to_resume(name: str) -> UsageError:
    return UsageError(f"there is nothing to resume for {name}", hint=f"begin with: {RUN} {name}")


def unfinished_error(found: State) -> UsageError:
    """Return the refusal to begin a run beside one that can go on."""
    name, done = found.procedure_name, pluralize(found.iteration, "iteration")
    how = "is marked as running" if found.status is Status.RUNNING else "was interrupted"
    doubt = f"; {another_program()}" if found.status is Status.RUNNING else ""
    return UsageError(
        f"a run of {name} {how} after {done}{doubt}",
        hint=f"go on with: {RESUME} {name}, or start over with --fresh",
    )


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("a list of texts")
    return tuple(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "agent": text,
    "ai_cmd": text,
    "judge": text,
    "timeout": positive,
    "context": _texts,
    **dict.fromkeys([phase.value for phase in Phase], _texts),
    "no_caps": flag,
    "unchanged": whole,
    "stop_unchanged": flag,
    "budget": budget,
    "commit": flag,
}


def _read(key: str, value: Any) -> Any:
    try:
        return _READERS[key](value)
    except ValueError as error:
        message = f"options.{key} of the state is {one_line(repr(value), 80)}: expected {error}"
        raise UsageError(message, hint=_MEND) from None
