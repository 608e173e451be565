"""A verdict is of the bytes that it names: with tools behind it that have caches of their own.

As in `test_any_order`; here a verdict takes processes, so each tool judges `BY_TOOL` artifacts
after another one, in long rows, and each of them alone once. The suite has one short row of a
fifth of the tools.
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
from tests.properties.size import BY_TOOL, examples, is_full

pytestmark = pytest.mark.variants
BEHIND = 10
"""So many artifacts of a long row are judged after another one."""
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


@pytest.mark.long
@pytest.mark.parametrize("tool", KINDS)
@examples(BY_TOOL // BEHIND, in_suite=1)
@given(data=st.data())
def test_verdict_of_a_tool_does_not_depend_on_what_was_judged_before(
    tool: str, data: st.DataObject
) -> None:
    criteria, strategy = KINDS[tool]
    length = BEHIND + 1 if is_full() else 2
    found, alike = data.draw(rows(strategy, least=length, most=length))
    stamp = STAMP if alike else 0
    with TemporaryDirectory() as there:
        folder = Path(there)
        verdicts = in_a_row(criteria, folder, found, stamp)
        for place, (files, verdict) in enumerate(zip(found, verdicts, strict=True)):
            first = found.index(files)
            fresh = verdicts[first] if first < place else alone(criteria, folder, files, stamp)
            assert fresh == verdict


@pytest.mark.long
@pytest.mark.parametrize("tool", KINDS)
@examples(BY_TOOL // BEHIND, in_suite=1)
@given(data=st.data())
def test_verdict_of_a_tool_does_not_depend_on_what_is_judged_beside_it(
    tool: str, data: st.DataObject
) -> None:
    criteria, strategy = KINDS[tool]
    length = BEHIND if is_full() else 2
    found, alike = data.draw(rows(strategy, least=2, most=length))
    assert_same_side_by_side(criteria, found, STAMP if alike else 0)
