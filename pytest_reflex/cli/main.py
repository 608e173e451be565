"""The command ``pytest-reflex``: verbs loaded only when called, one place for exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pytest_reflex import __version__
from pytest_reflex.errors import ExitCode, ReflexError

# verb: (module:command, one line of help). A new verb is one file and one line here.
VERBS = {
    "evaluate": ("evaluate:evaluate", "Judge artifacts against criteria and print the verdict."),
    "loop": ("loop:loop", "Run a Reflex loop: evaluate, critique and refine until it passes."),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; `argv` is without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        sys.stdout.write(f"pytest-reflex {__version__}\n")
        return ExitCode.OK
    try:
        return _run(arguments)
    except ReflexError as error:
        for problem in error.problems:
            _complain(str(problem))
        return error.exit_code
    except KeyboardInterrupt:
        _complain("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        _complain(str(error))
        return ExitCode.NOT_PERSISTED


def _run(arguments: list[str]) -> int:
    import click

    from pytest_reflex.cli.lazy import LazyGroup

    root = LazyGroup(
        VERBS,
        name="pytest-reflex",
        help="Hold an artifact to rules: a score, a gate, and a loop that mends it.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )
    root.params.append(
        click.Option(["--version"], is_flag=True, help="Print the version and exit.")
    )
    try:
        result = root.main(arguments, prog_name="pytest-reflex", standalone_mode=False)
    except click.exceptions.Abort:
        _complain("aborted: nothing was done")
        return ExitCode.USER_STOP
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as missing:
        sys.stdout.write(missing.format_message() + "\n")
        return ExitCode.OK
    except click.ClickException as error:
        _complain(_first_line(error))
        return ExitCode.USAGE
    sys.stdout.flush()
    return result if isinstance(result, int) else ExitCode.OK


def _first_line(error: object) -> str:
    """Return what click has to say, with where to read on."""
    import click

    assert isinstance(error, click.ClickException)
    context = getattr(error, "ctx", None)
    hint = f" (try: {context.command_path} --help)" if context else ""
    return " ".join(error.format_message().split()) + hint


def _complain(text: str) -> None:
    from pytest_reflex.model.plain import visible

    sys.stderr.write(f"pytest-reflex: {visible(text)}\n")


def _reader_left() -> int:
    """Leave quietly when the reader of a pipe has gone; what was measured is on disk already."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return ExitCode.NOT_PERSISTED
