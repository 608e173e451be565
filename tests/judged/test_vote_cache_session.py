"""Kept votes in pytest sessions: plain, with workers, and in the sessions of a loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.drivers.pytest_loop.stage import Project
from tests.judged.jurors import BODIES, configured, program
from tests.judged.test_vote_cache import SUITE, VOTES, calls, kept
from tests.plugin.conftest import project, run, run_workers

pytestmark = [pytest.mark.long, pytest.mark.variants]

__all__ = ["project", "run", "run_workers"]

JUDGED = "--reflex-judge=jury"


@pytest.fixture
def suite(project: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project.path
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    (folder / "mini.reflex.yaml").unlink()
    (folder / "tone.reflex.yaml").write_text(SUITE)
    (folder / "a.md").write_text("A polite text.\n")
    configured(folder, "counts")
    return folder


def test_a_session_asks_nothing_twice_and_says_so(suite: Path, run: Any) -> None:
    run(JUDGED).assert_outcomes(passed=2)
    result = run(JUDGED)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["JUDGED *2 of 2 rules by an agent (jury), 3 votes, cached*"])
    assert calls(suite) == VOTES


def test_what_workers_bought_is_kept_for_all(suite: Path, run: Any, run_workers: Any) -> None:
    run_workers(JUDGED)
    assert (calls(suite), len(kept(suite))) == (VOTES, VOTES)
    run_workers(JUDGED)
    run(JUDGED)
    assert calls(suite) == VOTES


WAYS = {
    "the option": (("--reflex-no-judge-cache",), "[pytest]\n"),
    "the ini key": ((), "[pytest]\nreflex_no_judge_cache = true\n"),
    "pytest's own option": (("--cache-clear",), "[pytest]\n"),
}


@pytest.mark.parametrize(("words", "ini"), WAYS.values(), ids=WAYS)
def test_a_session_may_ask_anew(words: tuple[str, ...], ini: str, suite: Path, run: Any) -> None:
    run(JUDGED)
    (suite / "pytest.ini").write_text(ini)
    run(JUDGED, *words)
    assert calls(suite) == 2 * VOTES


def test_workers_may_ask_anew_and_keep_it(suite: Path, run: Any, run_workers: Any) -> None:
    run(JUDGED)
    run_workers(JUDGED, "--cache-clear")
    assert (calls(suite), len(kept(suite))) == (2 * VOTES, VOTES)


@pytest.mark.parametrize("workers", [False, True])
def test_a_test_plants_no_vote(
    workers: bool, suite: Path, run: Any, run_workers: Any, tmp_path: Path
) -> None:
    """What it writes is not read in its session, and not there in the next one."""
    run(JUDGED)
    honest = {path: path.read_bytes() for path in kept(suite)}
    for path in honest:
        path.unlink()
    (suite / "test_plants.py").write_text(
        "import pathlib\n"
        "def test_it():\n"
        f"    for path, data in { ({str(p): d for p, d in honest.items()})!r}.items():\n"
        "        pathlib.Path(path).write_bytes(data)\n"
        f"    pathlib.Path({str(next(iter(honest)).parent / ('c' * 64 + '.json'))!r}).touch()\n"
    )
    (run_workers if workers else run)(JUDGED)
    assert calls(suite) == 2 * VOTES
    assert {path.name for path in kept(suite)} == {path.name for path in honest}


def test_sessions_of_a_loop_buy_a_vote_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text that is judged stays as it is while the agent fixes the code."""
    for name in ("CI", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    loop = Project(tmp_path / "project", "fix()")
    asked = tmp_path / "asked"
    body = f"open({str(asked)!r}, 'a').write('x'); {BODIES['pass']}"
    config = (loop.folder / "pytest-reflex.toml").read_text()
    command = program(loop.folder, body)
    loop.write("pytest-reflex.toml", f"{config}[agents.jury]\ncommand = {command}\n")
    loop.write("tone.reflex.yaml", SUITE)
    loop.write("a.md", "A polite text.\n")
    assert loop.play(JUDGED, "--reflex-max-iterations=3") == 0
    assert loop.state()["iteration"] == 2
    assert len(asked.read_text()) == VOTES
