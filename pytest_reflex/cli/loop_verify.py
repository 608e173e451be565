"""``pytest-reflex loop verify``: whether the recorded verdict of a loop is that of its artifact."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.aliases import alias_argument, state_root
from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_json, say, verdict
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.plain import counted, visible

if TYPE_CHECKING:
    from pytest_reflex.drivers.reflex.overview import Run
    from pytest_reflex.drivers.reflex.verifying import Verification


@click.command(short_help="Evaluate the artifact of a loop again.")
@alias_argument("is_verifiable")
@click.option(
    "--accept-changes",
    is_flag=True,
    help="Verify with the project as it is now, though its files changed since the run.",
)
@json_option
def verify(alias: str | None, accept_changes: bool, as_json: bool) -> int:
    """Evaluate the artifact of the loop ALIAS again (default: the one that runs, else the newest).

    Criteria and checks are those of its history. Recorded votes are used; no agent is asked, and
    nothing is written.

    Exit status: 0 the recorded verdict holds and is a pass; 1 it is none, or does not hold;
    5 nothing could be measured; 9 it could not be evaluated; 10 its rules have changed;
    11 a process drives the loop; 14 the project has changed.
    """
    from pytest_reflex.drivers.reflex import verifying
    from pytest_reflex.drivers.reflex.overview import find_run

    run = find_run(state_root(), alias)
    verifying.refuse_unverifiable(run)
    for line in run.recovered:
        say(visible(line))
    found = verifying.verify(run, hooks_of(run), Path.cwd(), accept_changes=accept_changes)
    status = _status_of(found)
    with verdict(status):
        if as_json:
            give_json(found.to_json())
        else:
            give("\n".join(_lines(found)))
    return status


def hooks_of(run: Run) -> Any:
    """Return hooks that judge as the run's own do, and ask no agent but a judge."""
    from pytest_reflex.host import employ_evaluator, employ_judge, open_host

    setup = run.state.setup
    own = {"judge_when": setup.get("judge_when", "always")}
    settings = configured({"loop.evaluator": setup.get("evaluator"), **own})
    host = open_host(setup.get("plugins", settings["plugins"]), Path.cwd())
    employ_evaluator(host, settings)
    employ_judge(host, settings, "" if setup.get("replay") else setup.get("judge", ""))
    return host.hooks


def _status_of(found: Verification) -> ExitCode:
    if found.passed:
        return ExitCode.OK
    judged = found.found
    unmeasured = judged is not None and not (judged.measured and judged.decides)
    return ExitCode.NOTHING_MEASURED if unmeasured else ExitCode.GATE_FAILED


def _lines(found: Verification) -> list[str]:
    from pytest_reflex.verdict.formatting import plain, shown_score

    state, judged = found.state, found.found or found.recorded
    count = len(judged.results)
    rules = f"{counted(count, 'rule')} at phase {judged.level.value}"
    lines = [
        f"Loop: {visible(state.alias)} ({state.status.value})",
        f"Criteria: {visible(judged.criteria)} ({rules}, threshold {plain(judged.threshold)})",
        f"Artifact: {judged.artifact_hash}",
    ]
    if found.found:
        word = "passed" if found.found.passed else "not passed"
        lines.append(f"Score: {shown_score(found.found.score)}, {word}")
    if found.problem:
        return [*lines, f"The recorded verdict does not hold: {visible(found.problem)}"]
    return [*lines, f"The recorded verdict holds: {'passed' if found.passed else 'not passed'}"]
