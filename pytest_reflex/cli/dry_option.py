"""The option ``--dry-run``, apart from what a dry run shows: that imports much."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click


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
