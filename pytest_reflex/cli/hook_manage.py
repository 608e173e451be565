"""``pytest-reflex hook`` for people: install, status, test, release."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.hook_stop import answer_to, hook_options, report, stop_options
from pytest_reflex.cli.options import confirm, json_option
from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.model.plain import escape_control, one_line, pluralize

if TYPE_CHECKING:
    from pytest_reflex.drivers.goal.hook import HookOptions
    from pytest_reflex.drivers.goal.verify import Approvals, Runnable


_SESSION = "pytest-reflex-hook-test"


@click.command(short_help="Say where the hook is installed and what it waits for.")
@json_option
def status(as_json: bool) -> int:
    """Say where the hook is installed, and what it waits for in this folder; nothing is run.

    Exit status: 0.
    """
    found = {"installed": list(_find_installed()), "goal": _goal()}
    if as_json:
        give_json(found)
    else:
        give("\n".join(_lines(found)))
    return 0


def _find_installed() -> Iterator[dict[str, Any]]:
    from pytest_reflex.drivers.goal import hook_settings as settings

    for (name, client), user in product(settings.CLIENTS.items(), (False, True)):
        path = settings.settings_path(client, Path.cwd(), os.environ, user=user)
        where = "user" if user else "project"
        entry: dict[str, Any] = {"client": name, "where": where, "path": str(path)}
        try:
            text = settings.read_settings(path)
            ours = [] if text is None else list(settings.entries_of(settings.tree_of(text, path)))
        except ReflexError as error:
            yield {**entry, "error": str(error)}
            continue
        for one in ours:
            yield {**entry, "command": one.command, "timeout": one.timeout}


def _goal() -> dict[str, Any] | None:
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.drivers.goal import statefile
    from pytest_reflex.drivers.goal.hook import read_state
    from pytest_reflex.drivers.goal.hook_decision import owner_of, read_counts
    from pytest_reflex.drivers.goal.verify import Approvals

    project = Path.cwd()
    path = str(statefile.state_path(project))
    try:
        seen = read_state(project)
    except ReflexError as error:
        return {"path": path, "error": str(error)}
    if seen is None:
        return None
    state = seen[1]
    approvals, registry = Approvals.load(project), built_in_registry()
    criteria = []
    for one in state.criteria:
        row: dict[str, Any] = {"text": one.text, "claimed": one.met, "verified_by": ""}
        try:
            refused = approvals.find_missing([one.plan], registry) if one.plan.runs else ()
            row["verified_by"] = one.plan.criteria or one.plan.command
            row["not_approved"] = [runnable.text for runnable in refused]
        except ReflexError as error:
            row["error"] = str(error)
        criteria.append(row)
    return {
        "path": path,
        "status": state.status.value,
        "exit_signal": state.exit_signal,
        "session": owner_of(state),
        "held": read_counts(state.hook).blocks,
        "last": state.hook.get("last"),
        "criteria": criteria,
        "must_not": [{"text": one.text, "checked": one.plan.runs} for one in state.must_not],
    }


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if not found["installed"]:
        yield "Installed: nowhere (pytest-reflex hook install)"
    for one in found["installed"]:
        yield f"Installed: {escape_control(one['path'])}"
        yield f"  {escape_control(one.get('error') or one['command'])}"
    goal = found["goal"]
    if goal is None:
        yield "Goal: none in this folder; every session may stop"
        return
    yield f"Goal: {escape_control(goal['path'])}"
    if "error" in goal:
        yield f"  cannot be read, so every session may stop: {escape_control(goal['error'])}"
        return
    session = escape_control(one_line(goal["session"])) or "the first one that stops here"
    yield f"  {goal['status']}, exit_signal {json.dumps(goal['exit_signal'])}"
    yield f"  session: {session}, held {goal['held']} times"
    for row in goal["criteria"]:
        claimed = "claimed" if row["claimed"] else "not claimed"
        yield f"  - {one_line(row['text'])}: {claimed}, {_verification_text(row)}"
    for row in goal["must_not"]:
        how = "checked at each stop" if row["checked"] else "not checked: it has no command"
        yield f"  - must not: {one_line(row['text'])}: {how}"


def _verification_text(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"cannot be verified: {escape_control(row['error'])}"
    if row["not_approved"]:
        return f"not approved, so not run: {one_line('; '.join(row['not_approved']), 300)}"
    if row["verified_by"]:
        return f"verified by: {one_line(row['verified_by'], 200)}"
    return "not verified by the program"


@click.command(short_help="Show what the hook would answer now, without counting it.")
@stop_options
@click.option(
    "--payload", metavar="FILE|-", help="What the client sends (default: a new session here)."
)
def test(criteria: str, artifact: str, timeout: int, max_blocks: int, payload: str | None) -> int:
    """Send a payload through the hook and print the answer to a client.

    Approved commands are run; nothing is counted or written. Why is said on standard error.

    Exit status: 0, 4 for a payload that cannot be read.
    """
    options = hook_options(criteria, artifact, timeout, max_blocks, counts=False)
    decision = answer_to(_payload(payload), options)
    report(decision)
    give_json(decision.to_json())
    return 0


def _payload(name: str | None) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    if name is not None:
        try:
            return Path(name).read_bytes()
        except OSError as error:
            raise UsageError(f"{one_line(name)} cannot be read: {error.strerror}") from None
    sample = {
        "session_id": _owner() or _SESSION,
        "cwd": os.getcwd(),
        "hook_event_name": "Stop",
        "stop_hook_active": False,
    }
    return json.dumps(sample).encode()


def _owner() -> str:
    """Return the session that the goal in this folder belongs to, empty for none."""
    from pytest_reflex.drivers.goal.hook import read_state
    from pytest_reflex.drivers.goal.hook_decision import owner_of

    try:
        seen = read_state(Path.cwd())
    except ReflexError:
        return ""
    return owner_of(seen[1]) if seen else ""


@click.command(short_help="Forget the session of a goal, and how often it was held.")
def release() -> int:
    """Let another session take up the goal of this folder: its session and counts are forgotten.

    Exit status: 0, 12 where the state cannot be read or written.
    """
    from pytest_reflex.drivers.goal.hook import release as forget

    give("Released: the next session that stops here takes the goal up" if forget(Path.cwd())
         else "Nothing to release")  # fmt: skip
    return 0


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
        raise UsageError("criteria belong to a project", hint="leave out --user")
    client = CLIENTS[name]
    path = settings_path(client, Path.cwd(), os.environ, user=user)
    if undo:
        _undo(path)
        return 0
    approvals, missing = _to_approve(options)
    for one in missing:
        say(f"The hook will run: {escape_control(one.text)}")
    if missing and not yes:
        confirm("Approve these commands?", "commands were not approved")
    approvals.record(missing)
    _write(path, options, client.then)
    if missing:
        give(f"Approved: {pluralize(len(missing), 'command')}")
    return 0


def _to_approve(options: HookOptions) -> tuple[Approvals, tuple[Runnable, ...]]:
    """Return what was approved for this project, and what its goal and the criteria run beyond."""
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.drivers.goal.hook import read_state
    from pytest_reflex.drivers.goal.model import VerificationPlan
    from pytest_reflex.drivers.goal.verify import Approvals

    project = Path.cwd()
    plans: tuple[VerificationPlan, ...] = ()
    if options.criteria:
        plans = (VerificationPlan(criteria=options.criteria, artifact=options.artifact),)
    elif seen := read_state(project):
        plans = seen[1].started
    approvals = Approvals.load(project)
    return approvals, approvals.find_missing(plans, built_in_registry())


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
        give(f"Already installed: {escape_control(str(path))}")
        return
    settings.write_settings(path, after, before)
    settings.Undo(path).remember(before, after)
    give(f"Installed: {escape_control(str(path))}\n  {escape_control(command)}")
    if then:
        give(then)


def _undo(path: Path) -> None:
    from pytest_reflex.drivers.goal import hook_settings as settings

    before = settings.read_settings(path)
    if before is None or settings.without_entries(before, path) == before:
        give(f"Not installed: {escape_control(str(path))}")
        return
    known, original = settings.Undo(path).original(before)
    text = original if known else settings.without_entries(before, path)
    settings.write_settings(path, text, before)
    give(f"Removed: {escape_control(str(path))}")
