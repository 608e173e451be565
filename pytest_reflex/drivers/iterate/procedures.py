"""Procedures by name, and what bounds them: built-in ones, changed and added to by the
configuration.

Promises: a procedure that is returned can be composed: each fragment was read and its parameters
were put in. Limits: files are read anew for each iteration and may be gone by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.iterate.builtin import built_in_names, load_builtin
from pytest_reflex.drivers.iterate.model import (
    MAX_UNCHANGED,
    WALL_TIME,
    Bounds,
    Fragment,
    IterationGate,
    Phase,
    Procedure,
)
from pytest_reflex.drivers.iterate.prompt import problem_of
from pytest_reflex.errors import Place, Problem, ProcedureError, UsageError, did_you_mean
from pytest_reflex.settings import Settings, Tier
from pytest_reflex.settings.files import place_of
from pytest_reflex.settings.procedure_tables import DIFF_KEYS

_CHARACTERS = 4


def tokens_of(text: str, hooks: Any = None) -> int:
    """Return the tokens of a text: a quarter of its characters, rounded up.

    With `hooks` (of a host) the first plugin that answers `pytest_reflex_count_tokens` counts.
    Raises UsageError where it raises, or answers what is not a count.
    """
    counted = _by_plugin(text, hooks) if hooks is not None else None
    return -(-len(text) // _CHARACTERS) if counted is None else counted


def is_over(tokens: int, budget: int) -> bool:
    """Return whether to warn; a prompt of exactly the budget is within it."""
    return tokens > budget


def over_budget_text(tokens: int, budget: int) -> str:
    """Return the warning for a prompt that is larger than the budget."""
    return f"Prompt exceeds token budget: {tokens:,} > {budget:,}"


def _by_plugin(text: str, hooks: Any) -> int | None:
    name = "pytest_reflex_count_tokens"
    try:
        counted = getattr(hooks, name)(text=text)
    except Exception as error:  # a plugin may raise anything
        raise UsageError(
            f"{name} raised {type(error).__name__}: {error}", hint="fix the plugin"
        ) from error
    if counted is None:
        return None
    if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
        raise UsageError(f"{name} answered {counted!r}", hint="answer a whole number, or None")
    return counted


@dataclass(frozen=True, slots=True)
class ResolvedSetting:
    """A value of a bound, and where it came from, in words.

    `path` is that of the value in the configuration, where it is one that has a place there.
    """

    name: str
    value: Any
    origin: str
    path: tuple[str, ...] = ()


def bounds_of(procedure: Procedure, settings: Settings, *, no_caps: bool = False) -> Bounds:
    """Return the bounds of a loop; flags are the strongest tier of `settings`.

    A loop without a limit of iterations has a cap of time and of iterations that change nothing,
    even where the configuration says 0, unless `no_caps` is given. It lifts the caps of any loop.
    """
    values = {one.name: one.value for one in resolve_bounds(procedure, settings, no_caps=no_caps)}
    return Bounds(**values)


def resolve_bounds(
    procedure: Procedure, settings: Settings, *, no_caps: bool = False
) -> tuple[ResolvedSetting, ...]:
    """Return each bound with its origin, in the order of `Bounds`."""
    rounds = _of(procedure, settings, "max_iterations")
    capped = not rounds.value and not no_caps
    return (
        rounds,
        _of(procedure, settings, "failure_threshold"),
        _wall_time(settings, capped=capped, no_caps=no_caps),
        *_resolve_unchanged(settings, capped=capped, no_caps=no_caps),
        ResolvedSetting(
            "budget", settings["iterate.budget"], str(settings.origins["iterate.budget"])
        ),
    )


def resolve_agent(procedure: Procedure, settings: Settings) -> ResolvedSetting:
    """Return the name of the agent: flag, procedure, table iterate, the agent of all."""
    found = _of(procedure, settings, "agent")
    if found.value:
        return found
    return ResolvedSetting("agent", settings["agent"], str(settings.origins["agent"]), ("agent",))


def resolve_timeout(procedure: Procedure, settings: Settings) -> ResolvedSetting:
    """Return the seconds that an iteration may take: what the agent's table says, else table
    iterate.
    """
    name = resolve_agent(procedure, settings).value
    path = ("agents", name, "timeout")
    seconds = settings["agents"].get(name, {}).get("timeout")
    if seconds is None:
        origin = str(settings.origins["iterate.timeout"])
        return ResolvedSetting(
            "timeout", settings["iterate.timeout"], origin, ("iterate", "timeout")
        )
    return ResolvedSetting("timeout", seconds, str(settings.origins[".".join(path)]), path)


def _of(procedure: Procedure, settings: Settings, name: str) -> ResolvedSetting:
    """Return what a flag says, else the procedure, else the driver's setting."""
    key = f"iterate.{name}"
    own = getattr(procedure, name)
    origin = settings.origins[key]
    if origin.tier is Tier.FLAG or own is None or own == "":
        return ResolvedSetting(name, settings[key], str(origin), ("iterate", name))
    path = ("iterate", "procedures", procedure.name, name)
    part = settings.origins.get(".".join(path))
    return ResolvedSetting(
        name, own, f"procedure {procedure.name}: {part or procedure.origin}", path
    )


def _wall_time(settings: Settings, *, capped: bool, no_caps: bool) -> ResolvedSetting:
    seconds = float(settings["iterate.wall_time"])
    if no_caps:
        return ResolvedSetting("wall_time", 0.0, "--no-caps")
    if capped and not seconds:
        return ResolvedSetting("wall_time", float(WALL_TIME), "cap of a loop without a limit")
    return ResolvedSetting("wall_time", seconds, str(settings.origins["iterate.wall_time"]))


def _resolve_unchanged(
    settings: Settings, *, capped: bool, no_caps: bool
) -> tuple[ResolvedSetting, ResolvedSetting]:
    """Return after how many iterations without a change something is said, and whether they end
    it.
    """
    rounds, stop = settings["iterate.unchanged"], settings["iterate.stop_unchanged"]
    origin = settings.origins["iterate.unchanged"]
    said = ResolvedSetting("unchanged", rounds, str(origin))
    if no_caps:
        return said, ResolvedSetting("stop_unchanged", False, "--no-caps")
    if not capped:
        return said, ResolvedSetting(
            "stop_unchanged", stop, str(settings.origins["iterate.stop_unchanged"])
        )
    cap = "cap of a loop without a limit"
    if not rounds or (origin.tier is Tier.DEFAULT and not stop):
        said = ResolvedSetting("unchanged", MAX_UNCHANGED, cap)
    return said, ResolvedSetting("stop_unchanged", True, cap)


BUILT_IN = "built-in"
KEY = "iterate.procedures"


def procedure_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of all procedures, those of the configuration last."""
    return tuple(dict.fromkeys((*built_in_names(), *settings[KEY])))


def check_name(name: str, settings: Settings) -> None:
    """Raise UsageError where there is no procedure of that name."""
    known = procedure_names(settings)
    if name not in known:
        raise UsageError(f"there is no procedure {name!r}", hint=did_you_mean(name, known))


def find_procedure(name: str, settings: Settings, project: Path) -> Procedure:
    """Return the procedure of that name, ready to be composed.

    Raises UsageError where there is none, ProcedureError with everything that is wrong with it.
    """
    check_name(name, settings)
    made = _make_procedure(name, settings, project)
    if problems := [*_problems(made, settings)]:
        raise ProcedureError(problems)
    return made


def load_procedures(settings: Settings, project: Path) -> Mapping[str, Procedure]:
    """Return all procedures by name; raises ProcedureError with what is wrong with any of them."""
    return {name: find_procedure(name, settings, project) for name in procedure_names(settings)}


def gates_of(procedure: Procedure, settings: Settings) -> tuple[IterationGate, ...]:
    """Return the gates of a procedure in their order: those that it names, else all there are.

    Raises ProcedureError for a name without a gate, and for a gate without anything to run.
    """
    tables = settings["iterate.gates"]
    names = tuple(tables) if procedure.gates is None else procedure.gates
    problems = [*_unknown_gates(procedure, settings)]
    problems += [
        _problem(f"gate {name!r} {fault}", settings, ("iterate", "gates", name), hint)
        for name in dict.fromkeys(names)
        if name in tables
        for fault, hint in _faults(tables[name])
    ]
    if problems:
        raise ProcedureError(problems)
    return tuple(_gate(name, tables[name], procedure) for name in dict.fromkeys(names))


def _faults(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the keys of a gate, and what to do about it."""
    limits = sorted(table.keys() & set(DIFF_KEYS))
    kinds = [kind for kind in ("command", "criteria") if kind in table]
    kind = table.get("kind", kinds[0] if kinds else "diff")
    if not kinds and not limits and "kind" not in table:
        yield "has neither a command nor criteria", "give it one, or a limit: max_files = 5"
    elif kind == "diff" and not limits:
        yield "is of kind diff and has no limit", f"give it one of {', '.join(DIFF_KEYS)}"
    elif kind != "diff" and limits:
        yield f"is of kind {kind} and has {limits[0]}", "limits need a gate of their own"
    elif kind not in (*kinds, "diff"):
        yield f"is of kind {kind} and has no {kind}", f"give it one: {kind} = ..."
    elif "failures" in table and kind != "command":
        yield f"is of kind {kind} and has failures", "they are counted in the output of a command"


def _gate(name: str, table: Mapping[str, Any], procedure: Procedure) -> IterationGate:
    fields = {key: value for key, value in table.items() if key != "kind"}
    if isinstance(table.get("command"), list):
        fields["command"] = tuple(table["command"])
    gate = IterationGate(name=name, **{"progress": procedure.progress, **fields})
    return replace(gate, progress=False) if gate.kind == "diff" else gate


def _make_procedure(name: str, settings: Settings, project: Path) -> Procedure:
    """Return a procedure with the fields of the configuration laid over the built-in ones."""
    own: Mapping[str, Any] = settings[KEY].get(name, {})
    base = load_builtin(name) if name in built_in_names() else {}
    table = {**base, **own}
    phases = {
        phase: tuple(_read_fragments(name, phase, own, base, settings, project)) for phase in Phase
    }
    plain = {key: value for key, value in table.items() if key not in set(Phase)}
    origin = str(settings.origins[f"{KEY}.{name}"]) if own or not base else BUILT_IN
    return Procedure(
        name=name,
        phases=phases,
        origin=origin,
        **{"description": "", **plain},
    )


def _read_fragments(
    name: str,
    phase: Phase,
    own: Mapping[str, Any],
    base: Mapping[str, Any],
    settings: Settings,
    project: Path,
) -> Iterator[Fragment]:
    """Yield the fragments of a phase: those of the configuration, else the built-in ones."""
    if phase not in own:
        yield from base.get(phase, ())
        return
    for number, table in enumerate(own[phase]):
        origin = place_of(settings, (*KEY.split("."), name, phase.value, number))
        if "built_in" in table:
            yield from _builtin_fragments(table["built_in"], phase, origin)
            continue
        path = str(project / table["path"]) if "path" in table else None
        yield Fragment(
            content=table.get("content"),
            path=path,
            parameters=table.get("parameters", {}),
            origin=str(origin) if origin else "",
        )


def _builtin_fragments(name: str, phase: Phase, origin: Place | None) -> tuple[Fragment, ...]:
    """Return the fragments that a built-in procedure has for a phase."""
    if name not in built_in_names():
        hint = did_you_mean(name, built_in_names())
        said = f"there is no built-in procedure {name!r}"
        raise ProcedureError(said, place=origin, hint=hint)
    fragments: tuple[Fragment, ...] = load_builtin(name)[phase]
    return fragments


def _problems(procedure: Procedure, settings: Settings) -> Iterator[Problem]:
    """Yield everything that keeps a procedure from being used."""
    for phase, fragments in procedure.phases.items():
        if not fragments:
            hint = f"a new procedure needs all of {', '.join(Phase)}"
            where = (*KEY.split("."), procedure.name)
            said = f"procedure {procedure.name!r} has no fragments for {phase.value}"
            yield _problem(said, settings, where, hint)
        for fragment in fragments:
            if error := problem_of(fragment, f"{procedure.name}: the prompt of {phase.value}"):
                yield from error.problems
    yield from _unknown_gates(procedure, settings)


def _unknown_gates(procedure: Procedure, settings: Settings) -> Iterator[Problem]:
    tables = settings["iterate.gates"]
    for name in procedure.gates or ():
        if name not in tables:
            said = f"procedure {procedure.name!r}: there is no gate {name!r}"
            hint = did_you_mean(name, tables) if tables else f"declare it: [iterate.gates.{name}]"
            yield _problem(said, settings, (*KEY.split("."), procedure.name, "gates"), hint)


def _problem(message: str, settings: Settings, path: tuple[Any, ...], hint: str = "") -> Problem:
    place: Place | None = place_of(settings, path)
    return Problem(message=message, place=place, hint=hint)
