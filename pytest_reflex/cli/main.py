"""The entry point of ``pytest-reflex``: answers ``--version`` without importing anything else."""

from __future__ import annotations

import sys

from pytest_reflex import __version__


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit status; `argv` is without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        sys.stdout.write(f"pytest-reflex {__version__}\n")
        return 0
    from pytest_reflex.cli.root import run

    return run(arguments, leaving=argv is None)
