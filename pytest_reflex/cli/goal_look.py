"""``pytest-reflex goal`` beside ``start``: status, check, cancel, and the score of a spec."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_json, say, verdict
from pytest_reflex.errors import ExitCode, UsageError, is_file, read_or_raise
from pytest_reflex.model.plain import escape_control, one_line

if TYPE_CHECKING:
    from pytest_reflex.drivers.goal.model import GoalState
    from pytest_reflex.drivers.goal.plan import Rubric


@click.command("status", short_help="Show where the goal stands.")
@json_option
def status(as_json: bool) -> int:
    """Show where the goal of this project stands."""
    from pytest_reflex.drivers.goal import resume, start
    from pytest_reflex.drivers.goal.show import criterion_line, status_lines

    project = Path.cwd()
    goal, record, state = resume.load_goal(project)
    run_file = start.last_run(project)
    driven = record is not None and run_file is not None and run_file.is_driven()
    if as_json:
        give_json(_document(state) if record is None else {**record.to_json(), "driven": driven})
    elif goal is None or record is None:
        rows = ["State:     of another program (goal continue takes it over)", ""]
        give("\n".join([*rows, *map(criterion_line, state.criteria)]))
    else:
        give("\n".join(status_lines(goal, record, driven=driven)))
    return ExitCode.OK


def _document(state: GoalState) -> Any:
    from pytest_reflex.drivers.goal.statefile import to_json

    return to_json(state)


@click.command("check", short_help="Verify the criteria now.")
@json_option
def check(as_json: bool) -> int:
    """Verify each criterion of the goal now, and say what is true that must not be. Nothing is
    written, and no agent is asked.

    Exit status: 0 all are met, 1 some are not or were not run, 5 the program can verify none.
    """
    from dataclasses import replace

    from pytest_reflex.drivers.common.arguments import settings_of
    from pytest_reflex.drivers.goal import resume
    from pytest_reflex.drivers.goal.show import criterion_line
    from pytest_reflex.drivers.goal.statefile import to_json
    from pytest_reflex.drivers.goal.verify import Approvals, Verifier, format_unapproved
    from pytest_reflex.host import open_host

    project = Path.cwd()
    _, _, state = resume.load_goal(project)
    settings = settings_of(project)
    verifier = Verifier(
        approvals=Approvals.load(project),
        registry=open_host(settings["plugins"], project).registry,
        timeout=float(settings["goal.timeout"]),
    )
    state = replace(state, criteria=verifier.verify(state.criteria))
    broken = verifier.true_ones(state.must_not)
    looked_at = [one for one in state.criteria if one.plan.runs]
    refused = [one for one in looked_at if format_unapproved([one.plan], verifier)]
    code = _code(state, bool(broken or refused))
    if len(refused) == len(looked_at):
        code = ExitCode.NOTHING_MEASURED
    with verdict(code):
        if as_json:
            found = to_json(state)["criteriaStatus"]
            give_json({"criteria": found, "must_not": [one.text for one, _ in broken]})
        else:
            rows = [criterion_line(one) for one in state.criteria]
            rows += [f"✗ must not be true: {one.text}" for one, _ in broken]
            give("\n".join(rows))
    return code


def _code(state: GoalState, is_broken: bool) -> ExitCode:
    return ExitCode.OK if state.all_met and not is_broken else ExitCode.GATE_FAILED


@click.command("cancel", short_help="End the goal, and remove its state.")
@click.option("--keep-state", is_flag=True, help="Keep .loop/state.json, as cancelled.")
def cancel(keep_state: bool) -> int:
    """End the goal of this project for good; a process that runs it is stopped.

    The state file is removed; a terminal is asked whether to keep it.
    """
    from pytest_reflex.drivers.goal import resume

    project = Path.cwd()
    if not keep_state and sys.stdin.isatty():
        keep_state = click.confirm("Keep .loop/state.json?", default=False, err=True)
    done = resume.cancel(project, keeps=keep_state, say=lambda text: say(f"warning: {text}"))
    give(done)
    return ExitCode.OK


LONGEST = 100_000
"""Bytes of a spec: what is made of it is a state file, which has a limit, too."""


@click.command("score", short_help="Score how clear a spec is.")
@click.argument("spec", metavar="SPEC|FILE")
@click.option(
    "--score",
    "given",
    multiple=True,
    metavar="DIMENSION=N[,...]",
    help="Points of your own, 0 to 2, in place of those by cues.",
)
@json_option
def score(spec: str, given: tuple[str, ...], as_json: bool) -> int:
    """Score SPEC, a text or a file (- is standard input), on outcome, scope, constraints, success
    and done.

    From 8 points on it is for a tool, from 5 on for a colleague; below, what is missing is asked.

    Exit status: 0 it can be begun, 13 it is too unclear.
    """
    from pytest_reflex.drivers.goal.model import Shape
    from pytest_reflex.drivers.goal.plan import parse_scores, score_spec

    rubric = score_spec(read_spec(spec), parse_scores(given))
    status = ExitCode.SPEC_REFUSED if rubric.shape is Shape.INTENT else ExitCode.OK
    with verdict(status):
        if as_json:
            give_json(rubric.to_json())
        else:
            give("\n".join(_lines(rubric)))
    return status


def read_spec(spec: str) -> str:
    """Return the text of a spec, which is given as it is, as a file, or by standard input."""
    text = _text_of(spec)
    if not text.strip():
        raise UsageError("the spec is empty", hint="say what is to be done")
    _refuse_long(len(text.encode("utf-8", "replace")), "the spec")
    return text


def _text_of(spec: str) -> str:
    if spec == "-":
        try:
            text = sys.stdin.read().removeprefix("\ufeff")
            text.encode()
        except UnicodeError:
            raise UsageError("standard input is not UTF-8 text", hint="give it in UTF-8") from None
        return text
    if "\n" in spec or "\0" in spec or len(spec) > 255:
        return spec
    try:
        found = is_file(spec)
    except OSError:
        found = False
    if not found:
        if " " not in spec.strip() and spec.endswith((".md", ".txt", ".rst")):
            raise UsageError(f"there is no file {one_line(spec)}", hint="a text needs no file")
        return spec
    return text_in(spec)


def text_in(name: str) -> str:
    """Return the text of a file that a person names; raises UsageError."""
    try:
        status = os.stat(name)
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{one_line(name)} is not a regular file", hint="name a file of text")
        _refuse_long(status.st_size, one_line(name))
        data: bytes = read_or_raise(name, Path(name).read_bytes)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{one_line(name)} is not UTF-8 text", hint="save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"{one_line(name)} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{one_line(name)} is not a name of a file: {error}") from None


def _refuse_long(size: int, what: str) -> None:
    """Raise UsageError for a text that would not fit into a state file."""
    if size > LONGEST:
        raise UsageError(
            f"{what} is too long: {size:,} bytes, the limit is {LONGEST:,}",
            hint="say what is to be done, and name the files that hold the rest",
        )


def _lines(rubric: Rubric) -> list[str]:
    from pytest_reflex.drivers.goal.model import Shape
    from pytest_reflex.drivers.goal.plan import QUESTIONS
    from pytest_reflex.drivers.goal.scoring import MOST
    from pytest_reflex.drivers.goal.show import shape_text

    rows = [
        f"{one.dimension.value.capitalize():<12} {one.points}/{MOST}  {escape_control(one.reason)}"
        for one in rubric.scores
    ]
    shape = f"Shape: {shape_text(rubric.shape, rubric)}"
    if rubric.shape is not Shape.INTENT:
        return [*rows, "", shape]
    missing = ", ".join(one.value for one in rubric.missing)
    asked = [f"  {one.value.capitalize()}: {QUESTIONS[one]}" for one in rubric.missing]
    return [*rows, "", f"{shape}: too unclear to begin; missing: {missing}", *asked]
