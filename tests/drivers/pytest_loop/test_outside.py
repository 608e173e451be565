"""A loop over a session is stopped, or told something, by who does not drive it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.pytest_loop.test_files import folder, found

__all__ = ["folder"]


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent.parent)
    Path("pytest-reflex.toml").write_text('[loop]\nroot = "state"\n')
    Path("a.py").write_text("by hand\n")


def kinds(folder: Path) -> list[str]:
    lines = (folder / "history.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["event"] for line in lines]


def test_stop_takes_up_what_a_person_made_of_the_files(folder: Path) -> None:
    assert main(["loop", "stop"]) == 0
    assert kinds(folder)[-2:] == ["artifact_created", "stopped"]
    assert found(folder) == {"a.py": "by hand\n"}


def test_status_says_how_it_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["loop", "status"])
    again = "pytest --reflex-loop --reflex-resume run\n"
    assert capsys.readouterr().out.endswith(f"Continue with: {again}")
    main(["loop", "stop"])
    main(["loop", "status"])
    more = again.replace("\n", " --reflex-max-iterations +2\n")
    assert capsys.readouterr().out.endswith(f"Go on with: {more}")


def test_feedback_leaves_the_files_alone(folder: Path) -> None:
    assert main(["loop", "feedback", "run", "shorter"]) == 0
    assert kinds(folder)[-1] == "feedback_given"
    assert found(folder) == {"a.py": "by hand\n"}
