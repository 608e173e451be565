"""What is not a text file of the project is not an artifact: refused, put back, and never
judged.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.pytest_loop.files import open_run, project_of
from tests.drivers.pytest_loop.stage import CODE, RIGHT, Project
from tests.drivers.pytest_loop.test_files import OLD, commit, folder, found

pytestmark = [pytest.mark.long, pytest.mark.variants]

__all__ = ["folder"]

LINK = "os.remove('sums.py'); os.symlink({!r}, 'sums.py')"
BINARY = "code.write_bytes(b'\\xff\\0')"


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (LINK.format("other.py"), "sums.py is a symbolic link"),
        (BINARY, "sums.py is not UTF-8 text at byte 0"),
        ("os.remove('sums.py'); os.mkdir('sums.py')", "sums.py is a folder now"),
        (
            "os.remove('sums.py'); os.mkdir('sums.py'); open('sums.py/x', 'w').close()",
            "sums.py is a folder now",
        ),
        ("os.remove('sums.py'); os.mkfifo('sums.py')", "sums.py is not a regular file"),
    ],
    ids=["link", "binary", "folder", "full folder", "fifo"],
)
def test_what_is_no_text_file_gets_one_retry_and_the_old_text_back(
    project: Project, act: str, told: str
) -> None:
    project.write("other.py", RIGHT)
    project.agent(f"assert calls == 1 or {told!r} in prompt\n{act}")
    assert project.play() == 1
    reason, detail = project.stop()
    assert (reason, project.calls()) == ("phase_error", 2)
    assert told in detail
    assert not (project.folder / "sums.py").is_symlink()
    assert project.read() == CODE


def test_a_run_that_ended_so_goes_on_with_more(project: Project) -> None:
    project.agent(BINARY)
    assert project.play() == 1
    project.agent("fix()")
    more = ("--reflex-resume", "--reflex-max-iterations=+2", "--reflex-yes")
    assert project.run(*project.arguments("--reflex-loop", *more, "--reflex-accept-changes")) == 0
    assert project.read() == RIGHT


def test_a_second_try_that_is_text_goes_on(project: Project) -> None:
    project.agent(f"fix() if calls == 2 else {BINARY}")
    assert project.play() == 0
    assert project.read() == RIGHT


def test_a_renamed_file_comes_back_where_another_is_no_text(project: Project) -> None:
    project.write("pkg/a.py", "x = 1\n")
    project.agent(
        "os.rename('pkg/a.py', 'pkg/b.py')\npathlib.Path('pkg/x.bin').write_bytes(b'\\xff')\nfix()"
    )
    assert project.play("--reflex-artifact=pkg") == 1
    assert project.stop()[0] == "phase_error"
    assert sorted(os.listdir(project.folder / "pkg")) == ["a.py"]
    assert project.read() == CODE
    assert (project.run_folder / "refused/pkg/x.bin").read_bytes() == b"\xff"


def test_what_a_session_leaves_in_the_place_of_artifacts_is_judged_as_nothing(
    project: Project,
) -> None:
    project.write("pkg/a.py", "x = 1\n")
    line = "open('pkg/x', 'wb').write(bytes([255]))"
    project.agent(f'fix()\ncode.write_text(code.read_text() + "{line}")')
    assert project.play("--reflex-artifact=pkg") == 1
    reason, detail = project.stop()
    assert reason == "phase_error"
    assert "the artifact changed while it was evaluated" in detail
    assert project.read() == CODE
    assert sorted(os.listdir(project.folder / "pkg")) == ["a.py"]


def test_a_link_out_of_the_project_is_refused(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "outside.py"
    outside.write_text(RIGHT)
    project.agent(LINK.format(str(outside)))
    assert project.play() == 1
    assert project.stop()[0] == "phase_error"
    assert (project.read(), outside.read_text()) == (CODE, RIGHT)


def test_a_link_to_a_folder_is_refused(project: Project) -> None:
    project.write("pkg/a.py", "x = 1\n")
    project.write("other/a.py", "x = 2\n")
    project.agent("import shutil; shutil.rmtree('pkg'); os.symlink('other', 'pkg'); fix()")
    assert project.play("--reflex-artifact=pkg") == 1
    assert "pkg is a symbolic link" in project.stop()[1]
    assert not (project.folder / "pkg").is_symlink()
    assert project.read("pkg/a.py") == "x = 1\n"
    assert project.read("other/a.py") == "x = 2\n"


def test_what_is_imported_from_outside_and_was_not_before_is_tampering(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "better.py").write_text(RIGHT)
    lines = f"import sys\\nsys.path.append({str(outside)!r})\\nfrom better import *\\n"
    project.agent(f'code.write_text("{lines}")')
    assert project.play() == 1
    told = f"{outside / 'better.py'} was imported, and is outside the project"
    assert project.stop() == ("tampered", told)


def test_what_was_imported_from_outside_at_the_start_stays(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "known.py").write_text("")
    lines = f"import sys\nsys.path.append({str(outside)!r})\nimport known\n"
    project.write("helper.py", lines)
    project.write("test_more.py", "import helper\ndef test_more(): pass\n")
    assert project.play() == 0


def test_what_a_test_wrote_elsewhere_is_its_own(project: Project) -> None:
    project.write(
        "test_more.py",
        "import sys\n"
        "def test_more(tmp_path, monkeypatch):\n"
        "    (tmp_path / 'made.py').write_text('')\n"
        "    monkeypatch.syspath_prepend(str(tmp_path))\n"
        "    import made\n",
    )
    assert project.play() == 0


@pytest.mark.parametrize("act", ["link", "bytes", "folder"])
def test_a_run_is_resumed_with_the_recorded_text_in_place_of_what_is_none(
    folder: Path, act: str
) -> None:
    project = folder.parent.parent
    (project / "a.py").unlink()
    if act == "link":
        (project / "a.py").symlink_to(project / "other")
    elif act == "bytes":
        (project / "a.py").write_bytes(b"\xff")
    else:
        (project / "a.py").mkdir()
        (project / "a.py/x").write_text("")
    files = open_run(folder)
    assert files.adopt_changes_by_hand() == []
    assert found(folder) == OLD
    assert len(project_of(files).take_refusals()) == 1
    assert project_of(files).take_refusals() == ()
    assert (folder / "refused/a.py").exists() is (act != "link")


def test_a_link_that_was_there_at_the_start_stays(folder: Path) -> None:
    files = open_run(folder)
    project = folder.parent.parent
    (project / "l.py").symlink_to("elsewhere")
    files.latest_events()[0].payload["tree"]["links"] = {"l.py": "elsewhere"}
    assert project_of(files).validation_error() == ""
    (project / "l.py").unlink()
    (project / "l.py").symlink_to("a.py")
    assert (
        project_of(files).validation_error()
        == "l.py is a symbolic link, and no file of the project"
    )
    project_of(files).restore()
    assert os.readlink(project / "l.py") == "elsewhere"


def test_a_file_is_written_where_a_folder_is_and_below_one_that_is_a_file(folder: Path) -> None:
    files = open_run(folder)
    project = folder.parent.parent
    (project / "a.py").unlink()
    (project / "a.py").mkdir()
    commit(files, {"a.py": "new\n"})
    assert found(folder) == {"a.py": "new\n"}


def test_stop_manages_with_bytes_in_an_artifacts_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = folder.parent.parent
    monkeypatch.chdir(project)
    (project / "pytest-reflex.toml").write_text('[loop]\nroot = "state"\n')
    (project / "a.py").write_bytes(b"\xff")
    assert main(["loop", "stop"]) == 0
    assert found(folder) == OLD
