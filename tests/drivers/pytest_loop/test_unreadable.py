"""A file of the project that cannot be read now was not removed, and is not a wrong artifact."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles, faults
from pytest_reflex.errors import UnreadableError
from tests.drivers.reflex.test_unreadable import ERRORS, Failing
from tests.faults.read_side import ReadSide

pytestmark = pytest.mark.variants


@pytest.fixture
def territory(tmp_path: Path) -> EditableFiles:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/one.py").write_text("one = 1\n")
    return EditableFiles(root=tmp_path, patterns=("src/*.py",))


@pytest.mark.parametrize("number", ERRORS, ids=lambda number: errno.errorcode[number])
@pytest.mark.parametrize(
    ("name", "call"), [("src", "scandir"), ("one.py", "lstat"), ("one.py", "open")]
)
def test_a_file_that_cannot_be_read_now_was_not_removed(
    name: str, call: str, number: int, territory: EditableFiles
) -> None:
    with ReadSide(territory.root, Failing(name, number, call=call)), pytest.raises(UnreadableError):
        territory.read()
    with ReadSide(territory.root, Failing(name, number, times=1, call=call)):
        assert territory.read() == {"src/one.py": "one = 1\n"}


@pytest.mark.parametrize("call", ["lstat", "open", "pread"])
def test_a_file_that_cannot_be_read_now_is_not_moved_away(
    call: str, territory: EditableFiles
) -> None:
    failing = Failing("one.py", errno.EIO, call=call)
    with ReadSide(territory.root, failing), pytest.raises(UnreadableError):
        faults(territory, {"src/one.py": "one = 1\n"}, {})
    assert faults(territory, {"src/one.py": "one = 1\n"}, {}) == {}
