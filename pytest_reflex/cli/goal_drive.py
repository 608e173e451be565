"""``pytest-reflex goal start``: turn a spec into a goal, and work until it is proven."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.options import agent_option, events_option
from pytest_reflex.cli.streams import give, say, verdict
from pytest_reflex.errors import ReflexError

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.record_file import RunFile
    from pytest_reflex.drivers.common.running import Events
    from pytest_reflex.drivers.goal.run_state import GateAnswer, Goal
    from pytest_reflex.drivers.goal.start import GoalListeners


@click.command("continue", short_help="Go on with a goal that is paused or was interrupted.")
@click.option("--budget", metavar="[+]USD", help="US dollars at most; +N adds to the budget.")
@click.option(
    "-n", "--max-iterations", metavar="[+]N", help="Iterations at most; +N adds to the limit."
)
@agent_option
@click.option("--yes", is_flag=True, help="Answer all gates with yes; approve what verifies.")
@events_option
def continue_(
    budget: str | None,
    max_iterations: str | None,
    agent: str | None,
    yes: bool,
    events: str | None,
) -> int:
    """Go on with the goal of this project. Without a terminal that answers the gate that waits.

    A state file that another program wrote is taken over: what it says is met is a claim.
    """
    from pytest_reflex.drivers.goal import resume

    run_file, happening = resume.go_on(
        project=Path.cwd(),
        budget=budget or "",
        max_iterations=max_iterations or "",
        agent=agent or "",
        yes=yes,
        people=_people(),
    )
    return drive(run_file, happening, events)


@click.command("start", short_help="Work on a spec until each criterion is proven.")
@click.argument("spec", metavar="SPEC|FILE")
@click.option(
    "--shape",
    type=click.Choice(["auto", "tool", "colleague"]),
    default="auto",
    help="How much a person is asked (default: by the score).",
)
@click.option("--budget", type=float, metavar="USD", help="US dollars at most (default: 25).")
@click.option(
    "-n", "--max-iterations", type=int, metavar="N", help="Iterations at most (default: 10)."
)
@click.option(
    "--criteria",
    default="",
    metavar="FILE[=ARTIFACT]",
    help="Criteria whose rules become criteria of the goal.",
)
@agent_option
@click.option("--yes", is_flag=True, help="Answer all gates with yes.")
@click.option("--workflow", type=click.Choice(["A", "B", "C"]), help="Build, debug or refactor.")
@click.option(
    "--reversibility",
    type=click.Choice(["2A", "2B", "1"]),
    help="How fast it can be rolled back: a minute, five (with checkpoints), or hours.",
)
@click.option("--precheck", metavar="FILE", help="Arguments against work of type 1.")
@events_option
def start(
    spec: str,
    shape: str,
    budget: float | None,
    max_iterations: int | None,
    criteria: str,
    agent: str | None,
    yes: bool,
    workflow: str | None,
    reversibility: str | None,
    precheck: str | None,
    events: str | None,
) -> int:
    """Turn SPEC, a text or a file (- is standard input), into criteria, and have an agent work
    until each is proven.

    Exit status: 0 proven, 1 too little is proven, 6 iterations or 8 budget used up, 13 the spec is
    too unclear, 14 a gate waits, 15 a circuit breaker has opened.
    """
    from pytest_reflex.cli.goal_look import read_spec, text_in
    from pytest_reflex.drivers.common.arguments import settings_of
    from pytest_reflex.drivers.common.control import check_text
    from pytest_reflex.drivers.goal import resume, start
    from pytest_reflex.drivers.goal.model import Reversibility, Shape, Workflow
    from pytest_reflex.drivers.goal.plan import PlanOptions

    project = Path.cwd()
    check_text("spec", spec)
    resume.refuse_unfinished(project)
    limits = start.GoalLimits(
        budget=start.BUDGET if budget is None else budget,
        max_iterations=start.ITERATIONS if max_iterations is None else max_iterations,
    ).validate()
    choices = PlanOptions(
        shape=None if shape == "auto" else Shape(shape),
        workflow=Workflow(workflow) if workflow else None,
        reversibility=Reversibility(reversibility) if reversibility else None,
        criteria=criteria,
        precheck=text_in(precheck) if precheck is not None else "",
        is_confirmed=yes,
    )
    settings = settings_of(project)
    agent = agent or settings["goal.agent"] or settings["agent"]
    goal, files, registry = start.prepare(
        read_spec(spec), choices, project=project, agent=agent, settings=settings
    )
    people = _people()
    goal = _announce(goal, limits.budget, people)
    run_file, happening = start.begin(
        goal,
        project=project,
        files=files,
        registry=registry,
        limits=limits,
        agent=agent,
        settings=settings,
        people=people,
    )
    return drive(run_file, happening, events)


def _announce(goal: Goal, budget: float, people: GoalListeners) -> Goal:
    """Say what begins; return the goal with what a person answers to the disclosure."""
    from dataclasses import replace

    from pytest_reflex.drivers.goal import show
    from pytest_reflex.drivers.goal.plan import score_spec
    from pytest_reflex.drivers.goal.run_state import GateAnswer
    from pytest_reflex.drivers.goal.show import checklist

    for line in checklist(goal):
        people.tell(line)
    people.tell(
        show.start_text(
            score_spec(goal.state.spec),
            goal.shape,
            goal.workflow,
            steps=len(goal.state.steps),
            budget=budget,
        )
    )
    if people.ask is None or not goal.has_gates:
        people.tell(show.DISCLOSURE)
        return goal
    answer = people.ask(show.DISCLOSURE)
    confirmed = goal.is_confirmed or answer is GateAnswer.ALL
    return replace(goal, deletes=answer in (GateAnswer.YES, GateAnswer.ALL), is_confirmed=confirmed)


def _people() -> GoalListeners:
    from pytest_reflex.drivers.goal.start import GoalListeners

    ask = _ask_gate if sys.stdin.isatty() else None
    return GoalListeners(ask=ask, tell=say, say=lambda text: say(f"warning: {text}"))


def _ask_gate(question: str) -> GateAnswer:
    """Return what a person answers to a gate; an empty answer is a yes."""
    from pytest_reflex.drivers.goal.run_state import GateAnswer
    from pytest_reflex.drivers.goal.show import answers_all

    say(question)
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError:
        return GateAnswer.NO  # what is not text is not a yes
    if not line:
        return GateAnswer.NONE
    if answers_all(line.strip()):
        return GateAnswer.ALL
    return GateAnswer.YES if line.strip().lower() in ("", "y", "yes") else GateAnswer.NO


def drive(run_file: RunFile, happening: Events, place: str | None) -> int:
    """Drive a run to its end, and say what it came to, however it ends."""
    from pytest_reflex.cli.own_driver import follow

    resume = "pytest-reflex goal continue"
    try:
        status, _ = follow(happening, place, lambda event: "", resume=resume)
    except ReflexError as error:
        with suppress(ReflexError):  # its record may be what cannot be read
            _give_result(run_file, place, error.exit_code)
        raise
    _give_result(run_file, place, status)
    return status


def _give_result(run_file: RunFile, place: str | None, status: int) -> None:
    """Print what a run came to, where events do not have the output."""
    from pytest_reflex.cli.display import takes_stdout
    from pytest_reflex.drivers.goal.run_state import Goal
    from pytest_reflex.drivers.goal.show import final_lines

    record = None if takes_stdout(place) else run_file.read()
    if record is not None:
        with verdict(status):
            give("\n".join(final_lines(Goal.from_json(record.data), record)))
