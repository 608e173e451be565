"""What a criteria file may take over: files of its own project, and nothing else is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.criteria.writing import load, problems, rules, write

OUT = "leads out of the project of this file (what several projects share belongs in a pack"
SECRET = "root:x:0:0: [secret\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project beside a file that is not its own."""
    write(tmp_path, "secret.yaml", SECRET)
    write(tmp_path, "secret", SECRET)
    project = tmp_path / "project"
    write(project, "pyproject.toml", "")
    write(project, "rules/deep/keep", "")
    monkeypatch.chdir(project)
    return project


HOSTILE = ["/etc/passwd", "../../secret.yaml", "../../secret", "../" * 14 + "etc/passwd"]


@pytest.mark.parametrize("key", ["extends", "criteria"])
@pytest.mark.parametrize("reference", HOSTILE)
def test_b118_a_path_out_of_the_project_is_refused(folder: Path, key: str, reference: str) -> None:
    (found,) = problems(folder, f"{key}: {reference}\n", "rules/own.yaml")
    assert f"'{reference}' {OUT}" in found
    assert "secret:" not in found
    assert "root:" not in found


def test_b118_a_link_out_of_the_project_is_refused(folder: Path) -> None:
    (folder / "link.yaml").symlink_to(folder.parent / "secret.yaml")
    (found,) = problems(folder, "extends: ./link.yaml\n")
    assert f"'./link.yaml' {OUT}" in found


def test_a_folder_beside_it_in_the_project_is_reached(folder: Path) -> None:
    write(folder, "shared/base.yaml", rules())
    assert load(folder, "extends: ../../shared/base.yaml\n", "rules/deep/own.yaml").rules


def test_a_repository_is_one_project(folder: Path) -> None:
    (folder.parent / ".git").mkdir()
    write(folder.parent, "shared.yaml", rules())
    assert load(folder, "extends: ../shared.yaml\n").rules


def test_without_a_project_the_working_folder_is_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pyproject.toml").unlink()
    write(folder, "base.yaml", rules())
    assert load(folder, "extends: ../base.yaml\n", "rules/own.yaml").rules
    monkeypatch.chdir(folder / "rules")
    (found,) = problems(folder, "extends: ../base.yaml\n", "rules/own.yaml")
    assert OUT in found
