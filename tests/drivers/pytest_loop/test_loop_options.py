"""What a loop is asked for, and what remains for its sessions."""

from __future__ import annotations

import pytest

from pytest_reflex.drivers.pytest_loop.loop_options import choose_agents, usual_agents, without_own
from pytest_reflex.errors import UsageError
from pytest_reflex.settings import load
from tests.drivers.pytest_loop.stage import Project

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (["--reflex-loop", "-q"], ["-q"]),
        (["--reflex-agent", "claude", "tests"], ["tests"]),
        (["--reflex-agent=claude", "tests"], ["tests"]),
        (["--reflex-task", "--reflex-loop", "x"], ["x"]),
        (["--reflex-resume", "-v"], ["-v"]),
        (["--reflex-resume", "alias", "-v"], ["-v"]),
        (["--reflex-artifact", "a.py", "-n", "2"], ["-n", "2"]),
        (["--reflex-json", "out", "--reflex-var=a"], ["--reflex-json", "out", "--reflex-var=a"]),
        (["-k", "a", "--", "--reflex-loop"], ["-k", "a", "--", "--reflex-loop"]),
    ],
)  # fmt: skip
def test_a_session_gets_what_is_not_the_loops_own(given: list[str], left: list[str]) -> None:
    assert list(without_own(given)) == left


def test_an_artifact_of_named_criteria_stays() -> None:
    given = ["--reflex-criteria=base", "--reflex-artifact", "a.md"]
    assert list(without_own(given, ["reflex_artifact"])) == given


def test_one_agent_is_that_of_refine(project: Project) -> None:
    usual = usual_agents(load(project.folder))
    assert usual["refine"] == "script"
    assert {usual[step] for step in ("plan", "prepare", "critique")} == {"offline"}
    assert choose_agents(["a"], usual) == {**usual, "refine": "a"}
    assert choose_agents(["a", "critique=b"], usual)["critique"] == "b"


@pytest.mark.parametrize("step", ["produce", "nothing"])
def test_steps_without_an_agent_are_refused(step: str) -> None:
    with pytest.raises(UsageError, match=f"no agent is asked in a step '{step}'"):
        choose_agents([f"{step}=a"], {})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--reflex-yes"], "--reflex-yes needs --reflex-loop"),
        (["--reflex-resume"], "--reflex-resume needs --reflex-loop"),
        (["--reflex-loop", "--collect-only"], "needs a session that runs its tests"),
        (["--reflex-loop", "--pdb"], "--pdb cannot be combined"),
        (["--reflex-loop", "--lf"], "--reflex-loop and --lf cannot be combined"),
        (["--reflex-loop", "--last-failed"], "--reflex-loop and --lf cannot be combined"),
        (["--reflex-loop", "--ff"], "--reflex-loop and --ff cannot be combined"),
        (["--reflex-loop", "--nf"], "--reflex-loop and --nf cannot be combined"),
        (["--reflex-loop", "--stepwise"], "--reflex-loop and --sw cannot be combined"),
        (["--reflex-loop", "--sw-skip"], "cannot be combined: each session has to be"),
        (["--reflex-loop"], "nothing says which files may be changed"),
        (["--reflex-loop", "--reflex-artifact=no.py"], "there is no file that may be changed"),
        (
            ["--reflex-loop", "--reflex-artifact=sums.py"],
            "not confirmed, and there is no terminal to ask on",
        ),
        (["--reflex-loop", "--reflex-yes", "--reflex-budget=x=1"], "--budget x=1: no such key"),
        (["--reflex-loop", "--reflex-yes", "--reflex-agent=nobody"], "no agent named 'nobody'"),
        (["--reflex-loop", "--reflex-resume"], "there is no loop in"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(
    project: Project, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert project.run("-p", "pytest_reflex.plugin", *arguments) == 4
    assert told in capsys.readouterr().err
    assert not (project.folder / ".ai-factory").exists()


def test_a_session_without_rules_is_told_before_anybody_is_asked(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("test_sums.py", "def test_it(): assert False\n")
    assert project.run(*project.arguments("--reflex-loop")) == 4
    assert "the session has no rules (mark tests" in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_is_given_in_spite_of_a_loop(project: Project, argument: str) -> None:
    assert project.run(*project.new(argument)) == 0
