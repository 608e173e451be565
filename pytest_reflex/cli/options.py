"""Options and arguments that several verbs share, and the settings in force for them."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from pytest_reflex.cli.groups import flag_of
from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ExitCode, LockedError, ReflexError, UsageError
from pytest_reflex.model.plain import escape_control
from pytest_reflex.settings import Settings


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in force; a flag that is None was not given.

    An unknown key is reported on stderr, once in each command.
    """
    from pytest_reflex.settings import load

    settings = load(Path.cwd(), flags)
    context = click.get_current_context(silent=True)
    warned = context.meta.setdefault(__name__, set()) if context else set()
    for problem in map(str, settings.unknown):
        if problem not in warned:
            warned.add(problem)
            say(f"pytest-reflex: warning: {escape_control(problem)}")
    return settings


def secrets_of(settings: Settings) -> dict[str, str]:
    """Return the secrets that commands of agents and gates name or hold, with what hides them."""
    from pytest_reflex.agents.environment import secrets_of_tables

    found: dict[str, str] = {}
    for key in ("agents", "iterate.gates"):
        found |= secrets_of_tables(os.environ, settings[key])
    return found


class GivenPath(click.Path):
    """A path that is not empty: an unset variable of a shell would mean the working folder."""

    def __init__(self, empty: str = "") -> None:
        super().__init__(path_type=Path)
        self._empty = empty

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            message = self._empty or f"{flag_of(param)} names no file: it is empty"
            raise UsageError(message, hint="is a variable unset?")
        return super().convert(value, param, ctx)


ARTIFACT = GivenPath("no artifact was named: the name is empty")


Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def completer_of(items: Callable[[], Iterable[CompletionItem]]) -> Completer:
    """Return what completes a name by `items`; it shows nothing where these cannot be read."""

    def complete(
        context: click.Context, parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        try:
            return [item for item in items() if item.value.startswith(begun)]
        except (ReflexError, OSError):  # a shell asks
            return []

    return complete


def max_iterations_option(more: str, metavar: str = "N", kind: Any = None) -> Decorator:
    """Return the option of the limit that every driver has; `more` ends its help.

    Its value is text, which the settings read, unless there is a `kind`.
    """
    text = f"Iterations at most{more}."
    return click.option("-n", "--max-iterations", metavar=metavar, type=kind, help=text)


def budget_option(*, adds: bool = False) -> Decorator:
    """Return the option of the limits of spending; where it `adds`, +N is more of one."""
    more = "; +N adds to a limit." if adds else "."
    return click.option(
        "--budget",
        "budgets",
        multiple=True,
        metavar="KEY=N[,KEY=N]",
        help="Limits of spending: usd, tokens, calls, seconds; a number alone is usd" + more,
    )


class _Seconds(click.FloatRange):
    """Seconds, of which nan and inf are none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return number


wall_time_option = click.option(
    "--wall-time",
    type=_Seconds(min=0),
    metavar="SECONDS",
    help="Time limit in seconds from start or resume; 0: none.",
)
agent_option = click.option(
    "--agent", metavar="NAME", help="Agent of all iterations: a preset, or a table of `agents`."
)
agents_option = click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="[STEP=]NAME",
    help="Agent of all steps, or of one: a preset, or a table of `agents` (default: offline).",
)
judge_option = click.option(
    "--judge", metavar="NAME", help="Agent that grades LLM-graded rules (default: none)."
)


events_option = click.option(
    "--events",
    metavar="PATH|-",
    help="Append each event of the run as a line of JSON; - is standard output, for nothing else.",
)


def dry_run_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--dry-run``; where it is given, not even bytecode is written."""

    def settle(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
        if value:
            sys.dont_write_bytecode = True
        return value

    option = click.option(
        "--dry-run",
        is_flag=True,
        is_eager=True,
        callback=settle,
        help="Show prompts and commands; write nothing, call no agent.",
    )
    return option(command)


wait_option = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=15.0,
    metavar="SECONDS",
    help="How long to wait for the process that runs it (default: 15; 0: do not).",
)
now_option = click.option("--now", is_flag=True, help="End the agent that runs, too.")
reason_option = click.option("--reason", metavar="TEXT", help="Why; it is recorded.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
yes_option = click.option("--yes", is_flag=True, help="Remove without a question.")


def nonempty_text(word: str | None, is_name: Callable[[str], bool], usage: str) -> str:
    """Return the one argument of `feedback`; raises UsageError where that names a run."""
    if word is None or is_name(word):
        whom = f" for {word}" if word else ""
        raise UsageError(f"the feedback{whom} is missing", hint=usage)
    return word


def remove_runs(
    names: Sequence[str],
    *,
    noun: str,
    held: Collection[str],
    lost: Callable[[str], str],
    remove: Callable[[Sequence[str]], Mapping[str, ReflexError]],
    unsure: Mapping[str, ReflexError],
    every: bool,
    stop: str,
    yes: bool,
    as_json: bool,
    resumable: Collection[str] = (),
) -> int:
    """Ask, remove runs and say so; those that are `held`, `unsure` or `resumable` stay.

    `lost` says what is lost of one, `remove` returns why some are still there; a single one that is
    held or resumable is refused, and `stop` is the command that ends it.
    """
    if held and not every:
        raise LockedError(f"another process is running {names[0]}", hint=f"stop it first: {stop}")
    if resumable and not every:
        raise UsageError(
            f"{names[0]} was interrupted and can be resumed", hint="add --force to remove it"
        )
    for name in held:
        say(f"Left alone, because a process is running it: {escape_control(name)}")
    for name in resumable:
        say(f"Left alone, because it can be resumed (--force removes it): {escape_control(name)}")
    staying = {*held, *unsure, *resumable}
    going = [name for name in names if name not in staying]
    _confirm_removal({name: lost(name) for name in going}, noun, yes=yes)
    left = {**unsure, **remove(going)}
    for error in left.values():
        say(f"Left alone: {error}")
    gone = [name for name in going if name not in left]
    if as_json:
        give_json({"removed": gone, "left": [*held, *resumable, *left]})
    else:
        give("\n".join(f"Removed: {name}" for name in gone) or "Nothing was removed.")
    return next((error.exit_code for error in left.values()), ExitCode.OK)


def _confirm_removal(lost: Mapping[str, str], noun: str, *, yes: bool) -> None:
    """Say what will be lost, and ask on a terminal; elsewhere --yes must have been given.

    `lost` has what is lost of each thing that goes, by its name; `noun` says what they are.
    """
    if not lost or yes:
        return
    for name, what in lost.items():
        say(f"{escape_control(name)}: {what}")
    what = f"this {noun}" if len(lost) == 1 else f"these {len(lost)} {noun}s"
    confirm(f"Remove {what}?", "this was not confirmed", "removed")


def confirm(question: str, missing: str, done: str = "written") -> None:
    """Ask on a terminal; raises UsageError elsewhere, which says what is `missing`."""
    if not sys.stdin.isatty():
        raise UsageError(
            f"{missing}, and there is no terminal to ask on",
            hint=f"add --yes; nothing was {done}",
        )
    click.confirm(question, abort=True, err=True)


def state_root() -> Path:
    """Return the folder of the loops' state, as it is configured here."""
    root: str = load_settings({})["loop.root"]
    return Path.cwd() / root


def alias_argument(wanted: str = "") -> Callable[..., Any]:
    """Return the argument; `wanted` names a test of `reflex.survey` that a run has to pass."""
    return click.argument("alias", required=False, shell_complete=completer(wanted))


def completer(wanted: str = "") -> Completer:
    """Return what completes an alias."""

    def loops() -> Iterator[CompletionItem]:
        from pytest_reflex.drivers.reflex import survey
        from pytest_reflex.storage.folders import is_alias

        test = getattr(survey, wanted) if wanted else lambda found: found.run is not None
        for one in survey.survey(state_root()):
            if is_alias(one.alias) and test(one):
                yield CompletionItem(one.alias, help=one.status)

    return completer_of(loops)


def criteria_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what to hold an artifact to."""
    for option in (
        click.option("--var", "variables", metavar="K=V", multiple=True, help="Set a variable."),
        click.option("--template", metavar="NAME|FILE", help="The same as --criteria."),
        click.option(
            "--criteria", metavar="NAME|FILE", help="A template's name or a criteria file."
        ),
    ):
        command = option(command)
    return command


def choose_criteria(criteria: str | None, template: str | None, settings: Settings) -> str:
    """Return what was named, else the setting; raises UsageError for nothing, "" or two."""
    for flag, given in (("--criteria", criteria), ("--template", template)):
        if given == "":
            raise UsageError(f"{flag} names no criteria: it is empty", hint="is a variable unset?")
    if template and criteria:
        raise UsageError("--template and --criteria cannot be combined", hint="name one of them")
    chosen = template or criteria or settings["loop.template"]
    if not chosen:
        from pytest_reflex.criteria.templates import stock_names

        hint = "--criteria FILE, or one of: " + ", ".join(stock_names())
        raise UsageError("no criteria were named", hint=hint)
    return str(chosen)


def parse_variables(pairs: Iterable[str]) -> dict[str, Any]:
    """Read K=V pairs; the criteria say of what kind each is."""
    from pytest_reflex.criteria.diagnostics import parse_variable

    return dict(parse_variable(pair) for pair in pairs)
