"""Each verdict is of the bytes it names: no tool answers from what it learnt of another text."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.model.enums import Outcome
from tests.code.judging import judge

pytestmark = pytest.mark.variants

# Texts of one size: the first has a wrong type, the second has none.
PAIRS = {
    "a method that is called": (
        "def words(text):\n    return text\n\n\na: str = len('text')\n",
        "def words(text):\n    return text\n\n\na: int = len('text')\n",
    ),
    "an argument": (
        "def f(a: int) -> int:\n    return a\n\n\nf('1')\n",
        "def f(a: str) -> str:\n    return a\n\n\nf('1')\n",
    ),
    "what is returned": ("def f() -> int:\n    return ''\n", "def f() -> str:\n    return ''\n"),
}


@pytest.mark.long
@pytest.mark.parametrize(("wrong", "right"), PAIRS.values(), ids=PAIRS.keys())
def test_types_of_two_texts_of_one_size(wrong: str, right: str) -> None:
    assert len(wrong) == len(right)
    judge("a = 1\n", "types")  # the standard library is learnt
    outcomes = [judge(text, "types").outcome for text in (wrong, right, wrong, right)]
    assert outcomes == [Outcome.FAIL, Outcome.PASS] * 2


@pytest.mark.long
def test_types_in_a_folder_follow_the_module_that_changed(tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text("def total() -> int: return len('')\n")
    (tmp_path / "use.py").write_text("from prices import total\n\nx: int = total()\n")
    outcomes = []
    for returned in ("int", "str", "int", "str"):
        value = {"int": "len('')", "str": "str(11)"}[returned]
        (tmp_path / "prices.py").write_text(f"def total() -> {returned}: return {value}\n")
        outcomes.append(judge(tmp_path, "types").outcome)
    assert outcomes == [Outcome.PASS, Outcome.FAIL] * 2


@pytest.mark.long
def test_a_module_that_another_artifact_had_is_missing_in_this(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "use.py").write_text("from prices import total\n\nx: str = total()\n")
        (folder / "z.py").write_text("x = 1\n")
    (first / "prices.py").write_text("def total() -> int:\n    return 1\n")
    assert judge(first, "types").outcome is Outcome.FAIL
    assert judge(second, "types").outcome is Outcome.PASS
    assert judge(first, "types").outcome is Outcome.FAIL


CODE = {True: "def total(): return 3\n", False: "def total(): return 4\n"}
TEST = "from prices import total\n\n\ndef test_total():\n    assert total() == 3\n"


@pytest.mark.long
@pytest.mark.parametrize("stale", [True, False], ids=["stale is right", "stale is wrong"])
@pytest.mark.parametrize("of", ["prices.py", "test_prices.py"])
def test_tests_do_not_run_byte_code_of_another_text(tmp_path: Path, stale: bool, of: str) -> None:
    def write(right: bool) -> None:
        text = CODE[right] if of == "prices.py" else TEST.replace("3", "3" if right else "4")
        (tmp_path / of).write_text(text)
        os.utime(tmp_path / of, (1_700_000_000, 1_700_000_000))

    (tmp_path / "prices.py").write_text(CODE[True])
    (tmp_path / "test_prices.py").write_text(TEST)
    write(stale)
    if of == "prices.py":
        py_compile.compile(str(tmp_path / of))
    else:
        _leave_rewritten(tmp_path)
    write(not stale)
    assert judge(tmp_path, "tests").outcome is (Outcome.FAIL if stale else Outcome.PASS)


def _leave_rewritten(folder: Path) -> None:
    """Run the tests as a user does: pytest leaves the byte code with its asserts rewritten."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "--rootdir=."],
        cwd=folder,
        env=env,
        capture_output=True,
        check=False,
    )
    assert list(folder.rglob("test_prices.*pytest*.pyc"))
