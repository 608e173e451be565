"""A configuration file that is there is read or refused; only what is absent counts as none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.errors import UsageError
from pytest_reflex.settings import global_path, load

ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link to nothing": (lambda path: path.symlink_to("gone"), "it is a link to a file that is"),
    "a folder": (lambda path: path.mkdir(), "it is not a regular file"),
    "a pipe": (lambda path: os.mkfifo(path), "it is not a regular file"),
    "a link in a circle": (lambda path: path.symlink_to(path.name), "symbolic links"),
}
PLACES: dict[str, Callable[[Path], Path]] = {
    "of the project": lambda project: project / "pytest-reflex.toml",
    "pyproject": lambda project: project / "pyproject.toml",
    "of a person": lambda project: global_path(),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    global_path().parent.mkdir(parents=True)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize(("make", "why"), ODD.values(), ids=ODD.keys())
def test_what_stands_in_the_way_of_a_file_is_refused(
    project: Path, place: Callable[[Path], Path], make: Callable[[Path], object], why: str
) -> None:
    path = place(project)
    make(path)
    with pytest.raises(UsageError) as caught:
        load(project)
    assert str(caught.value).startswith(f"{path}: the configuration cannot be read: ")
    assert why in str(caught.value)


def test_a_file_that_may_not_be_read_is_refused(as_user: Path) -> None:
    path = as_user / "pytest-reflex.toml"
    path.write_text('agent = "x"\n')
    path.chmod(0)
    if os.access(path, os.R_OK, effective_ids=True):
        pytest.skip("nothing is closed to this user")
    with pytest.raises(UsageError, match=r"pytest-reflex.toml: .* cannot be read: Permission den"):
        load(as_user)


def test_a_project_that_cannot_be_looked_into_is_refused(as_user: Path) -> None:
    closed = as_user / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(UsageError, match=r"closed/pytest-reflex.toml: .*: Permission denied"):
        load(closed)


def test_a_link_to_a_file_is_that_file(project: Path) -> None:
    (project / "real").write_text('agent = "writer"\n')
    (project / "pytest-reflex.toml").symlink_to("real")
    assert load(project)["agent"] == "writer"


def test_no_gate_is_lost_with_its_file(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "pytest-reflex.toml").symlink_to("gone.toml")
    run = main(["iterate", "run", "build", "--ai-cmd", "touch called", "-n", "1"])
    assert (run, main(["doctor"])) == (4, 4)
    assert capfd.readouterr().out.count("pytest-reflex.toml: the configuration cannot be") == 1
    assert not (project / "called").exists()


BROKEN = {
    "another encoding": (b'a = 1\nname = "\xc3\xa4\xe9"\n', ":2:10: byte 0xe9 is not UTF-8 (save"),
    "a value that is none": (
        b"a = 1\nb = \n",
        ":2:5: this is not TOML: Invalid value (fix the file)",
    ),
    "an end too early": (b"a = 1\nb = [", ":2: this is not TOML: "),
    "a nest too deep": (b"a = " + b"[" * 100_000, ": this is not TOML that can be read: it is nes"),
}


@pytest.mark.parametrize(("data", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_toml_is_told_with_its_place(project: Path, data: bytes, expected: str) -> None:
    path = project / "pytest-reflex.toml"
    path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        load(project)
    assert str(caught.value).startswith(f"{path}{expected}")
