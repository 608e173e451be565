"""What agents, sensors and damaged folders do to a run: it ends in order, and nothing is forged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.errors import ExitCode
from tests.drivers.flow.stage import ACT, ALL_PASS, NOTE, OPEN, PLAN, Call, Stage, close_one, node

pytestmark = pytest.mark.variants

ONLY = node("only", controller=ALL_PASS)


def also(stage: Stage, deed: Callable[[Stage], object]) -> None:
    """Have the actuator do its work, and something else in its first act."""

    def act(call: Call, output: Path) -> None:
        close_one(call, output)
        if stage.script.count("actuator") == 1:
            deed(stage)

    stage.script.actuator = act


def forged_commit(stage: Stage) -> None:
    """Commit with the message that the next boundary would have, as far as it can be known."""
    last = stage.git("log", "-1", "--format=%B")
    text = last.replace("iteration 0", "iteration 1").replace("[iteration] 0", "[iteration] 1")
    text = text.replace(":0:entry", ":1:iteration").replace("initial measurement", "mine")
    stage.git("commit", "--quiet", "--allow-empty", "-m", text)


@pytest.mark.long
def test_a_commit_with_forged_trailers_is_no_boundary(stage: Stage) -> None:
    stage.flow(ONLY).open_points(1)
    also(stage, forged_commit)
    assert stage.run() == 0
    assert stage.git("show", f"HEAD:{NOTE}") == "DONE 0\n"
    assert [one.action for one in stage.boundaries()] == [
        "initial measurement",
        "mine",
        "Make these sensors pass: open.",
        "target met",
    ]


DEEDS: dict[str, tuple[Callable[[Stage], object], int, str]] = {
    "it removes the repository": (
        lambda stage: os.rename(".git", "git-away"),
        ExitCode.PHASE_ERROR,
        "git status failed: fatal: not a git repository",
    ),
    "it names another tree": (
        lambda stage: stage.git("config", "core.worktree", str(stage.folder.parent)),
        ExitCode.USAGE,
        "has its files in",
    ),
    "it makes the repository bare": (
        lambda stage: stage.git("config", "core.bare", "true"),
        ExitCode.PHASE_ERROR,
        "must be run in a work tree",
    ),
    "it breaks the configuration": (
        lambda stage: stage.write(".git/config", "[x"),
        ExitCode.PHASE_ERROR,
        "bad config",
    ),
    "it begins a merge": (
        lambda stage: stage.write(".git/MERGE_HEAD", stage.git("rev-parse", "HEAD")),
        ExitCode.USAGE,
        "a merge is not finished",
    ),
    "it detaches HEAD": (
        lambda stage: stage.git("checkout", "--quiet", "--detach"),
        ExitCode.PHASE_ERROR,
        "is not checked out any more",
    ),
    "it names a filter": (
        lambda stage: stage.git("config", "filter.x.clean", "touch pwned"),
        ExitCode.USAGE,
        "filter.x.clean",
    ),
    "it links the node's folder away": (
        lambda stage: _link_away(stage, f".ai-loop/runs/{stage.run_id}/nodes/only"),
        ExitCode.NOT_PERSISTED,
        "is a symbolic link",
    ),
    "it links the run's folder away": (
        lambda stage: _link_away(stage, f".ai-loop/runs/{stage.run_id}"),
        ExitCode.NOT_PERSISTED,
        "is a symbolic link",
    ),
}


def _link_away(stage: Stage, name: str) -> None:
    place = stage.folder.parent / f"{stage.folder.name}-elsewhere"
    os.rename(name, place)
    os.symlink(place, name)


@pytest.mark.long
@pytest.mark.parametrize("case", DEEDS)
def test_what_an_act_does_to_the_repository_ends_the_sitting_in_one_line(
    stage: Stage, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    deed, code, told = DEEDS[case]
    stage.flow(ONLY)
    also(stage, deed)
    assert stage.run() == code
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1
    assert not Path("pwned").exists()


GOOD: dict[str, Callable[[Stage], object]] = {
    "replaced objects": lambda stage: stage.git("replace", "HEAD", "HEAD^"),
    "no index": lambda stage: os.unlink(".git/index"),
    "names that are hard to quote": lambda stage: [
        stage.write(name, "x") for name in ("a\nb", "-x", " sp ace", "[x]*", ":(top)x", "\udcff")
    ],
    "a pipe": lambda stage: os.mkfifo("pipe"),
    "a link to nowhere": lambda stage: os.symlink("/dev/zero", "zero"),
    "outputs as links": lambda stage: os.symlink(
        stage.folder / NOTE, f".ai-loop/runs/{stage.run_id}/nodes/only/sensor-new-output.md"
    ),
    "a forged end": lambda stage: stage.write(
        f".ai-loop/runs/{stage.run_id}/run-state.md", "---\nstatus: complete\n---\n"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("case", GOOD)
def test_what_an_act_leaves_beside_its_work_does_no_harm(stage: Stage, case: str) -> None:
    stage.flow(ONLY).open_points(1)
    also(stage, GOOD[case])
    assert stage.run() == 0
    assert stage.told() == [
        "only 0: initial measurement",
        "only 1: Make these sensors pass: open.",
        "only 2: target met",
    ]
    assert stage.git("show", f"HEAD:{NOTE}") == "DONE 0\n"


@pytest.mark.long
@pytest.mark.parametrize("pattern", [".ai-loop/", "/.ai-loop/runs", "run_*"])
def test_files_of_the_run_are_not_committed_where_git_ignores_them(
    stage: Stage, pattern: str
) -> None:
    stage.write(".gitignore", f"{pattern}\n")
    stage.git("add", ".gitignore")
    stage.git("commit", "--quiet", "-m", "ignored")
    stage.flow(ONLY)
    assert stage.run() == 0
    assert set(stage.git("log", "--format=", "--name-only", "main..").split()) == {NOTE}


@pytest.mark.long
def test_a_protected_link_that_leads_outside_is_no_endless_run(stage: Stage) -> None:
    outside = stage.folder.parent / f"{stage.folder.name}-act.md"
    os.rename(ACT, outside)
    os.symlink(outside, ACT)
    stage.git("commit", "--quiet", "--all", "-m", "a link")
    stage.flow(node("only", controller=ALL_PASS, most=2)).open_points(9)
    also(stage, lambda stage: outside.write_text("---\nname: act\n---\nAll of it.\n"))
    assert stage.run() == ExitCode.ITERATION_LIMIT
    assert stage.boundaries()[1].action.startswith("changed for good: ")
    assert Path(ACT).is_symlink()


@pytest.mark.long
def test_who_changes_what_judges_at_every_step_ends_the_run_once(stage: Stage) -> None:
    busy = {"name": "busy", "command": f"echo >> {PLAN}; false"}
    stage.flow(node("only", controller=PLAN, sensors=[busy]))
    assert stage.run() == ExitCode.TAMPERED
    assert stage.boundaries()[-1].status == "error"


ANSWERS = {
    "nothing": "",
    "the target twice": "---\ntarget-met: true\ntarget-met: false\n---\n",
    "the target as a text": "---\ntarget-met: 'true'\n---\n## Action Plan\n\nx\n",
    "an alias of itself": "---\ntarget-met: &a [*a]\n---\n",
    "no end of nesting": f"---\nx: {'[' * 100_000}\n---\n",
    "no text": "---\ntarget-met: \udcff\n---\n",
    "no front matter": "x" * 1_000_000,
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_is_none_ends_the_node(stage: Stage, answer: str) -> None:
    def decide(call: Call, output: Path) -> None:
        output.write_bytes(ANSWERS[answer].encode("utf-8", "surrogateescape"))

    stage.script.controller = decide
    stage.flow(node("only", controller=PLAN))
    assert stage.run() == ExitCode.PHASE_ERROR
    assert stage.told()[-1].startswith("only 1: error: the controller gave no decision: ")


SENSORS: dict[str, dict[str, Any]] = {
    "hangs": {"command": "sleep 60", "timeout": 0.2},
    "crashes": {"command": "kill -SEGV $$"},
    "prints no text": {"command": "printf '\\377\\000\\033[2J```\\n---\\n'; false"},
    "never stops printing": {"command": "yes", "timeout": 0.2},
    "is not there": {"command": "no-such-program"},
    "leaves a child": {"command": "sleep 60 & false"},
}


@pytest.mark.long
@pytest.mark.parametrize("case", SENSORS)
def test_a_sensor_that_cannot_be_measured_fails_and_the_run_goes_on(
    stage: Stage, case: str
) -> None:
    sensors = [{"name": "odd", **SENSORS[case]}]
    stage.flow(node("only", most=1, sensors=sensors, controller=ALL_PASS))
    assert stage.run() == ExitCode.ITERATION_LIMIT
    assert {one.sensors["odd"] for one in stage.boundaries()} == {"fail"}
    assert stage.output("only", "sensor-odd-output.md").startswith("---\nsensor: odd\n")


def fifo_for(name: str) -> None:
    os.unlink(name)
    os.mkfifo(name)


def folder_for(name: str) -> None:
    os.unlink(name)
    os.mkdir(name)


FLOW = ".ai-loop/flow.yaml"
REFUSED: dict[str, tuple[Callable[[Stage], object], int, str]] = {
    "a folder for flow.yaml": (lambda stage: folder_for(FLOW), 4, f"{FLOW} is not a file"),
    "a pipe for flow.yaml": (lambda stage: fifo_for(FLOW), 4, f"{FLOW} is not a file"),
    "no flow.yaml": (lambda stage: os.unlink(FLOW), 4, f"there is no {FLOW}"),
    "a folder for an agent file": (lambda stage: folder_for(ACT), 4, ACT),
    "a pipe for an agent file": (lambda stage: fifo_for(ACT), 4, ACT),
    "runs elsewhere": (
        lambda stage: os.symlink(stage.folder.parent, ".ai-loop/runs"),
        12,
        "is a symbolic link",
    ),
    "a file for the runs": (lambda stage: stage.write(".ai-loop/runs", ""), 12, "not a folder"),
    "an end of the file before its text": (
        lambda stage: Path(FLOW).write_bytes(b"\xff\xfev\0"),
        4,
        "not UTF-8",
    ),
    "a state that is none": (
        lambda stage: stage.write(".pytest-reflex/runs/flow/run_20260101_001.json", "[]"),
        12,
        "run_20260101_001.json",
    ),
    "a file of 10 MB": (lambda stage: stage.write(FLOW, f"x: {'y' * 10_000_000}"), 4, "no key 'x'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_in_which_nothing_can_be_run_is_left_as_it_is(
    stage: Stage, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    deed, code, told = REFUSED[case]
    stage.flow(ONLY)
    deed(stage)
    before = sorted(os.listdir(stage.folder.parent)), stage.git("status", "--porcelain")
    assert stage.run("close all points", "--allow-dirty") == code
    err = capsys.readouterr().err
    assert told in err
    assert "Traceback" not in err
    assert before == (sorted(os.listdir(stage.folder.parent)), stage.git("status", "--porcelain"))
    assert stage.git("branch", "--format=%(refname:short)") == "main\n"


@pytest.mark.parametrize(
    "flags",
    [
        ("--budget", "usd=-1"),
        ("--budget", "euros=1"),
        ("--wall-time", "nan"),
        ("--wall-time", "inf"),
        ("--branch=-x",),
        ("--branch=a..b",),
        ("--agent", "nobody"),
    ],
    ids=" ".join,
)
def test_a_wrong_flag_changes_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...]
) -> None:
    stage.flow(ONLY)
    assert stage.run("close all points", *flags) == ExitCode.USAGE
    assert capsys.readouterr().err.count("\n") == 1
    assert not Path(".ai-loop/runs").exists()
    assert stage.git("branch", "--format=%(refname:short)") == "main\n"


@pytest.mark.parametrize("form", ["crlf", "bom", "both"])
def test_line_ends_and_marks_of_other_systems_are_taken(stage: Stage, form: str) -> None:
    text = json.dumps({"version": 1, "flow": node("only", sensors=[OPEN])}, indent=1)
    for name, old in ((FLOW, text), (ACT, Path(ACT).read_text()), (PLAN, Path(PLAN).read_text())):
        lines = old.replace("\n", "\r\n") if form != "bom" else old
        data = ("\ufeff" if form != "crlf" else "") + lines
        stage.write(name, "")
        Path(name).write_bytes(data.encode())
    assert main(["flow", "check"]) == 0
