"""A misspelled key of the configuration is reported when a loop over a session begins."""

from __future__ import annotations

import pytest

from tests.drivers.pytest_loop.stage import Project

pytestmark = pytest.mark.long


def test_a_key_that_nobody_reads_is_told_and_the_loop_goes_on(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write("pytest-reflex.toml", "agnet = 1\n" + project.read("pytest-reflex.toml"))
    assert project.play() == 0
    told = " ".join(capfd.readouterr().out.split())
    assert told.count("unknown key 'agnet' is ignored (did you mean agent?)") == 1
