"""``pytest-reflex hook stop``: what a client runs when it is about to stop.

Promises: standard output is one JSON document and the exit status 0, whatever happens: a bug of
ours lets go, with a line on standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.streams import document_alone, give_json, say
from pytest_reflex.model.plain import escape_control, one_line

if TYPE_CHECKING:
    from pytest_reflex.drivers.goal.hook import HookOptions
    from pytest_reflex.drivers.goal.hook_decision import HookDecision

_LONGEST = 10_000_000
SHORTEST_TIMEOUT, LONGEST_TIMEOUT = 40, 3600
MOST = 50


def stop_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what is said of the hook where it is installed."""
    for option in (
        click.option(
            "--max-blocks",
            type=click.IntRange(1, MOST),
            default=8,
            metavar="N",
            help="Hold a session at most N times (default: 8).",
        ),
        click.option(
            "--timeout",
            type=click.IntRange(SHORTEST_TIMEOUT, LONGEST_TIMEOUT),
            default=60,
            metavar="SECONDS",
            help="What the client gives the hook; checks end at 80 % of it (default: 60).",
        ),
        click.option("--artifact", default="", metavar="FILE", help="What has to pass them."),
        click.option(
            "--criteria",
            default="",
            metavar="NAME|FILE",
            help="Use criteria and an artifact, not a goal.",
        ),
    ):
        command = option(command)
    return command


def hook_options(
    criteria: str, artifact: str, timeout: int, max_blocks: int, *, counts: bool = True
) -> HookOptions:
    """Return the options; raises UsageError for criteria without an artifact, or the reverse."""
    from pytest_reflex.drivers.goal.hook import HookOptions
    from pytest_reflex.errors import UsageError

    if bool(criteria) != bool(artifact):
        raise UsageError("--criteria and --artifact go together", hint="name both of them")
    return HookOptions(
        timeout=timeout, most=max_blocks, criteria=criteria, artifact=artifact, counts=counts
    )


@click.command(short_help="Answer a client that is about to stop (it runs this).")
@stop_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["claude", "ok"]),
    default="claude",
    help="Claude Code's answer, or {ok, reason} (default: claude).",
)
def stop(criteria: str, artifact: str, timeout: int, max_blocks: int, form: str) -> int:
    """Read a payload from standard input and answer whether the client may stop.

    It may where the goal in .loop/state.json is reached, with --criteria where the artifact passes,
    and whenever the hook cannot decide. The reason is on standard error.

    Exit status: 0, always.
    """
    with document_alone(True):
        document: dict[str, Any] = {} if form == "claude" else {"ok": True}
        try:
            options = hook_options(criteria, artifact, timeout, max_blocks)
            decision = answer_to(_payload(), options)
            document = decision.to_json() if form == "claude" else decision.to_ok()
            report(decision)
        except (Exception, SystemExit) as error:
            # Clients treat other exit statuses than 0 differently.
            say(escape_control(f"pytest-reflex: stop allowed: {_describe_error(error)}"))
        give_json(document)
    return 0


def answer_to(data: bytes, options: HookOptions) -> HookDecision:
    """Return the answer to a client that sends a payload."""
    from pytest_reflex.drivers.goal.hook import answer

    return answer(data, options, os.environ)


def report(decision: HookDecision) -> None:
    """Say why on standard error, where it concerns this session."""
    from pytest_reflex.drivers.goal.hook_decision import SILENT

    if decision.why in SILENT:
        return
    detail = f": {one_line(decision.detail, 500)}" if decision.detail else ""
    done = "held" if decision.blocks else "stop allowed"
    say(f"pytest-reflex: {done}: {decision.why.value}{detail}")


def _describe_error(error: BaseException) -> str:
    from pytest_reflex.errors import ReflexError

    if isinstance(error, ReflexError):
        return str(error)
    return f"a bug in pytest-reflex ({type(error).__name__}: {one_line(str(error))})"


def _payload() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read(_LONGEST).encode()
    data: bytes = stream.read(_LONGEST)
    return data
