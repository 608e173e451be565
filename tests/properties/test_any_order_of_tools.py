"""A verdict is of the bytes that it names: with tools behind it that have caches of their own.

As in `test_any_order`; here a verdict takes processes, so each tool has `BY_TOOL` examples, and the
suite has one of a fifth of the tools.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties import artifacts
from tests.properties.artifacts import one_file, rows
from tests.properties.judging import STAMP, Files, alone, assert_same_side_by_side, in_a_row
from tests.properties.size import BY_TOOL, examples

pytestmark = pytest.mark.variants
SHORT = st.lists(st.sampled_from(artifacts.STATEMENTS), max_size=4).map("".join)
PROGRAMS = one_file(artifacts.MODULES, SHORT) | artifacts.folder(
    st.tuples(st.sampled_from(["a.py", "b.py", "json.py", "pkg/__init__.py"]), SHORT), most=3
)
VALUES = st.sampled_from(["1", "2", "0", "''", "f", "open('gone')"])
MODULES = st.builds(lambda value, more: f"x = {value}\n{more}", VALUES, SHORT)
TESTED = st.builds(
    lambda value, wanted: {
        "a.py": f"x = {value}\n".encode(),
        "test_a.py": f"from a import x\n\ndef test_x():\n    assert x == {wanted}\n".encode(),
    },
    VALUES,
    VALUES,
)
FOUND: list[Any] = [[], [{"m": "bad"}], [{"m": "sad"}], [{}], {"a": 1}]
REPORTS = st.sampled_from(
    [
        *(f"open('report.json', 'w').write('{json.dumps(found)}')\n" for found in FOUND),
        "print('no report')\n",
        "raise SystemExit(3)\n",
        "import pathlib\npathlib.Path('report.json').unlink(missing_ok=True)\n",
    ]
)
KINDS: dict[str, tuple[str, st.SearchStrategy[Files]]] = {
    "mypy": ("typed", PROGRAMS),
    "ruff": ("linted", PROGRAMS),
    "pytest": ("tested", TESTED),
    "a command": ("commands", one_file(st.just("module.py"), MODULES)),
    "a report": ("reports", one_file(st.sampled_from(["a.py", "b.py"]), REPORTS)),
}


@pytest.fixture(autouse=True)
def byte_code_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands keep what they compile, as they do where nobody says otherwise."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


@pytest.mark.parametrize("tool", KINDS)
@examples(BY_TOOL, in_suite=1)
@given(data=st.data())
def test_verdict_of_a_tool_does_not_depend_on_what_was_judged_before(
    tool: str, data: st.DataObject
) -> None:
    criteria, strategy = KINDS[tool]
    found, alike = data.draw(rows(strategy, most=2))
    stamp = STAMP if alike else 0
    with TemporaryDirectory() as there:
        folder = Path(there)
        verdicts = in_a_row(criteria, folder, found, stamp)
        for files, verdict in zip(found, verdicts, strict=True):
            assert alone(criteria, folder, files, stamp) == verdict


@pytest.mark.parametrize("tool", KINDS)
@examples(BY_TOOL, in_suite=1)
@given(data=st.data())
def test_verdict_of_a_tool_does_not_depend_on_what_is_judged_beside_it(
    tool: str, data: st.DataObject
) -> None:
    criteria, strategy = KINDS[tool]
    found, alike = data.draw(rows(strategy, most=3))
    assert_same_side_by_side(criteria, found, STAMP if alike else 0)
