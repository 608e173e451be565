"""``pytest-reflex loop new`` and ``resume``, with their options for recordings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from pytest_reflex.agents.recorder import Recorder
from pytest_reflex.agents.replay import ReplayRouter
from pytest_reflex.cli.dry_run import find_unfinished, preview_resume, show_new
from pytest_reflex.cli.options import (
    GivenPath,
    agents_option,
    alias_argument,
    budget_option,
    choose_criteria,
    confirm,
    criteria_options,
    dry_run_option,
    events_option,
    judge_option,
    load_settings,
    max_iterations_option,
    parse_variables,
)
from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.errors import TamperedError, UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.plain import pluralize
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.process.signals import Interruptions
from pytest_reflex.settings import Settings

if TYPE_CHECKING:
    from pytest_reflex.drivers.reflex.run_status import RunOverview
    from pytest_reflex.host import Host


class RecordingOptions(TypedDict):
    """The recordings of a run, as `register_agents` takes them."""

    replay: str | None
    recorder: Recorder | None


def recording_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `new` that make a recording or play one."""
    for option in (
        click.option("--replay", metavar="FILE", help="Answer all steps from a recording."),
        click.option("--record", metavar="FILE", help="Record all calls of agents in a new file."),
    ):
        command = option(command)
    return command


def recorder_of(record: str, replay: str | None, agents: tuple[str, ...]) -> Recorder | None:
    """Return what records a new run, if anything; raises UsageError for options at odds."""
    if replay and agents:
        raise UsageError("--replay answers all steps: leave --agent out")
    return Recorder.prepare(record, Path.cwd()) if record else None


def tape_of(run: RunOverview) -> RecordingOptions:
    """Return what an interrupted run was played from and goes on being recorded by.

    A recording that is gone is reported, and the run goes on without it.
    """
    setup = run.state.setup
    tape = RecordingOptions(replay=setup.get("replay"), recorder=None)
    if record := setup.get("record"):
        recorder = Recorder(template=record, project=Path.cwd())
        if warning := recorder.go_on(run.alias, run.state.run_id):
            say(warning)
        else:
            tape["recorder"] = recorder
    return tape


@contextmanager
def close_recording(host: Host) -> Iterator[None]:
    """Close the recording in the end, and report which calls of a replayed one were not used."""
    plugins = [plugin for _, plugin in host.manager.list_name_plugin()]
    try:
        yield
        for plugin in plugins:
            if isinstance(plugin, ReplayRouter):
                _report_unused(plugin)
    finally:
        for plugin in plugins:
            if isinstance(plugin, Recorder):
                plugin.close()


def _report_unused(replay: ReplayRouter) -> None:
    unused = replay.agent.unused_calls()
    if unused:
        count = pluralize(len(unused), "recorded call")
        say(f"replay: {count} not used, the first is {unused[0]}")


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that the verbs which drive a loop share."""
    for option in (
        click.option("--quiet", is_flag=True, help="Print the final artifact only."),
        click.option("--json", "as_json", is_flag=True, help="Print run.json at the end."),
        events_option,
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
@click.option("--ideal", metavar="TEXT", help="Description of the ideal result.")
@max_iterations_option(" (default: 4)")
@budget_option()
@click.option(
    "--guard",
    metavar="off|report|strict",
    help="Changes outside the critique: ignored, reported (the default), or reverted.",
)
@click.option(
    "--produce",
    metavar="always|first",
    help="PRODUCE in each iteration (the default), or in the first only (REFINE's text counts).",
)
@click.option(
    "--may-change",
    "may_change",
    multiple=True,
    metavar="GLOB",
    help="Files that an agent may change in the project besides the artifact (default: none).",
)
@click.option("--sequential", is_flag=True, help="Run PRODUCE and PREPARE one after the other.")
@click.option("--allow-agent-commands", is_flag=True, help="Run commands that PREPARE invents.")
@click.option("--yes", is_flag=True, help="Confirm criteria and limits without a question.")
@recording_options
@dry_run_option
@run_options
def new(task: str, **given: Any) -> int:
    """Start a loop for TASK and run it to its end."""
    from pytest_reflex.drivers.reflex.setup import NewLoop, begin, propose
    from pytest_reflex.host import judge_command, judge_name, open_host, register_agents

    settings, replay, dry_run = _settings(given), given["replay"], given["dry_run"]
    if given["in_place"] and (given["output"] or not given["draft"]):
        raise UsageError("--in-place needs --input and no --output")
    host, agents, yes = open_host(settings["plugins"], Path.cwd()), given["agents"], given["yes"]
    recorder = None if dry_run else recorder_of(settings["loop.record"], replay, agents)
    tape: dict[str, Any] = {"replay": replay, "recorder": recorder}
    names = register_agents(host, settings, agents, judge=given["judge"], runs=not dry_run, **tape)
    as_given = ("alias", "draft", "ideal", "sequential", "allow_agent_commands", "replay")
    request = NewLoop(
        task=task,
        criteria=choose_criteria(given["criteria"], given["template"], settings),
        output=given["draft"] if given["in_place"] else given["output"],
        variables=parse_variables(given["variables"]),
        confirmed_by="--yes" if yes else "terminal" if sys.stdin.isatty() else "",
        record=settings["loop.record"],
        judge=judge_name(host),
        judge_command=judge_command(host),
        judge_when=host.registry.judge_when.value,
        **{name: given[name] for name in as_given},
    )
    proposal = propose(request, settings=settings, registry=host.registry, project=Path.cwd())
    if dry_run:
        return show_new(host, proposal, settings, names, as_json=given["as_json"])
    _confirm(proposal, names, asked=not yes, quiet=given["quiet"])
    run = begin(proposal, settings=settings, project=Path.cwd(), hooks=host.hooks, agents=names)
    return watch(run, host, given)


def _settings(given: Mapping[str, Any]) -> Settings:
    """Return the settings in force, with what the command line says."""
    from pytest_reflex.settings import budget_changes

    names = ("max_iterations", "evaluator", "guard", "produce", "record")
    return load_settings(
        {
            **{f"loop.{name}": given[name] for name in names},
            "loop.budget": budget_changes(given["budgets"]) or None,
            "loop.may_change": list(given["may_change"]) or None,
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
@click.option(
    "--allow-agent-commands",
    is_flag=True,
    help="Run commands of agents in a loop that another program began.",
)
@dry_run_option
@run_options
def resume(
    alias: str | None,
    accept_changes: bool,
    allow_agent_commands: bool,
    dry_run: bool,
    **given: Any,
) -> int:
    """Continue the loop ALIAS (default: the one that was running)."""
    from pytest_reflex.drivers.reflex.setup import resumable, take_up

    root = Path.cwd() / load_settings({"loop.evaluator": given["evaluator"]})["loop.root"]
    run = find_unfinished(root, alias) if dry_run else resumable(root, alias)
    host, names = restore_agents(run, given, runs=not dry_run)
    if dry_run:
        return preview_resume(host, run, names, as_json=given["as_json"])
    again = take_up(
        run.folder,
        project=Path.cwd(),
        hooks=host.hooks,
        agents=names,
        accept_changes=accept_changes,
        settings=load_settings({"loop.evaluator": given["evaluator"], "judge": given["judge"]}),
        allow_agent_commands=allow_agent_commands,
    )
    return watch(again, host, given)


def restore_agents(
    run: RunOverview, given: Mapping[str, Any], *, runs: bool = True
) -> tuple[Host, Mapping[Step, str]]:
    """Return the host of a run that goes on, and its agents: its own, where no others are given.

    Where nothing `runs`, nothing is recorded and no program need be installed.
    """
    from pytest_reflex.host import open_host, register_agents

    setup = run.state.setup
    own = {"judge_when": setup.get("judge_when", "always")}
    settings = load_settings(
        {"loop.evaluator": given["evaluator"] or setup.get("evaluator"), **own}
    )
    host = open_host(setup.get("plugins", settings["plugins"]), Path.cwd())
    played = tape_of(run) if runs else {"replay": setup.get("replay")}
    known = setup["agents"]
    # Another program names none: then those of the settings answer and judge.
    judge = given["judge"] or setup.get("judge", "" if known else None)
    names = register_agents(
        host, settings, given["agents"], known, judge=judge, runs=runs, **played
    )
    return host, names


def _confirm(proposal: Any, agents: Any, *, asked: bool, quiet: bool) -> None:
    """Show criteria and limits; on a terminal ask, elsewhere --yes must have been given."""
    from pytest_reflex.reports.proposal import permission_lines, proposal_text

    if not (quiet and not asked):
        held, judge = proposal.holding, proposal.request.judge
        text = proposal_text(
            proposal.criteria, proposal.limits, agents, judge=judge, votes=held.votes
        )
        allowed = permission_lines(held.may_change, held.unprotected)
        say("\n".join((text.rstrip("\n"), *allowed, "")))
    if asked:
        confirm(
            "Start the loop with these criteria and limits?",
            "criteria and max iterations are not confirmed",
        )


def watch(run: AbstractContextManager[ReflexLoop], host: Host, given: Mapping[str, Any]) -> int:
    """Drive a run, report what happens on stderr, and print the result on stdout.

    Where events are written to standard output, the result is not printed.
    """
    from pytest_reflex.cli.display import open_event_log, takes_stdout
    from pytest_reflex.cli.narrator import Narrator

    interruptions = click.get_current_context().find_object(Interruptions) or Interruptions()
    quiet, as_json, no_stdout = given["quiet"], given["as_json"], takes_stdout(given["events"])
    if as_json and no_stdout:
        raise UsageError("--json and --events - cannot be combined", hint="name a file for events")
    with close_recording(host), open_event_log(given["events"]) as log, run as driver:
        narrator = Narrator(driver, log, quiet=quiet, as_json=as_json, no_stdout=no_stdout)
        narrator.begin()
        try:
            with narrator.follow_events() as happening:
                for event in happening:
                    narrator.report(event)
        except KeyboardInterrupt:
            interruptions.deaf = True
            narrator.report_interrupt()
            return interruptions.status()
        except TamperedError:  # its history cannot say so itself
            if driver.state.status is not RunStatus.RUNNING:
                narrator.end(why=False)
            raise
        return narrator.end()
