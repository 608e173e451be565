"""What judges and lies outside the project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_reflex.integrity.outside import OutsideFiles, package_folders, programs_of


@pytest.fixture
def places(tmp_path: Path) -> list[Path]:
    """Three folders for PATH; `lint` is in the last one."""
    found = [tmp_path / name for name in ("first", "second", "third")]
    for folder in (*found, tmp_path / "project"):
        folder.mkdir()
    _program(found[-1] / "lint")
    return found


def _program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def _held(places: list[Path], *commands: str | list[str]) -> OutsideFiles:
    project = places[0].parent / "project"
    path = os.pathsep.join(map(str, places))
    return OutsideFiles.take(project, programs_of(commands, project, path), ())


COMMANDS: dict[str, str | list[str]] = {
    "a list": ["lint", "--all"],
    "a text for a shell": "cd . && lint --all | cat",
    "a text in a list": ["sh", "-c", "lint --all"],
    "behind another program": ["env", "A=b", "lint"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_program_and_all_earlier_places_are_held(
    places: list[Path], command: str | list[str]
) -> None:
    outside = _held(places, command)
    assert outside.changes() == ()
    _program(places[1] / "lint")
    _program(places[2] / "lint", "#!/bin/sh\nexit 0\n")
    told = [str(change) for change in outside.changes()]
    assert told == [f"{places[1]}/lint was added", f"{places[2]}/lint was changed"]


def test_another_program_may_appear(places: list[Path]) -> None:
    outside = _held(places, "lint")
    _program(places[0] / "other")
    assert outside.changes() == ()


def test_a_program_by_its_path_is_held(places: list[Path]) -> None:
    outside = _held(places, [str(places[2] / "lint")])
    (places[2] / "lint").unlink()
    assert [str(one) for one in outside.changes()] == [f"{places[2]}/lint was removed"]


def test_what_is_in_the_project_is_left_to_the_project(places: list[Path]) -> None:
    project = places[0].parent / "project"
    (project / "bin").mkdir()
    _program(project / "bin/lint")
    assert programs_of(["lint"], project, "bin") == []


def _environment(folder: Path) -> tuple[Path, Path]:
    """Make what an environment of Python looks like; return its Python and its packages."""
    packages = folder / "lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    (packages / "pack.py").write_text("x = 1\n")
    (folder / "bin").mkdir()
    return _program(folder / "bin/python"), packages


SCRIPTS = {"the interpreter": "", "a script of it": "#!{python}\n", "options": "#!{python} -I\n"}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_the_packages_of_a_python_that_checks_use_are_held(tmp_path: Path, script: str) -> None:
    python, packages = _environment(tmp_path / "env")
    program = _program(tmp_path / "tool", script.format(python=python)) if script else python
    project = tmp_path / "project"
    project.mkdir()
    outside = OutsideFiles.take(project, programs_of([[str(program)]], project), ())
    assert str(packages) in package_folders([str(program)], project)
    (packages / "pack.py").write_text("x = 2\n")
    (packages / "more.py").write_text("")
    told = {str(change) for change in outside.changes()}
    assert told == {f"{packages}/pack.py was changed", f"{packages}/more.py was added"}


def test_a_later_process_notices_that_packages_changed(tmp_path: Path) -> None:
    python, packages = _environment(tmp_path / "env")
    project = tmp_path / "project"
    project.mkdir()
    record = OutsideFiles.take(project, programs_of([[str(python)]], project), ()).to_json()
    assert OutsideFiles.from_json(record, project).changes() == ()
    (packages / "pack.py").write_text("x = 2\n")
    again = OutsideFiles.from_json(record, project)
    assert [str(one) for one in again.changes()] == [f"{packages} was changed"]
    still = OutsideFiles.from_json(again.to_json(), project)
    assert [str(one) for one in still.changes()] == [f"{packages} was changed"]
    again.accept()
    assert again.changes() == ()


def test_a_later_process_sees_no_change_where_another_environment_links_to_packages(
    tmp_path: Path,
) -> None:
    python, packages = _environment(tmp_path / "env")
    (packages / "pack-1.0.dist-info").mkdir()
    digest = "sha256=nia_NpkRxFwkPGhBR7I_yeHc_PJX0pmhxjIBam_NM_Q"
    (packages / "pack-1.0.dist-info/RECORD").write_text(f"pack.py,{digest},6\n")
    project = tmp_path / "project"
    project.mkdir()
    taken = OutsideFiles.take(project, programs_of([[str(python)]], project), ())
    record = taken.to_json()
    os.link(packages / "pack.py", tmp_path / "linked.py")
    again = OutsideFiles.from_json(record, project)
    assert taken.changes() == again.changes() == ()
    (packages / "pack.py").write_text("x = 2\n")
    found = [[str(change) for change in one.changes()] for one in (taken, again)]
    assert found == [[f"{packages}/pack.py was changed"]] * 2


def test_what_is_accepted_is_known(places: list[Path]) -> None:
    outside = _held(places, "lint")
    _program(places[0] / "lint")
    outside.accept()
    assert outside.changes() == ()


@pytest.mark.usefixtures("installed_packages_as_they_are")
def test_this_python_is_held(tmp_path: Path) -> None:
    assert any(folder.startswith(sys.prefix) for folder in package_folders((), tmp_path))
