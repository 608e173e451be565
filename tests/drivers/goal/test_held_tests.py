"""The tests that a command runs verify a goal, although the command names none of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.drivers.goal.protected_files import find_tests
from pytest_reflex.errors import ExitCode
from tests.drivers.goal.stage import SPEC, Stage

pytestmark = pytest.mark.long

THERE = (
    *("check_slugs.py", "slugs.py", "test_top.py", "tests/test_s.py", "tests/helper.py"),
    *("tests/data.json", "web/app.test.ts", "web/app.ts", "pkg/__init__.py", "pkg/slug_test.py"),
    *("node_modules/x/test_x.py", "testing.md", "attest.py"),
)
TESTS = {"test_top.py", "tests/test_s.py", "tests/helper.py", "web/app.test.ts", "pkg/slug_test.py"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in THERE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "held"),
    [
        ("pytest -q", TESTS),
        ("cd web && npm test", TESTS),
        ("python -m pytest tests -k slug", TESTS),
        ("make check", TESTS),
        ("python -m unittest discover -s tests", TESTS),
        ("python -m unittest -q check_slugs", TESTS | {"check_slugs.py"}),
        ("python -m unittest tests.test_s.Slugs.test_words", TESTS),
        ("python -m unittest pkg.slug_test", TESTS | {"pkg/__init__.py"}),
        ("python slugs.py Done", set()),
        ("grep -q alpha notes.txt", set()),
        ("sh 'unbalanced", set()),
        ("", set()),
    ],
)
def test_the_tests_that_are_there_are_held(project: Path, command: str, held: set[str]) -> None:
    found = {one for one in find_tests([command], project) if one.exists()}
    assert {str(one.relative_to(project)) for one in found} == held


@pytest.mark.parametrize("module", ["check_slugs", "check_slugs.Slugs", "tests.test_s"])
def test_what_would_be_imported_in_place_of_a_module_is_held(project: Path, module: str) -> None:
    found = find_tests([f"python -m unittest -q {module}"], project)
    stem = module.removesuffix(".Slugs").replace(".", "/")
    assert {
        project / stem / "__init__.py",
        project / stem.partition("/")[0] / "__init__.py",
        project / f"{stem}.so",
    } <= {*found}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python -m unittest -q check_notes", "check_notes.py"),
        ("python -m unittest -q check_notes", "check_notes/__init__.py"),
        ("python -m unittest -q", "test_notes.py"),
        ("python -m unittest discover -s tests", "tests/test_deep.py"),
        ("python -m unittest tests.test_deep", "tests/__init__.py"),
    ],
)
def test_who_weakens_the_tests_ships_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    """Where the work is not done and the tests are spoilt, they are put back, and fail."""
    fails = "import unittest\nclass Notes(unittest.TestCase):\n def test_it(self): assert 0\n"
    for there in ("check_notes.py", "test_notes.py", "tests/test_deep.py"):
        stage.write(there, fails)
    spec = SPEC.replace("`grep -q alpha notes.txt`", f"`{command}`")

    def cheat(stage: Stage) -> None:
        stage.write(
            name,
            fails.replace("assert 0", "pass")
            if "__init__" not in name
            else "import os\nos._exit(0)\n",
        )
        stage.add("beta")
        stage.say(claims=dict.fromkeys(stage.met(), True), exits=True)

    stage.deeds = [cheat]
    assert stage.start("--max-iterations", "1", spec=spec) == ExitCode.ITERATION_LIMIT
    out, err = capsys.readouterr()
    assert f"Put back, because it verifies the goal: {name}" in err
    assert "SHIP" not in out


@pytest.mark.parametrize("scope", [
    "tests", "`tests/test_deep.py`", "tests/ and notes.txt", "`notes.txt` and its tests",
])  # fmt: skip
def test_tests_that_are_the_work_may_change(stage: Stage, scope: str) -> None:
    stage.write("tests/test_deep.py", "import unittest\n")
    spec = SPEC.replace("`grep -q alpha notes.txt`", "`python -m unittest discover -s tests`")
    stage.deeds = [
        lambda stage: stage.write("tests/test_deep.py", "import unittest  # new\n") and ""
    ]
    stage.start("--max-iterations", "1", spec=spec.replace("Scope: `notes.txt`", f"Scope: {scope}"))
    assert "new" in (stage.folder / "tests/test_deep.py").read_text()


def test_a_test_that_is_added_stays(stage: Stage) -> None:
    stage.write("tests/test_deep.py", "import unittest\n")
    spec = SPEC.replace("`grep -q alpha notes.txt`", "`python -m unittest discover -s tests`")
    stage.deeds = [lambda stage: stage.write("tests/test_more.py", "import unittest\n") and ""]
    stage.start("--max-iterations", "1", spec=spec)
    assert (stage.folder / "tests/test_more.py").exists()
    assert not stage.iterations()[0]["restored"]
