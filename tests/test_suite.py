"""The suite itself: the same in each run, nothing left behind, and no loop without an end."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.reflex import driver
from pytest_reflex.drivers.reflex.decide import Action, Decision
from pytest_reflex.drivers.reflex.driver import ReflexDriver
from pytest_reflex.drivers.reflex.steps import StepOutcome, phase_error
from pytest_reflex.model.enums import Step
from tests.conftest import MOST_STEPS
from tests.drivers.reflex.stage import Script, Stage

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
LEAVES = {
    "a folder": "import tempfile; tempfile.mkdtemp(prefix='reflex-')",
    "a folder of a session": "import tempfile; tempfile.mkdtemp(prefix='pytest-reflex-')",
    "a file": "import tempfile; tempfile.NamedTemporaryFile(delete=False).close()",
    "a folder of a child": "import subprocess; subprocess.run(['mktemp', '-d'], check=True)",
}
TIDY = {
    "nothing": "pass",
    "what goes with the process": (
        "from pytest_reflex.process.guard import make_folder; make_folder('reflex-')"
    ),
    "a folder in time": "import tempfile; tempfile.TemporaryDirectory().cleanup()",
}


def session(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(f"def test_it():\n    {source}\n")
    argv = [sys.executable, "-m", "pytest", "-p", "conftest", "-c", str(ROOT / "pyproject.toml")]
    argv += ["-p", "no:cacheprovider", "-p", "no:randomly", str(folder), *arguments]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    env |= {
        "TMPDIR": str(folder),
        "PYTEST_DEBUG_TEMPROOT": str(folder),
        "TESTS_WAIT_SECONDS": "0.2",
    }
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True)


def ours(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir() if one.name.startswith("tests-of-reflex-")]


@pytest.mark.parametrize("source", LEAVES.values(), ids=LEAVES.keys())
def test_a_session_that_leaves_something_fails(tmp_path: Path, source: str) -> None:
    done = session(tmp_path, source)
    assert "1 passed" in done.stdout
    assert "ERROR: stayed in the temporary folder: " in done.stdout
    assert (done.returncode, ours(tmp_path)) == (1, [])


@pytest.mark.parametrize("source", TIDY.values(), ids=TIDY.keys())
def test_a_session_that_tidies_up_passes(tmp_path: Path, source: str) -> None:
    done = session(tmp_path, source)
    assert (done.returncode, ours(tmp_path)) == (0, []), done.stdout


def test_workers_are_looked_after_too(tmp_path: Path) -> None:
    done = session(tmp_path, LEAVES["a folder"], "-n", "1")
    assert "ERROR: stayed in the temporary folder: reflex-" in done.stdout
    assert (done.returncode, ours(tmp_path)) == (1, [])


def test_one_helper_sends_our_own_process_signals_and_it_waits_for_a_fact() -> None:
    """A signal that comes late interrupts the worker, and with it the whole run."""
    found = set()
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "os.kill" in text else ():
            if isinstance(node, ast.Call):
                told = [ast.unparse(one) for one in (node.func, *node.args)]
                if told[:2] == ["os.kill", "os.getpid()"] or "os.kill" in told[1:]:
                    found.add(path.relative_to(ROOT / "tests").as_posix())
    # The other one is run as a program, which kills itself.
    assert found == {"process/zoo.py", "faults/intercepted.py"}


def test_examples_are_the_same_in_each_run(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--hypothesis-profile") not in (None, "", "gate"):
        pytest.skip("another profile was asked for")
    assert (settings().derandomize, settings().deadline, settings().database) == (True, None, None)


WORDS = {
    "a module": "ODD = 'qvxz-wombat'\n",
    "many words": "".join(f"W{n} = 'qvxz-{n}'\n" for n in range(200)),
    "numbers in a function": "def odd():\n    return (918273645, 'qvxz')\n",
}


@pytest.mark.parametrize("source", WORDS.values(), ids=WORDS.keys())
def test_examples_do_not_depend_on_what_else_is_loaded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
    source: str,
) -> None:
    if pytestconfig.getoption("--hypothesis-profile") == "fuzz":
        pytest.skip("words of the code are welcome there")
    before = examples()
    (tmp_path / "odd_words.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "odd_words", importlib.import_module("odd_words"))
    after = examples()
    assert "qvxz" not in repr(after)
    assert after == before


def examples() -> list[object]:
    found: list[object] = []

    @given(st.text() | st.integers())
    @settings(derandomize=True, database=None, deadline=None, max_examples=200)
    def take(value: object) -> None:
        found.append(value)

    take()
    return found


def told_by_make_test(*variables: str) -> str:
    """Return the commands of `make test`."""
    # A `make test SEED=2` that runs this hands its variables on.
    own = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "SEED", "SHARE", "WORKERS")
    return subprocess.run(
        ["make", "-n", "-o", ".venv/dev-ready", "test", *variables],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in own},
        capture_output=True,
        text=True,
    ).stdout


def test_make_test_fixes_examples_and_order() -> None:
    told = told_by_make_test()
    for option in ("--dist loadfile", "--hypothesis-profile=gate", "--randomly-seed=1"):
        assert option in told
    assert "--share=3/5" in told_by_make_test("SHARE=3/5")


def test_each_share_has_commits_and_seeds() -> None:
    assert told_by_make_test() == told_by_make_test()
    by_seed = [told_by_make_test(f"SEED={seed}") for seed in range(1, 21)]
    by_commit = [told_by_make_test(f"COMMIT=00000{number:02x}") for number in range(20)]
    for found in by_seed, by_commit:
        shares = re.findall(r"--share=(\d+)/20 ", "\n".join(found))
        assert sorted(map(int, shares)) == list(range(1, 21))
    assert re.search(r"--share=(1?[1-9]|[12]0)/20 ", told_by_make_test("COMMIT="))  # no repository


TABLE = """\
import pytest
pytestmark = pytest.mark.variants
@pytest.mark.parametrize("n", range(7))
def test_long(n): pass
@pytest.mark.parametrize("n", range(2))
def test_short(n): pass
@pytest.mark.variants(parts=2)
@pytest.mark.parametrize("n", range(4))
def test_halved(n): pass
def test_alone(): pass
"""
LONG = """\
import pytest
pytestmark = pytest.mark.long
def test_a(): pass
def test_b(): pass
def test_c(): pass
@pytest.mark.variants
@pytest.mark.parametrize("n", range(2))
def test_table(n): pass
"""
ONE_LONG = """\
import pytest
@pytest.mark.long
def test_d(): pass
def test_quick(): pass
"""


def test_the_shares_of_a_table_have_each_variant_once(pytester: pytest.Pytester) -> None:
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(TABLE)
    pytester.makeini("[pytest]\nmarkers =\n    variants\n    long\n")
    run: list[list[str]] = []
    for share in ("1/3", "2/3", "3/3"):
        done = pytester.runpytest_subprocess("-v", "-p", "no:randomly", f"--share={share}")
        assert done.ret == 0
        run.append(re.findall(r"::(test_\S+) PASSED", str(done.stdout)))
    long = [name for names in run for name in names if name.startswith("test_long")]
    assert sorted(long) == [f"test_long[{n}]" for n in range(7)]
    assert all("test_alone" in names for names in run)
    for table, most in ("test_short", 1), ("test_halved", 2):
        parts = [{name for name in names if name.startswith(table)} for names in run]
        assert [len(part) for part in parts] == [most] * 3
        assert parts[0] == parts[2] != parts[1]
        assert len(parts[0] | parts[1]) == 2 * most


def test_the_shares_of_the_long_tests_of_a_folder_have_each_once(pytester: pytest.Pytester) -> None:
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(test_all_long=LONG, test_one_long=ONE_LONG)
    pytester.makeini("[pytest]\nmarkers =\n    variants\n    long\n")
    run: list[str] = []
    for share in ("1/2", "2/2"):
        done = pytester.runpytest_subprocess("-v", "-p", "no:randomly", f"--share={share}")
        assert done.ret == 0
        names = re.findall(r"::(test_\S+) PASSED", str(done.stdout))
        names.remove("test_quick")
        assert len(names) == 3
        run += names
    long = ["test_a", "test_b", "test_c", "test_d", "test_table[0]", "test_table[1]"]
    assert sorted(run) == long


def test_without_a_share_all_variants_run(pytester: pytest.Pytester) -> None:
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(TABLE)
    pytester.makeini("[pytest]\nmarkers =\n    variants\n    long\n")
    pytester.runpytest_subprocess("-p", "no:randomly").assert_outcomes(passed=14)


def test_a_loop_without_an_end_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(*arguments: Any, **options: Any) -> Decision:
        return Decision(Action.STEP, Step.PLAN)

    def performed(self: ReflexDriver, *arguments: object) -> Iterator[StepOutcome]:
        yield phase_error(Step.PLAN, "again")

    monkeypatch.setattr(driver, "decide", again)
    monkeypatch.setattr(ReflexDriver, "perform", performed)
    with pytest.raises(AssertionError, match=f"a loop of more than {MOST_STEPS} events"):
        Stage(tmp_path).play(Script())
