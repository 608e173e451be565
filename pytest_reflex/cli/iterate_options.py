"""The argument PROCEDURE and the options of ``pytest-reflex iterate``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pytest_reflex.cli.options import (
    agent_option,
    budget_option,
    completer_of,
    dry_run_option,
    judge_option,
    load_settings,
    max_iterations_option,
)
from pytest_reflex.errors import UsageError, did_you_mean
from pytest_reflex.settings import Settings, budget_changes, from_text, positive, whole

if TYPE_CHECKING:
    from pytest_reflex.drivers.iterate.initial_state import IterateOptions
    from pytest_reflex.drivers.iterate.model import State


def iterate_root() -> Path:
    """Return the folder of all that the iteration loop keeps, as it is configured here."""
    root: str = load_settings()["iterate.root"]
    return Path.cwd() / root


def procedure_argument(*, required: bool = True, wanted: str = "any") -> Callable[..., Any]:
    """Return the argument; `wanted` says which are completed.

    They are any that is declared, those that are driven, those whose run is resumable, or those of
    which anything is kept.
    """
    found = completer_of(lambda: _WANTED[wanted]())
    return click.argument("procedure", required=required, shell_complete=found)


def _any() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.procedures import procedure_names

    return (CompletionItem(name) for name in procedure_names(load_settings()))


def _resumable() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import procedures_with_state, status_of

    root, known = iterate_root(), procedure_names(load_settings())
    found = (status_of(root, name) for name in procedures_with_state(root))
    for one in found:
        if one.next_step and one.procedure in known:
            yield CompletionItem(one.procedure, help=one.shown_status)


def _driven() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.state import is_driven
    from pytest_reflex.drivers.iterate.status import procedures_with_state

    root = iterate_root()
    names = (name for name in procedures_with_state(root) if is_driven(root, name))
    return (CompletionItem(name) for name in names)


def _complete_procedures() -> Iterator[CompletionItem]:
    from pytest_reflex.drivers.iterate.catalog import find_procedures

    return (CompletionItem(name) for name in find_procedures(iterate_root()))


_WANTED: dict[str, Callable[[], Iterator[CompletionItem]]] = {
    "any": _any,
    "resumable": _resumable,
    "driven": _driven,
    "kept": _complete_procedures,
}


def is_known(procedure: str, root: Path, more: Iterable[str] = ()) -> bool:
    """Return whether there is a procedure of that name, a state of one, or one among `more`."""
    return procedure in _names(root, more)


def check_procedure(procedure: str, root: Path, more: Iterable[str] = ()) -> str:
    """Return the name of a procedure that is known; raises UsageError."""

    names = _names(root, more)
    if procedure not in names:
        hint = did_you_mean(procedure, names)
        raise UsageError(f"there is no procedure {procedure!r}", hint=hint)
    return procedure


def _names(root: Path, more: Iterable[str]) -> list[str]:
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import procedures_with_state

    declared = procedure_names(load_settings())
    return [*dict.fromkeys((*declared, *procedures_with_state(root), *more))]


PHASES = ("observe", "orient", "decide", "act")


def drive_options(*, adds: bool = False) -> Callable[..., Any]:
    """Return the options that `run` and `resume` share; a budget `adds` to that of a run."""
    options: list[Any] = [
        max_iterations_option("; 0: no limit" + ("" if adds else " (default: 5)")),
        click.option("--unlimited", is_flag=True, help="No limit of iterations: -n 0."),
        click.option(
            "--no-caps",
            is_flag=True,
            help="Lift the caps of a run without a limit: wall time, iterations that change "
            "nothing.",
        ),
        click.option("--context", "contexts", multiple=True, metavar="TEXT|FILE",
                     help="What the prompt says before the four phases."),
        *(
            click.option(f"--{phase}", multiple=True, metavar="FILE",
                         help=f"Files instead of the procedure's own part {phase.upper()}.")
            for phase in PHASES
        ),
        agent_option,
        click.option("--ai-cmd", metavar="COMMAND",
                     help="The agent as a command that reads the prompt on standard input."),
        judge_option,
        click.option("--timeout", metavar="SECONDS", help="Seconds that the agent may take."),
        click.option("--failure-threshold", metavar="K",
                     help="Failed iterations in a row that end the run (default: 3)."),
        click.option("--unchanged", metavar="K",
                     help="Iterations in a row without a change of the working tree that are "
                     "reported."),
        budget_option(adds=adds),
        click.option("--stop-unchanged", is_flag=True, help="End the run after so many."),
        click.option("--commit", is_flag=True,
                     help="Commit with git what each iteration changes."),
        click.option("--log-format", metavar="text|json", help="Lines for people, or JSON lines."),
        click.option("-q", "--quiet", is_flag=True, help="Show only warnings and the end."),
        click.option("-v", "--verbose", is_flag=True,
                     help="Show gates, answers, costs and statistics too."),
        dry_run_option,
    ]  # fmt: skip

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def options_of(given: dict[str, Any], budget: Mapping[str, float] | None = None) -> IterateOptions:
    """Return what the command line says of every iteration; raises UsageError.

    `budget` is that of the run that goes on.
    """
    from pytest_reflex.drivers.iterate.initial_state import IterateOptions
    from pytest_reflex.drivers.iterate.model import Phase

    if given["agent"] is not None and given["ai_cmd"] is not None:
        raise UsageError("--agent and --ai-cmd cannot be combined", hint="give one of them")
    if given["quiet"] and given["verbose"]:
        raise UsageError("--quiet and --verbose cannot be combined", hint="give one of them")
    return IterateOptions(
        agent=given["agent"],
        ai_command=_without_secrets(given["ai_cmd"]),
        judge=given["judge"],
        timeout=_number("--timeout", positive, given["timeout"]),
        contexts=given["contexts"],
        phases={Phase(phase): given[phase] for phase in PHASES if given[phase]},
        no_caps=given["no_caps"],
        unchanged=_number("--unchanged", whole, given["unchanged"]),
        stop_unchanged=given["stop_unchanged"],
        budget=budget_changes(given["budgets"], budget),
        commit=given["commit"],
    )


def _number(name: str, read: Callable[[Any], int], value: str | None) -> int | None:
    try:
        return None if value is None else int(from_text(read, value))
    except ValueError as error:
        raise UsageError(f"{name} {value!r}: expected {error}") from None


def _without_secrets(command: str | None) -> str | None:
    """Return a command with ${NAME} for what the shell put in: it is kept for a resume.

    When the tool is run, the name stands for its value again.
    """
    from pytest_reflex.process.environment import secrets

    if command is None:
        return None
    for value, reference in secrets(os.environ, os.environ, ()).items():
        command = command.replace(value, f"${{{reference[1:]}}}")
    return command


def settings_of(
    given: dict[str, Any], options: IterateOptions, found: State | None = None
) -> Settings:
    """Return the settings in force; a run that was `found` keeps its limits where none is given."""
    limit, threshold = given["max_iterations"], given["failure_threshold"]
    if given["unlimited"]:
        if limit is not None:
            raise UsageError("--unlimited and --max-iterations cannot be combined", hint="give one")
        limit = 0
    if found is not None:
        limit = found.max_iterations if limit is None else limit
        threshold = found.failure_threshold if threshold is None else threshold
    return load_settings(
        {
            "iterate.max_iterations": limit,
            "iterate.failure_threshold": threshold,
            "iterate.agent": options.agent,
            "iterate.unchanged": options.unchanged,
            "iterate.stop_unchanged": options.stop_unchanged or None,
            "iterate.budget": options.budget or None,
            "iterate.log_format": given["log_format"],
        }
    )
