"""The table of `make matrix`: what each cell found, and which did not run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.matrix import REPORT, main

JUNIT = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}" /></testsuites>'


def cell(name: str, result: str, reason: str | None = None) -> dict[str, object]:
    return {"name": name, "result": result, "reason": reason, "duration": 754.6}


def table(
    folder: Path, capsys: pytest.CaptureFixture[str], *cells: object
) -> tuple[int, list[str]]:
    (folder / REPORT).write_text(json.dumps({"sessions": cells}))
    status = main(folder)
    return status, [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()[2:]]


def ran(folder: Path, name: str, *figures: int) -> None:
    (folder / f"{name}.versions").write_text("3.11.7 8.2.0\n")
    if figures:
        (folder / f"{name}.xml").write_text(JUNIT.format(*figures))


def test_a_cell_that_ran_is_listed_with_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(tmp_path, "3.11-lowest", 90, 2, 1, 7)
    status, lines = table(tmp_path, capsys, cell("3.11-lowest", "failed"))
    assert lines == ["3.11.7 lowest 8.2.0 failed 80 3 7 12:35"]
    assert status == 0  # that it failed, nox says


@pytest.mark.parametrize("result", ["failed", "aborted"])
def test_a_suite_without_an_end_has_no_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], result: str
) -> None:
    ran(tmp_path, "3.11-newest")
    _, lines = table(tmp_path, capsys, cell("3.11-newest", result))
    assert lines == [f"3.11.7 newest 8.2.0 {result} - - - 12:35"]


def test_dependencies_that_cannot_be_installed_are_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = table(tmp_path, capsys, cell("3.14-lowest", "failed"))
    assert lines == ["3.14 lowest - failed - - - -"]


def test_a_python_that_is_not_there_is_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(tmp_path, "3.11-lowest", 1, 0, 0, 0)
    missing = cell("3.14-lowest", "skipped", "Python interpreter 3.14 not found")
    status, lines = table(tmp_path, capsys, cell("3.11-lowest", "success"), missing)
    assert lines == [
        "3.11.7 lowest 8.2.0 passed 1 0 0 12:35",
        "3.14 lowest - not run - - - - Python interpreter 3.14 not found",
    ]
    assert status == 0
    assert table(tmp_path, capsys, missing)[0] == 1  # nothing was shown


def test_without_a_report_nothing_was_shown(tmp_path: Path) -> None:
    assert main(tmp_path) == 1
