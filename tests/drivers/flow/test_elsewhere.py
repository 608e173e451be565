"""A flow that another tool of this kind has written, with a run that it left, is taken as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.flow.projects import read

FOLDER = Path(__file__).parent / "elsewhere"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_can_be_run_and_looking_at_it_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert main(["flow", "check"]) == 0
    told = capsys.readouterr()
    assert told.out.endswith("The flow can be run.\n")
    assert told.err == ""
    assert before == {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


def test_its_nodes_sensors_and_limits_are_read(project: Path) -> None:
    root = read(project)
    assert root.paths() == ("delivery-loop", "delivery-loop/implement-feature")
    assert [sensor.name for sensor in root.sensors] == ["unit-tests", "lint"]
    assert [node.max_iterations for node in root.walk()] == [3, 4]
    assert len(root.agent_files()) == 5


def test_setup_beside_it_keeps_every_file_of_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert main(["flow", "setup"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == ["kept  .ai-loop/flow.yaml", "wrote .ai-loop/flow.schema.json"]
    assert all(path.read_bytes() == data for path, data in before.items())
