"""What `pytest --reflex-loop` was asked for: its own options, and the arguments of the session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_reflex.drivers.common.events import STDOUT
from pytest_reflex.errors import UsageError
from pytest_reflex.session import options
from pytest_reflex.session.options import only_looks
from pytest_reflex.settings import STEPS, Settings

TASK = "Make the tests pass"
# What only changes how much is reported is no other session.
_MANNER = ("-v", "-vv", "-vvv", "-q", "-qq", "--verbose", "--quiet")

# What goes by the session before: each session of a loop would be another one.
_BY_CACHE = {
    "lf": "--lf",
    "failedfirst": "--ff",
    "newfirst": "--nf",
    "stepwise": "--sw",
    "stepwise_skip": "--sw-skip",
}

_AGENTS_OF = ("plan", "critique", "refine")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """The options of a loop, and what remains for the sessions.

    `artifacts` are patterns that name what may be changed, beside those of suites; `resume` is the
    alias of a run to continue ("" for the newest), None for a new run. An agent may change what
    `may_change` means beside the artifacts; with `accept_changes` the project is taken as it is,
    and `allow` are modules that it has added and may keep.
    `events` is where they are logged: a path, "-" for standard output, None for nowhere.
    """

    root: Path
    cwd: Path
    arguments: tuple[str, ...]
    artifacts: tuple[str, ...]
    agents: tuple[str, ...]
    task: str
    alias: str | None
    max_iterations: str | None
    budgets: tuple[str, ...]
    yes: bool
    resume: str | None
    may_change: tuple[str, ...]
    accept_changes: bool
    allow: tuple[str, ...]
    verbose: bool
    quiet: bool
    color: bool | None
    events: str | None

    @property
    def own_arguments(self) -> tuple[str, ...]:
        """The arguments that make a session another one."""
        return tuple(one for one in self.arguments if one not in _MANNER)


def options_of(config: pytest.Config) -> LoopOptions:
    """Read the options; raises UsageError where they do not fit together."""
    option, invocation = config.option, config.invocation_params
    if only_looks(config):
        raise UsageError("--reflex-loop needs a session that runs its tests")
    if getattr(option, "usepdb", False):
        raise UsageError("--reflex-loop and --pdb cannot be combined")
    for name, flag in _BY_CACHE.items():
        if getattr(option, name, False):
            raise UsageError(
                f"--reflex-loop and {flag} cannot be combined: each session has to be whole",
                hint=f"leave {flag} out, also of addopts",
            )
    for flag in ("accept_changes", "allow"):
        if getattr(option, f"reflex_{flag}") and option.reflex_resume is None:
            raise UsageError(f"--reflex-{flag.replace('_', '-')} needs --reflex-resume")
    named = not option.reflex_criteria
    given = [str(Path(invocation.dir) / one) for one in option.reflex_artifact or ()]
    kept = () if named else ("reflex_artifact",)
    return LoopOptions(
        root=config.rootpath,
        cwd=Path(invocation.dir),
        arguments=tuple(without_own(list(map(str, invocation.args)), kept)),
        artifacts=(*config.getini(options.ARTIFACTS), *(_add_slashes(given) if named else ())),
        agents=tuple(option.reflex_agent or ()),
        task=option.reflex_task or TASK,
        alias=option.reflex_alias,
        max_iterations=option.reflex_max_iterations,
        budgets=tuple(option.reflex_budget or ()),
        yes=bool(option.reflex_yes),
        resume=option.reflex_resume,
        may_change=tuple(option.reflex_may_change or ()),
        accept_changes=bool(option.reflex_accept_changes),
        allow=tuple(option.reflex_allow or ()),
        verbose=option.verbose > 0,
        quiet=option.verbose < 0,
        color={"yes": True, "no": False}.get(option.color),
        events=_place(option.reflex_events, Path(invocation.dir)),
    )


def _place(given: str | None, folder: Path) -> str | None:
    """Return where events are logged; a path is seen from the folder of the call."""
    return str(folder / given) if given and given != STDOUT else given


def _add_slashes(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        yield f"{path}/" if Path(path).is_dir() else path


def without_own(arguments: Sequence[str], kept: Sequence[str] = ()) -> Iterator[str]:
    """Yield the arguments without the loop's own; `kept` are keys that stay although they are."""
    flags = {
        one.flag: one.kind
        for one in options.OPTIONS
        if (one.loops or one.key == "reflex_artifact") and one.key not in kept
    }
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            yield from (argument, *rest)
            return
        kind = flags.get(argument.partition("=")[0])
        if kind is None:
            yield argument
        elif "=" not in argument and rest and _takes(kind, rest[0]):
            rest.pop(0)


def _takes(kind: str, following: str) -> bool:
    """Return whether an option takes the argument that follows it for its value."""
    return kind != "switch" and (kind != "optional" or not following.startswith("-"))


def usual_agents(settings: Settings) -> dict[str, str]:
    """Return the agent of each step where none is chosen: offline, but for REFINE."""
    found = dict.fromkeys(STEPS, "offline")
    found["refine"] = settings["loop.agents"].get("refine", settings["agent"])
    return found


def choose_agents(chosen: Sequence[str], usual: Mapping[str, str]) -> dict[str, str]:
    """Return the agent of each step after `--reflex-agent`; raises UsageError."""
    found = dict(usual)
    for value in chosen:
        step, separator, name = value.partition("=")
        if not separator:
            found["refine"] = value
        elif step not in _AGENTS_OF:
            raise UsageError(
                f"--reflex-agent {value}: no agent is asked in a step {step!r}",
                hint=f"one of {', '.join(_AGENTS_OF)}; NAME alone is the agent of refine",
            )
        else:
            found[step] = name
    return found
