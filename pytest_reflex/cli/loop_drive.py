"""``pytest-reflex loop new`` and ``resume``: the verbs that drive a run to its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.aliases import alias_argument
from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.criteria_option import (
    chosen_criteria,
    criteria_options,
    parse_variables,
)
from pytest_reflex.cli.dry_run import show_new, show_resumed, unfinished
from pytest_reflex.cli.given import GivenPath
from pytest_reflex.cli.loop_tape import recorder_of, recording_options, tape_of, taped
from pytest_reflex.cli.options import (
    agents_option,
    budget_option,
    dry_run_option,
    judge_option,
    max_iterations_option,
)
from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.errors import UsageError
from pytest_reflex.model.words import Step
from pytest_reflex.process.signals import Interruptions
from pytest_reflex.settings import Settings


def running_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that the verbs which drive a loop share."""
    for option in (
        click.option("--quiet", is_flag=True, help="Print the final artifact only."),
        click.option("--json", "as_json", is_flag=True, help="Print run.json at the end."),
        agents_option,
        click.option(
            "--evaluator",
            metavar="pytest|core",
            help="How the checks run: as a pytest session in a process of its own (the default), "
            "or the same checks without pytest.",
        ),
        judge_option,
    ):
        command = option(command)
    return command


@click.command(short_help="Start a loop for a task.")
@click.argument("task")
@click.option("--alias", help="Name of the loop (default: made from the task).")
@criteria_options
@click.option("--input", "draft", type=GivenPath(), help="The draft to start from.")
@click.option(
    "--output",
    type=GivenPath(),
    help="Where the result goes; an existing file is replaced only if the loop completed.",
)
@click.option(
    "--in-place", is_flag=True, help="Write the result over the input, if the loop completed."
)
@click.option("--ideal", metavar="TEXT", help="What the ideal result is, in words.")
@max_iterations_option(" (default: 4)")
@budget_option()
@click.option(
    "--guard",
    metavar="off|report|strict",
    help="Changes outside the critique: not looked at, told (the default), or taken back.",
)
@click.option(
    "--produce",
    metavar="always|first",
    help="PRODUCE in each iteration (the default), or in the first only: REFINE's text is judged.",
)
@click.option(
    "--may-change",
    "may_change",
    multiple=True,
    metavar="GLOB",
    help="What an agent may change in the project beside the artifact: nothing, if not given.",
)
@click.option("--sequential", is_flag=True, help="Run PRODUCE and PREPARE one after the other.")
@click.option("--allow-agent-commands", is_flag=True, help="Run commands that PREPARE invents.")
@click.option("--yes", is_flag=True, help="Confirm criteria and limits without a question.")
@recording_options
@dry_run_option
@running_options
def new(
    task: str,
    alias: str | None,
    template: str | None,
    criteria: str | None,
    draft: Path | None,
    output: Path | None,
    in_place: bool,
    ideal: str | None,
    max_iterations: str | None,
    budgets: tuple[str, ...],
    variables: tuple[str, ...],
    guard: str | None,
    produce: str | None,
    may_change: tuple[str, ...],
    sequential: bool,
    allow_agent_commands: bool,
    yes: bool,
    record: str | None,
    replay: str | None,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    agents: tuple[str, ...],
    evaluator: str | None,
    judge: str | None,
) -> int:
    """Start a loop for TASK and drive it to its end."""
    from pytest_reflex.drivers.reflex.setup import NewLoop, begin, propose
    from pytest_reflex.host import employ, judge_command, judge_name, open_host

    settings = _settings(max_iterations, evaluator, guard, produce, record, budgets, may_change)
    host = open_host(settings["plugins"], Path.cwd())
    recorder = None if dry_run else recorder_of(settings["loop.record"], replay, agents)
    tape: dict[str, Any] = {"replay": replay, "recorder": recorder}
    names = employ(host, settings, agents, judge=judge, runs=not dry_run, **tape)
    order = NewLoop(
        task=task,
        criteria=chosen_criteria(criteria, template, settings),
        alias=alias,
        draft=draft,
        output=_result_path(draft, output, in_place=in_place),
        ideal=ideal,
        sequential=sequential,
        allow_agent_commands=allow_agent_commands,
        variables=parse_variables(variables),
        confirmed_by="--yes" if yes else "terminal" if sys.stdin.isatty() else "",
        record=settings["loop.record"],
        replay=replay,
        judge=judge_name(host),
        judge_command=judge_command(host),
    )
    proposal = propose(order, settings=settings, registry=host.registry, project=Path.cwd())
    if dry_run:
        return show_new(host, proposal, settings, names, as_json=as_json)
    _confirm(proposal, names, asked=not yes, quiet=quiet)
    run = begin(proposal, settings=settings, project=Path.cwd(), hooks=host.hooks, agents=names)
    with taped(host):
        return watch(run, names, quiet=quiet, as_json=as_json)


def _result_path(draft: Path | None, output: Path | None, *, in_place: bool) -> Path | None:
    if in_place and (output or not draft):
        raise UsageError("--in-place needs --input and no --output")
    return draft if in_place else output


def _settings(
    max_iterations: str | None,
    evaluator: str | None,
    guard: str | None,
    produce: str | None,
    record: str | None,
    budgets: tuple[str, ...],
    may_change: tuple[str, ...],
) -> Settings:
    """Return the settings in force, with what the command line says."""
    from pytest_reflex.settings import budget_changes

    return configured(
        {
            "loop.max_iterations": max_iterations,
            "loop.evaluator": evaluator,
            "loop.guard": guard,
            "loop.produce": produce,
            "loop.record": record,
            "loop.budget": budget_changes(budgets) or None,
            "loop.may_change": list(may_change) or None,
        }
    )


accept_changes_option = click.option(
    "--accept-changes",
    is_flag=True,
    help="Accept that files of the project changed since the loop last looked at them.",
)


@click.command(short_help="Continue an interrupted loop.")
@alias_argument("resumes_here")
@accept_changes_option
@dry_run_option
@running_options
def resume(
    alias: str | None,
    accept_changes: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    agents: tuple[str, ...],
    evaluator: str | None,
    judge: str | None,
) -> int:
    """Continue the loop ALIAS (default: the one that was running)."""
    from pytest_reflex.drivers.reflex.setup import resumable, take_up
    from pytest_reflex.host import employ, open_host

    settings = configured({"loop.evaluator": evaluator})
    root = Path.cwd() / settings["loop.root"]
    run = unfinished(root, alias) if dry_run else resumable(root, alias)
    settings = configured({"loop.evaluator": evaluator or run.state.setup["evaluator"]})
    host = open_host(run.state.setup["plugins"], Path.cwd())
    tape = {"replay": run.state.setup.get("replay")} if dry_run else tape_of(run)
    judge = judge or run.state.setup.get("judge", "")
    known, runs = run.state.setup["agents"], not dry_run
    names = employ(host, settings, agents, known, judge=judge, runs=runs, **tape)
    if dry_run:
        return show_resumed(host, run, names, as_json=as_json)
    again = take_up(
        run.folder,
        project=Path.cwd(),
        hooks=host.hooks,
        agents=names,
        accept_changes=accept_changes,
    )
    with taped(host):
        return watch(again, names, quiet=quiet, as_json=as_json)


def _confirm(proposal: Any, agents: Any, *, asked: bool, quiet: bool) -> None:
    """Show criteria and limits; on a terminal ask, elsewhere --yes must have been given."""
    from pytest_reflex.reports.proposal import allowed_lines, proposal_text

    if not (quiet and not asked):
        judge = proposal.order.judge
        text = proposal_text(proposal.criteria, proposal.limits, agents, judge=judge)
        held = proposal.holding
        allowed = allowed_lines(held.may_change, held.unprotected)
        say("\n".join((text.rstrip("\n"), *allowed, "")))
    if not asked:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "criteria and max iterations are not confirmed, and there is no terminal to ask on",
            hint="add --yes; nothing was written",
        )
    click.confirm("Start the loop with these criteria and limits?", abort=True, err=True)


def watch(
    run: AbstractContextManager[ReflexLoop],
    agents: Mapping[Step, str],
    *,
    quiet: bool,
    as_json: bool,
) -> int:
    """Drive a run, tell what happens on stderr, and print the result on stdout."""
    from pytest_reflex.cli.narrator import Narrator

    interruptions = click.get_current_context().find_object(Interruptions) or Interruptions()
    with run as driver:
        narrator = Narrator(driver, quiet=quiet, as_json=as_json)
        narrator.begin()
        try:
            with narrator.attending(agents) as events:
                for event in events:
                    narrator.tell(event)
        except KeyboardInterrupt:
            interruptions.deaf = True
            narrator.interrupted()
            return interruptions.status()
        return narrator.end()
