"""The entry point of ``pytest-reflex``: answers ``--version`` without importing anything else."""

from __future__ import annotations

import sys

from pytest_reflex import __version__


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit status; `argv` is without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        try:
            sys.stdout.write(f"pytest-reflex {__version__}\n")
            sys.stdout.flush()
            return 0
        except (OSError, AttributeError):
            pass  # the full command line reports what cannot be written
    from pytest_reflex.cli.root import run

    return run(arguments, leaving=argv is None)
