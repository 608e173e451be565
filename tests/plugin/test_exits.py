"""The exit status of a session."""

from __future__ import annotations

import pytest

from pytest_reflex.session.conclude import exit_status
from pytest_reflex.verdict.gate import Gate, GateStatus
from tests.plugin.conftest import BAD, GOOD, Run, write

pytestmark = pytest.mark.long

PASSED, FAILED = Gate(status=GateStatus.PASSED), Gate(status=GateStatus.FAILED)
PARTIAL, INCOMPLETE = Gate(status=GateStatus.PARTIAL), Gate(status=GateStatus.INCOMPLETE)


@pytest.mark.parametrize(
    ("current", "gate", "faults", "final"),
    [
        (0, PASSED, False, 0),
        (0, FAILED, False, 1),
        (0, INCOMPLETE, False, 1),
        (0, PARTIAL, False, 0),
        (0, None, False, 0),
        (1, PASSED, False, 1),
        (5, None, False, 5),
        (5, INCOMPLETE, False, 1),
        (5, PARTIAL, False, 5),
        (2, FAILED, False, 2),
        (3, FAILED, False, 3),
        (4, FAILED, False, 4),
        (2, FAILED, True, 4),
        (1, FAILED, True, 4),
        (5, FAILED, True, 4),
        (3, FAILED, True, 3),
    ],
)
def test_exit_status(current: int, gate: Gate | None, faults: bool, final: int) -> None:
    assert exit_status(current, gate, criteria_faults=faults) == final


def test_an_artifact_that_is_too_large_fails_the_gate(
    project: pytest.Pytester, run: Run, run_workers: Run
) -> None:
    with (project.path / "api.md").open("wb") as file:
        file.truncate(50_000_001)
    for result in (run(), run_workers()):
        assert result.ret == 1
        result.stdout.fnmatch_lines(["*api.md is too large: 50.0 MB, the limit is 50.0 MB*"])


def test_a_larger_artifact_may_be_allowed(
    project: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.path / "api.md").write_text(GOOD + "\n" * 50_000_001)
    monkeypatch.setenv("PYTEST_REFLEX_ARTIFACT_LIMIT", "60")
    assert run().ret == 0


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("1", 1)])
def test_what_a_project_makes_a_look_is_none_in_ci(
    project: pytest.Pytester,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    ci: str,
    status: int,
) -> None:
    project.makeini("[pytest]\naddopts = --collect-only\n")
    monkeypatch.setenv("CI", ci)
    assert run().ret == status


def test_a_session_without_the_plugin_that_offers_a_look_has_its_gate(
    project: pytest.Pytester, run: Run
) -> None:
    write(project, "api.md", BAD)
    result = run("-p", "no:setuponly")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        FAILED: api.md: failed rules: a.x.install*"])
