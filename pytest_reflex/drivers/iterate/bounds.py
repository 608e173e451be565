"""What bounds a loop, and who says so: flag, procedure, driver setting by tier, default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_reflex.drivers.iterate.model import MAX_UNCHANGED, WALL_TIME, Bounds, Procedure
from pytest_reflex.settings import Settings, Tier


@dataclass(frozen=True, slots=True)
class Chosen:
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
    values = {one.name: one.value for one in chosen_bounds(procedure, settings, no_caps=no_caps)}
    return Bounds(**values)


def chosen_bounds(
    procedure: Procedure, settings: Settings, *, no_caps: bool = False
) -> tuple[Chosen, ...]:
    """Return each bound with its origin, in the order of `Bounds`."""
    rounds = _of(procedure, settings, "max_iterations")
    capped = not rounds.value and not no_caps
    return (
        rounds,
        _of(procedure, settings, "failure_threshold"),
        _wall_time(settings, capped=capped, no_caps=no_caps),
        *_unchanged(settings, capped=capped, no_caps=no_caps),
        Chosen("budget", settings["iterate.budget"], str(settings.origins["iterate.budget"])),
    )


def chosen_agent(procedure: Procedure, settings: Settings) -> Chosen:
    """Return the name of the agent: flag, procedure, table iterate, the agent of all."""
    found = _of(procedure, settings, "agent")
    if found.value:
        return found
    return Chosen("agent", settings["agent"], str(settings.origins["agent"]), ("agent",))


def chosen_timeout(procedure: Procedure, settings: Settings) -> Chosen:
    """Return the seconds that an iteration may take: what the agent's table says, else table
    iterate.
    """
    name = chosen_agent(procedure, settings).value
    path = ("agents", name, "timeout")
    seconds = settings["agents"].get(name, {}).get("timeout")
    if seconds is None:
        origin = str(settings.origins["iterate.timeout"])
        return Chosen("timeout", settings["iterate.timeout"], origin, ("iterate", "timeout"))
    return Chosen("timeout", seconds, str(settings.origins[".".join(path)]), path)


def _of(procedure: Procedure, settings: Settings, name: str) -> Chosen:
    """Return what a flag says, else the procedure, else the driver's setting."""
    key = f"iterate.{name}"
    own = getattr(procedure, name)
    origin = settings.origins[key]
    if origin.tier is Tier.FLAG or own is None or own == "":
        return Chosen(name, settings[key], str(origin), ("iterate", name))
    path = ("iterate", "procedures", procedure.name, name)
    part = settings.origins.get(".".join(path))
    return Chosen(name, own, f"procedure {procedure.name}: {part or procedure.origin}", path)


def _wall_time(settings: Settings, *, capped: bool, no_caps: bool) -> Chosen:
    seconds = float(settings["iterate.wall_time"])
    if no_caps:
        return Chosen("wall_time", 0.0, "--no-caps")
    if capped and not seconds:
        return Chosen("wall_time", float(WALL_TIME), "cap of a loop without a limit")
    return Chosen("wall_time", seconds, str(settings.origins["iterate.wall_time"]))


def _unchanged(settings: Settings, *, capped: bool, no_caps: bool) -> tuple[Chosen, Chosen]:
    """Return after how many iterations without a change something is said, and whether they end
    it.
    """
    rounds, stop = settings["iterate.unchanged"], settings["iterate.stop_unchanged"]
    origin = settings.origins["iterate.unchanged"]
    said = Chosen("unchanged", rounds, str(origin))
    if no_caps:
        return said, Chosen("stop_unchanged", False, "--no-caps")
    if not capped:
        return said, Chosen("stop_unchanged", stop, str(settings.origins["iterate.stop_unchanged"]))
    cap = "cap of a loop without a limit"
    if not rounds or (origin.tier is Tier.DEFAULT and not stop):
        said = Chosen("unchanged", MAX_UNCHANGED, cap)
    return said, Chosen("stop_unchanged", True, cap)
