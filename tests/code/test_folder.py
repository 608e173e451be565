"""Checks of code on a folder: all its files, and the tests in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.model.enums import Outcome
from tests.code.judging import judge

pytestmark = pytest.mark.long


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "tests").mkdir(parents=True)
    (folder / "prices.py").write_text("def total(a: list[int]) -> int:\n    return sum(a)\n")
    (folder / "README.md").write_text("# Shop\n")
    test = "from prices import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    (folder / "tests" / "test_prices.py").write_text(test)
    return folder


def test_every_file_is_looked_at(shop: Path) -> None:
    assert judge(shop, "compiles").message == "2 Python files compile"
    (shop / "other.py").write_text("x = y\n")
    result = judge(shop, "bugs")
    assert result.message == "other.py: Undefined name `y` (F821)"
    assert result.location
    assert result.location.path == "shop/other.py"


def test_types_hold_across_files(shop: Path) -> None:
    assert judge(shop, "types").outcome is Outcome.PASS
    (shop / "use.py").write_text("from prices import total\n\ntotal('a')\n")
    assert judge(shop, "types").message.startswith("use.py: Argument 1 to ")


def test_tests_that_pass_are_counted(shop: Path) -> None:
    result = judge(shop, "tests")
    assert result.outcome is Outcome.PASS
    assert result.message == "1 passed"
    assert not list(shop.rglob("__pycache__"))


def test_tests_that_fail_are_named(shop: Path) -> None:
    (shop / "prices.py").write_text("def total(a: list[int]) -> int:\n    return 0\n")
    result = judge(shop, "tests")
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith("tests/test_prices.py: test_total")


def test_tests_that_cannot_be_collected_fail(shop: Path) -> None:
    (shop / "prices.py").unlink()
    result = judge(shop, "tests")
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith("tests/test_prices.py: ")


def test_folder_without_tests_has_none_to_fail(shop: Path) -> None:
    (shop / "tests" / "test_prices.py").unlink()
    assert judge(shop, "tests").message == "there are no tests in it"


def test_folder_without_python_fails(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    result = judge(tmp_path, "compiles")
    assert result.outcome is Outcome.FAIL
    assert result.message == f"there is no Python file in {tmp_path.name}"


@pytest.mark.parametrize("name", ["zipfile.py", "sysconfig.py", "dataclasses.py", "mypy.py"])
@pytest.mark.parametrize("aspect", ["types", "bugs"])
def test_tools_import_nothing_of_what_they_judge(tmp_path: Path, name: str, aspect: str) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "shop").mkdir()
    text = f"from pathlib import Path\n\nPath({str(ran)!r}).touch()\n"
    (tmp_path / "shop" / name).write_text(text)
    assert judge(tmp_path / "shop", aspect).outcome is Outcome.PASS
    assert not ran.exists()


def test_package_may_have_a_module_named_as_one_of_python(tmp_path: Path) -> None:
    for name in ("__init__.py", "shop.py"):
        (tmp_path / name).write_text("from . import types\n\nx: int = types.BOOK\n")
    (tmp_path / "types.py").write_text("from types import SimpleNamespace\n\nBOOK = 1\n")
    assert judge(tmp_path, "types").outcome is Outcome.PASS
    (tmp_path / "types.py").write_text("BOOK = 'a'\n")
    assert "Incompatible types in assignment" in judge(tmp_path, "types").message
