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
def editable(tmp_path: Path) -> EditableFiles:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/one.py").write_text("one = 1\n")
    return EditableFiles(root=tmp_path, patterns=("src/*.py",))


@pytest.mark.parametrize("number", ERRORS, ids=lambda number: errno.errorcode[number])
@pytest.mark.parametrize(
    ("name", "call"), [("src", "scandir"), ("one.py", "lstat"), ("one.py", "open")]
)
def test_a_file_that_cannot_be_read_now_was_not_removed(
    name: str, call: str, number: int, editable: EditableFiles
) -> None:
    with ReadSide(editable.root, Failing(name, number, call=call)), pytest.raises(UnreadableError):
        editable.read()
    with ReadSide(editable.root, Failing(name, number, times=1, call=call)):
        assert editable.read() == {"src/one.py": "one = 1\n"}


@pytest.mark.parametrize("call", ["lstat", "open", "pread"])
def test_a_file_that_cannot_be_read_now_is_not_moved_away(
    call: str, editable: EditableFiles
) -> None:
    failing = Failing("one.py", errno.EIO, call=call)
    with ReadSide(editable.root, failing), pytest.raises(UnreadableError):
        faults(editable, {"src/one.py": "one = 1\n"}, {})
    assert faults(editable, {"src/one.py": "one = 1\n"}, {}) == {}
