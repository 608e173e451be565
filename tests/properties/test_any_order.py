"""A verdict is of the bytes that it names: whatever was judged before in the same process.

Artifacts are judged one after the other at one place, by one host, or side by side in threads;
then each of them by a host that has judged nothing: the whole evaluations are the same. One in a
hundred is judged by a fresh process too. All kinds share `IN_PROCESS` examples; the suite has a
fiftieth of them, which takes ten seconds.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties import artifacts
from tests.properties.artifacts import one_file, rows
from tests.properties.judging import (
    STAMP,
    Files,
    alone,
    assert_same_side_by_side,
    in_a_row,
    in_own_process,
)
from tests.properties.size import IN_PROCESS, examples

pytestmark = pytest.mark.long

ONE_IN = 100
KINDS: dict[str, tuple[list[str], st.SearchStrategy[Files]]] = {
    "text": (["text", "base"], one_file(st.sampled_from(["a.md", "a.txt"]), artifacts.TEXTS)),
    "markdown": (
        ["documentation", "guide", "text"],
        one_file(st.sampled_from(["README.md", "docs/a.md"]), artifacts.MARKDOWN),
    ),
    "data": (["configuration", "data"], one_file(artifacts.DATA_NAMES, artifacts.DATA)),
    "api": (
        ["api-spec"],
        one_file(st.sampled_from(["a.yaml", "a.json", "a.md"]), artifacts.API_TEXTS),
    ),
    "python": (["program"], one_file(artifacts.MODULES, artifacts.PYTHON)),
    "folder of texts": (["notes"], artifacts.folder(artifacts.NOTES)),
    "folder of pages": (["pages"], artifacts.folder(artifacts.PAGES)),
    "folder of settings": (["configuration"], artifacts.folder(artifacts.SETTINGS)),
    "folder of programs": (["program"], artifacts.folder(artifacts.PROGRAMS)),
}
judged = count()


@pytest.mark.parametrize("kind", KINDS)
@examples(IN_PROCESS // len(KINDS), in_suite=IN_PROCESS // len(KINDS) // 50)
@given(data=st.data())
def test_verdict_does_not_depend_on_what_was_judged_before(kind: str, data: st.DataObject) -> None:
    names, strategy = KINDS[kind]
    criteria, (found, alike) = data.draw(st.sampled_from(names)), data.draw(rows(strategy))
    stamp = STAMP if alike else 0
    with TemporaryDirectory() as there:
        folder = Path(there)
        verdicts = in_a_row(criteria, folder, found, stamp)
        for place, (files, verdict) in enumerate(zip(found, verdicts, strict=True)):
            if files in found[:place]:
                assert verdict == verdicts[found.index(files)]
                continue
            assert alone(criteria, folder, files, stamp) == verdict
        if next(judged) % ONE_IN == 0:
            assert in_own_process(criteria, folder, found[-1], stamp) == verdicts[-1]


@pytest.mark.parametrize("kind", KINDS)
@examples(IN_PROCESS // len(KINDS) // 10, in_suite=10)
@given(data=st.data())
def test_verdict_does_not_depend_on_what_is_judged_beside_it(
    kind: str, data: st.DataObject
) -> None:
    names, strategy = KINDS[kind]
    criteria, (found, alike) = data.draw(st.sampled_from(names)), data.draw(rows(strategy))
    assert_same_side_by_side(criteria, found, STAMP if alike else 0)
