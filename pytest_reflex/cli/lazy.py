"""A click group that imports a verb's module when the verb is used, not for the help page."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from pytest_reflex.cli.parsing import refuse_repeated
from pytest_reflex.cli.streams import give


class LazyGroup(click.Group):
    """`verbs` maps a name to ("module:command", one line of help)."""

    def __init__(self, verbs: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(**options)
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.verbs:
            return None
        module, _, name = self.verbs[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(f"pytest_reflex.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Releases of click differ in what a group without arguments does.
        if not args and not ctx.resilient_parsing:
            give(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_word = not args[0].startswith("-") and not ctx.resilient_parsing
        if is_word and args[0] not in self.verbs:
            from pytest_reflex.errors import did_you_mean

            hint = did_you_mean(args[0], self.verbs)
            raise click.UsageError(f"No such command {args[0]!r} ({hint}).", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            refuse_repeated(command, click.Context(command, parent=ctx, info_name=name), rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.verbs.items()])
