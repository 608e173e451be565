"""What a spec has changed may change, although a command that verifies names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.drivers.goal.spec import may_change
from pytest_reflex.integrity.patterns import is_meant


@pytest.mark.parametrize(
    ("spec", "name", "may"),
    [
        ("Fix it.\nScope: `app.py`\n", "app.py", True),
        ("Fix it.\nScope: `app.py`\n", "check.py", False),
        ("Fix it.\nScope: src/shop, `docs/`\n", "src/shop/deep/one.py", True),
        ("Fix it.\nScope: all but not `app.py`\n", "app.py", False),
        ("Fix it.\nScope:\n- `app.py`\n- do not touch `other.py`\n", "other.py", False),
        ("Fix `app.py`, so that `check.py` passes.", "app.py", True),
        ("Fix `app.py`, so that `check.py` passes.", "check.py", False),
        ("Fix app/main.py and tests/test_main.py.", "app/main.py", True),
        ("Fix app/main.py and tests/test_main.py.", "tests/test_main.py", False),
        ("Fix it.\nScope: tests/test_main.py\n", "tests/test_main.py", True),
        ("Fix it.\nConstraints: `app.py` stays\n", "app.py", False),
        ("Fix it.\nSuccess:\n- `python app.py` exits 0\n", "app.py", False),
        ("Fix it.\nScope: `../app.py`, `/etc/app.py`\n", "etc/app.py", False),
    ],
)
def test_the_scope_of_a_spec_may_change(tmp_path: Path, spec: str, name: str, may: bool) -> None:
    assert is_meant(name, may_change(spec, [], tmp_path)) is may


@pytest.mark.parametrize(
    ("command", "name", "may"),
    [
        ("python new.py Ada", "new.py", True),
        ("python old.py Ada", "old.py", False),
        ("python ./deep/new.py --config conf.toml", "deep/new.py", True),
        ("sh 'unbalanced", "unbalanced", False),
        ("cat ../out.txt", "out.txt", False),
    ],
)
def test_what_is_not_there_yet_may_be_made(
    tmp_path: Path, command: str, name: str, may: bool
) -> None:
    (tmp_path / "old.py").write_text("x")
    assert is_meant(name, may_change("Add it.", [command], tmp_path)) is may
