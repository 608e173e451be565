"""A misspelled key of the configuration is a warning of pytest where a session reads it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judged.jurors import configured


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True], ids=["alone", "with workers"])
def test_a_session_that_reads_the_configuration_warns_of_it(
    project: pytest.Pytester, run: Any, run_workers: Any, workers: bool
) -> None:
    configured(project.path, "polite")
    path = project.path / "pytest-reflex.toml"
    path.write_text("agnet = 1\n" + path.read_text())
    result = (run_workers if workers else run)("--reflex-judge=jury")
    shown = " ".join(result.stdout.str().split())
    assert shown.count("PytestConfigWarning: ") == 1
    assert f"{path}:1:9: unknown key 'agnet' is ignored (did you mean agent?)" in shown
