"""Values from a command line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from pytest_reflex.errors import UsageError


class OwnOptions(click.Command):
    """A command whose options are never taken for what another option says."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _refuse_swallowed(self, ctx, args)
        return super().parse_args(ctx, args)


def _refuse_swallowed(command: click.Command, context: click.Context, args: list[str]) -> None:
    """Raise UsageError for an option without a value that the next option would become."""
    options = {
        name: parameter
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    words = iter(args)
    for word in words:
        if word == "--":
            return
        option = options.get(word)
        if option is None or option.is_flag or option.count:
            continue
        value = next(words, "")
        if value.partition("=")[0] in options:
            raise UsageError(
                f"{word} has no value: {value} is an option itself",
                hint=f"for that text: {_flag(option)}={value}",
            )


class GivenPath(click.Path):
    """A path that is not empty: an unset variable of a shell would mean the working folder."""

    def __init__(self, empty: str = "") -> None:
        super().__init__(path_type=Path)
        self._empty = empty

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            message = self._empty or f"{_flag(param)} names no file: it is empty"
            raise UsageError(message, hint="is a variable unset?")
        return super().convert(value, param, ctx)


ARTIFACT = GivenPath("no artifact was named: the name is empty")


def refuse_repeated(command: click.Command, context: click.Context, arguments: list[str]) -> None:
    """Raise UsageError where an option of the evaluation is given twice: the last would win.

    Words that do not parse are left to the command: it may read some of them in its own way.
    """
    try:
        _, _, order = command.make_parser(context).parse_args(list(arguments))
    except click.UsageError:
        return
    for parameter, times in Counter(order).items():
        if times > 1 and parameter.name in _JUDGING and _takes_one(parameter):
            raise UsageError(
                f"{_flag(parameter)} is given {times} times, and only one of them could count",
                hint=_JOIN.get(parameter.name or "", "name it once"),
            )


_JUDGING = ("criteria", "template", "phase", "threshold", "judge", "evaluation", "issues", "report")
_JOIN = {
    "criteria": "name one file; it may join several by extends: [ONE, OTHER]",
    "template": "name one file; it may join several by extends: [ONE, OTHER]",
}


def _takes_one(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not parameter.multiple


def _flag(parameter: click.Parameter | None) -> str:
    if parameter is None:
        return "the path"
    return max(parameter.opts, key=len) if parameter.opts else str(parameter.name)
