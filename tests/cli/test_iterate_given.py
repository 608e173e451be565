"""What the command line of ``iterate`` says is repeated as it was typed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.model import Status
from pytest_reflex.drivers.iterate.state import dump, state_path
from tests.drivers.iterate.tape import state

TOOL = ["iterate", "run", "build", "--ai-cmd", "touch called"]
REFUSED = {
    "an option for a text": (
        ["--context", "--dry-run"],
        "has no value: --dry-run is an option itself (for that text: --context=--dry-run)",
    ),
    "an option with a value for a number": (["-n", "--timeout=5"], "-n has no value: --timeout=5 "),
    "two volumes": (["-q", "-v"], "--quiet and --verbose cannot be combined"),
    "failures below 1": (
        ["--failure-threshold", "0"],
        "pytest-reflex: --failure-threshold '0': expected a whole number >= 1\n",
    ),
    "rounds below 0": (
        ["-n", "-1"],
        (
            "--max-iterations '-1': "
            "expected a whole number in decimal digits (iterations; 0: no limit)"
        ),
    ),
    "unchanged iterations below 0": (["--unchanged", "-1"], "pytest-reflex: --unchanged '-1': exp"),
    "another log": (["--log-format", "xml"], "pytest-reflex: --log-format 'xml': expected \"text"),
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("argv", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_names_the_option_that_was_typed(
    project: Path, capsys: pytest.CaptureFixture[str], argv: list[str], expected: str
) -> None:
    assert main([*TOOL, *argv]) == 4
    assert expected in capsys.readouterr().err
    assert not (project / "called").exists()


def test_an_option_is_a_text_where_it_is_joined_to_its_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*TOOL, "--context=--dry-run", "--dry-run"]) == 0
    assert "--dry-run" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["gone", "build"])
def test_status_offers_to_resume_only_what_is_configured(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = state_path(project / ".rooda", name)
    path.parent.mkdir(parents=True)
    found = replace(state(60), procedure_name=name, status=Status.INTERRUPTED)
    path.write_bytes(dump(found))
    assert main(["iterate", "status", name]) == 0
    page = capsys.readouterr().out
    assert (f"iterate resume {name}" in page) == (name == "build")
    assert ("there is no procedure gone any more" in page) == (name == "gone")
