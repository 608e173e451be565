"""``pytest-reflex hook``: the group; each verb's module is loaded when it is used.

Promise: whatever is wrong with its command line, `hook stop` gives one document and lets go: an
exit status of another kind would hold a client, or tell it nothing.
"""

from __future__ import annotations

from typing import Any

import click

from pytest_reflex.cli.lazy import LazyGroup
from pytest_reflex.cli.streams import give_json, say
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.plain import visible

# verb: (module:command, one line of help)
HOOK_VERBS = {
    "stop": ("hook_stop:stop", "Answer a client that is about to stop (it runs this)."),
    "install": (
        "hook_install:install",
        "Put the hook into the settings of a client.",
    ),
    "status": ("hook_manage:status", "Say where the hook is installed and what it waits for."),
    "test": ("hook_manage:test", "Show what the hook would answer now, without counting it."),
    "release": ("hook_manage:release", "Forget the session of a goal, and how often it was held."),
    "pre-commit": ("hook_pre_commit:pre_commit", "Judge files that are about to be committed."),
}


class HookGroup(LazyGroup):
    """The verbs of the hook."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = args[:1] == ["stop"]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, ReflexError) as error:
            if not ctx.meta[__name__]:
                raise
            text = error.format_message() if isinstance(error, click.ClickException) else str(error)
            say(visible(f"pytest-reflex: stop allowed: {text}"))
            give_json({})
            return 0


hook = HookGroup(
    HOOK_VERBS,
    name="hook",
    short_help="Hold an AI tool back until a goal, or an artifact, passes.",
    help="Hold an AI tool back until a goal, or an artifact, passes.",
)
