"""Runs a verb of ``pytest-reflex``, and turns an exception into a line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import click

from pytest_reflex import __version__
from pytest_reflex.cli.groups import VERBS, LazyGroup
from pytest_reflex.cli.streams import (
    close_stdout,
    document_alone,
    finish,
    flush,
    give,
    prepare,
    say,
)
from pytest_reflex.errors import ExitCode, ReflexError, UsageError
from pytest_reflex.process.signals import Interruptions, interruptible


def run(arguments: list[str], *, leaving: bool = False) -> int:
    """Run the command line and return its exit status; with `leaving` the process ends then."""
    return run_group(_root, arguments, name="pytest-reflex", leaving=leaving)


def run_group(
    make: Callable[[], click.Group],
    arguments: list[str] | None,
    *,
    name: str,
    leaving: bool | None = None,
) -> int:
    """Run a group of commands and return its exit status; by default the program's arguments."""
    given = sys.argv[1:] if arguments is None else arguments
    prepare()
    with interruptible(leaving=arguments is None if leaving is None else leaving) as interruptions:
        status = _run(make, list(given), name, interruptions)
    finish()
    return status


def _root() -> click.Group:
    root = LazyGroup(
        VERBS,
        name="pytest-reflex",
        help="Check an artifact against rules: a score, a gate, and a loop that fixes it.",
        context_settings={"help_option_names": ["-h", "--help"], "terminal_width": _help_width()},
    )
    # Answered above; here for the help page.
    root.params.append(
        click.Option(["--version"], is_flag=True, help="Print the version and exit.")
    )
    return root


def _help_width() -> int:
    """Return the width of help pages: what click would choose, without what it imports for that."""
    given = os.environ.get("COLUMNS", "")
    columns = int(given) if given.isascii() and given.isdigit() else 0
    if not columns and sys.__stdout__ is not None:
        with suppress(OSError, ValueError):  # no terminal, or closed
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns
    return max(min(columns or 80, 80) - 2, 50)


def _run(
    make: Callable[[], click.Group], arguments: list[str], name: str, interruptions: Interruptions
) -> int:
    try:
        if arguments == ["--version"]:
            give(f"pytest-reflex {__version__}")
            return 0
        _check_folder()
        with document_alone(_is_for_programs(_options(arguments))):
            result = make().main(
                arguments, prog_name=name, standalone_mode=False, obj=interruptions
            )
            flush()
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        interruptions.deaf = True
        if interruptions.received and isinstance(error, (click.Abort, KeyboardInterrupt)):
            _report_error("interrupted")
            return interruptions.status()
        return _explain(error)
    return result if isinstance(result, int) else 0


def _options(arguments: list[str]) -> list[str]:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end]


def _is_for_programs(options: list[str]) -> bool:
    """Return whether standard output is for a document, or for events."""
    alone = {"--json", "--events=-"}
    return not alone.isdisjoint(options) or ("--events", "-") in pairwise(options)


def _explain(error: BaseException) -> int:
    """Report an error in one line and return the exit status; an unknown one is raised again."""

    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.exceptions.Abort() if isinstance(error.__cause__, KeyboardInterrupt):
            _report_error("interrupted")
            return ExitCode.INTERRUPTED
        case click.exceptions.Abort():
            _report_error("aborted: nothing was done")
            return ExitCode.USER_STOP
        case click.ClickException():
            _report_error(_first_line(error))
            return ExitCode.USAGE
        case ReflexError():
            for problem in error.problems:
                _report_error(str(problem))
            return error.exit_code
        case KeyboardInterrupt():
            _report_error("interrupted")
            return ExitCode.INTERRUPTED
        case SystemExit(code=0):  # shell completion has printed its candidates
            return ExitCode.OK
        # click leaves by SystemExit when the reader of our pipe has gone
        case BrokenPipeError() | SystemExit():
            close_stdout()
            return ExitCode.NOT_PERSISTED
        case OSError():
            _report_error(str(error))
            return ExitCode.NOT_PERSISTED
    import traceback

    traceback.print_exception(error)
    _report_error("this is a bug in pytest-reflex; please report it")
    return ExitCode.INTERNAL


def _check_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(
            f"the working directory cannot be used: {error.strerror}", hint="change to another one"
        ) from None


def _first_line(error: click.ClickException) -> str:
    """Return what click has to say, with where to read on."""
    context = getattr(error, "ctx", None)
    hint = f" (try: {context.command_path} --help)" if context else ""
    return " ".join(error.format_message().split()) + hint


def _report_error(text: str) -> None:
    from pytest_reflex.model.plain import escape_control

    say(f"pytest-reflex: {escape_control(text)}")
