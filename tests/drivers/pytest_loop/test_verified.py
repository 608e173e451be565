"""A pass that the history of a loop over a session claims: the session is run before it counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.pytest_loop.stage import Project
from tests.drivers.reflex.forged import Records, let_pass, rewrite, stop

pytestmark = [pytest.mark.long, pytest.mark.variants]

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def red(project: Project) -> Project:
    """A project whose agent fixes nothing, and whose loop has ended without a pass."""
    project.agent("code.write_text(code.read_text() + '# here')")
    assert project.play("--reflex-max-iterations=2") == 1
    return project


def stopped_by_a_person(records: Records) -> None:
    let_pass(records)
    stop(records, "user_stop")


def stopped_with_warnings(records: Records) -> None:
    let_pass(records)
    stop(records, "budget_exceeded")


FORGERIES: dict[str, tuple[Callable[[Records], None], tuple[str, ...]]] = {
    "a pass": (let_pass, ()),
    "a pass, then a stop": (stopped_by_a_person, ("--reflex-max-iterations=+1", "--reflex-yes")),
    "a pass, then no budget": (
        stopped_with_warnings,
        ("--reflex-max-iterations=+1", "--reflex-yes"),
    ),
}


@pytest.mark.parametrize(("forge", "more"), FORGERIES.values(), ids=FORGERIES.keys())
def test_a_recorded_pass_is_no_success_before_the_session_was_run(
    forge: Callable[[Records], None], more: tuple[str, ...], red: Project
) -> None:
    rewrite(red.run_folder, forge)
    assert red.run(*red.arguments("--reflex-loop", "--reflex-resume", *more)) == 1
    assert red.state()["stop"]["passed"] is False
    assert red.state()["evaluation"]["passed"] is False


def test_a_recorded_pass_that_holds_is_a_success_and_asks_nobody(
    project: Project,
) -> None:
    assert project.play() == 0
    calls = project.calls()
    rewrite(project.run_folder, lambda records: records.pop())
    assert project.run(*project.arguments("--reflex-loop", "--reflex-resume")) == 0
    assert project.calls() == calls
    assert len(list(project.events("evaluation_done"))) == 2


def test_a_run_written_as_passed_is_not_verified_and_pytest_is_who_can(
    red: Project, capsys: Capture
) -> None:
    def forge(records: Records) -> None:
        let_pass(records)
        stop(records)

    rewrite(red.run_folder, forge)
    capsys.readouterr()
    with chdir(red.folder):
        assert main(["loop", "status"]) == 0
        assert "(completed, not verified)" in capsys.readouterr().out
        assert main(["loop", "verify"]) == 4
    assert "is over a pytest session (run the session to verify it: `pytest" in (
        capsys.readouterr().err
    )
    assert red.run(*red.arguments("--reflex-loop", "--reflex-resume")) == 4
    assert "has ended (threshold_reached, not verified)" in capsys.readouterr().err
