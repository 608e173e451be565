"""``pytest-reflex hook install``: the entry in the settings of a client, and its undoing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.hook_stop import hook_options, stop_options
from pytest_reflex.cli.options import confirm
from pytest_reflex.cli.streams import give, say
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import visible

if TYPE_CHECKING:
    from pytest_reflex.drivers.goal.approvals import Approvals, Runnable
    from pytest_reflex.drivers.goal.hook import HookOptions


@click.command(short_help="Put the hook into the settings of a client.")
@click.option(
    "--client",
    "name",
    type=click.Choice(["claude", "codex"]),
    default="claude",
    help="Into the settings of this client (default: claude).",
)
@click.option("--project", "where", flag_value="project", default="project", type=str,
              help="Into those of this project (the default).")  # fmt: skip
@click.option("--user", "where", flag_value="user", help="Into your own.")
@stop_options
@click.option("--undo", is_flag=True, help="Take the entry out again.")
@click.option("--yes", is_flag=True, help="Approve the commands that are shown.")
def install(
    name: str,
    where: str,
    criteria: str,
    artifact: str,
    timeout: int,
    max_blocks: int,
    undo: bool,
    yes: bool,
) -> int:
    """Put the Stop hook into the settings of a client; everything else in them stays.

    Commands that the goal in .loop/state.json or the criteria run are shown, and approved by you:
    the hook runs no others. Do it again when they have changed.

    Exit status: 0 done, 2 not confirmed, 4 usage, or settings that cannot be edited.
    """
    from pytest_reflex.drivers.goal.hook_settings import CLIENTS, settings_path

    user = where == "user"
    options = hook_options(criteria, artifact, timeout, max_blocks)
    if user and criteria:
        raise UsageError("criteria belong to a project", hint="leave --user away")
    client = CLIENTS[name]
    path = settings_path(client, Path.cwd(), os.environ, user=user)
    if undo:
        _undo(path)
        return 0
    approvals, missing = _to_approve(options)
    for one in missing:
        say(f"The hook will run: {visible(one.text)}")
    if missing and not yes:
        confirm("Approve these commands?", "commands were not approved")
    approvals.record(missing)
    _write(path, options, client.then)
    if missing:
        give(f"Approved: {len(missing)} command{'s' if len(missing) > 1 else ''}")
    return 0


def _to_approve(options: HookOptions) -> tuple[Approvals, tuple[Runnable, ...]]:
    """Return what was approved for this project, and what its goal and the criteria run beyond."""
    from pytest_reflex.checks.registry import built_in
    from pytest_reflex.drivers.goal.approvals import Approvals
    from pytest_reflex.drivers.goal.hook import read_state
    from pytest_reflex.drivers.goal.model import Plan

    project = Path.cwd()
    plans: tuple[Plan, ...] = ()
    if options.criteria:
        plans = (Plan(criteria=options.criteria, artifact=options.artifact),)
    elif seen := read_state(project):
        plans = seen[1].started
    approvals = Approvals.load(project)
    return approvals, approvals.missing(plans, built_in())


def _write(path: Path, options: HookOptions, then: str) -> None:
    from pytest_reflex.drivers.goal import hook_settings as settings

    words = ["--timeout", str(round(options.timeout))]
    if options.most != type(options)().most:
        words += ["--max-blocks", str(options.most)]
    if options.criteria:
        words += ["--criteria", options.criteria, "--artifact", options.artifact]
    command = settings.stop_command(words)
    before = settings.read_settings(path)
    after = settings.with_entry(before, path, command, round(options.timeout))
    if before == after:
        give(f"Already installed: {visible(str(path))}")
        return
    settings.write_settings(path, after, before)
    settings.Undo(path).remember(before, after)
    give(f"Installed: {visible(str(path))}\n  {visible(command)}")
    if then:
        give(then)


def _undo(path: Path) -> None:
    from pytest_reflex.drivers.goal import hook_settings as settings

    before = settings.read_settings(path)
    if before is None or settings.without_entries(before, path) == before:
        give(f"Not installed: {visible(str(path))}")
        return
    known, original = settings.Undo(path).original(before)
    text = original if known else settings.without_entries(before, path)
    settings.write_settings(path, text, before)
    give(f"Removed: {visible(str(path))}")
