"""The command that tries mutants: what it mutates, by which tests, and what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cosmic_ray")

from tests.drivers.reflex.test_kill import wait_for
from tests.mutants import copies, core, equivalents, lines, listing
from tests.mutants.core import MODULES, ROOT
from tests.mutants.equivalents import Equivalent
from tests.mutants.listing import Change, Mutant, Source
from tests.mutants.report import Report, Result

pytestmark = pytest.mark.long

SOURCE = """\
LIMIT = 2


def enough(
    count: int | None,
    least: int = 1,
) -> bool:
    if not count:
        return False
    return (
        count >= least
        and count <= LIMIT
    )
"""


def mutant(start: tuple[int, int], operator: str, occurrence: int = 0, job: str = "a") -> Mutant:
    end = (start[0], start[1] + 1)
    return Mutant(
        module="pytest_reflex/verdict/gate.py",
        start=start,
        end=end,
        operator=f"core/{operator}",
        occurrence=occurrence,
        job=job,
    )


def test_the_tests_of_the_list_are_there() -> None:
    assert [place for place in core.TESTS if not (ROOT / place).exists()] == []


def test_the_modules_are_there_and_none_of_the_verdict_is_missing() -> None:
    assert [module for module in MODULES if not (ROOT / module).is_file()] == []
    verdict = {
        path.relative_to(ROOT).as_posix() for path in ROOT.glob("pytest_reflex/verdict/*.py")
    }
    assert verdict - set(MODULES) == {"pytest_reflex/verdict/__init__.py"}


@pytest.mark.parametrize("entry", equivalents.table(), ids=str)
def test_an_equivalent_mutant_has_a_reason_and_stands_where_it_says(entry: Equivalent) -> None:
    text = (ROOT / entry.module).read_text("utf-8")
    rows = [" ".join(line.split()) for line in text.splitlines()]
    places = [number for number, row in enumerate(rows, 1) if row == entry.old.split("\n")[0]]
    assert entry.function in {Source(text).function(number) for number in places}
    assert entry.old != entry.new
    assert len(entry.reason.split()) > 3


@pytest.mark.parametrize(
    ("line", "found"),
    [
        pytest.param(1, range(1, 15), id="a constant: the module"),
        pytest.param(6, range(8, 14), id="a default: the function's body"),
        pytest.param(8, range(8, 9), id="a condition: its head alone"),
        pytest.param(9, range(9, 10), id="what it guards"),
        pytest.param(12, range(10, 14), id="a statement of several lines"),
    ],
)
def test_a_change_is_tried_by_the_tests_of_its_statement(line: int, found: range) -> None:
    assert lines.lines_of(SOURCE, line, line) == found


def test_fast_tests_of_few_files_come_first_and_slow_ones_may_be_left_out() -> None:
    fast = [f"tests/a.py::test_{number:03}" for number in range(40)]
    slow = [f"tests/{name}.py::test_slow" for name in "bcde"]
    known = lines.Lines(
        tests={"m.py": {7: frozenset([*fast, *slow]), 9: frozenset(slow)}},
        seconds=dict.fromkeys(fast, 0.01) | dict.fromkeys(slow, 9.0),
    )
    first, then = known.choose("m.py", [7])
    assert first == fast[:30]
    assert then == [*fast[30:], *slow[:2]]
    assert known.choose("m.py", [9]) == [slow[:2]]
    assert known.choose("m.py", [1]) == known.choose("m.py", [7]), "of no test: of any"
    assert known.choose("other.py", [1]) == []


def test_the_time_is_shared_among_the_files_of_a_line() -> None:
    many = [f"tests/many.py::test_{number:03}" for number in range(150)]
    slow = [f"tests/{name}.py::test_{number}" for name in "abcdefghi" for number in range(9)]
    known = lines.Lines(
        tests={"m.py": {7: frozenset([*many, *slow])}},
        seconds=dict.fromkeys(many, 0.01) | dict.fromkeys(slow, 0.8),
    )
    chosen = [test for turn in known.choose("m.py", [7]) for test in turn]
    assert {test for test in chosen if test in many} == set(many)
    counts = [sum(test.startswith(f"tests/{name}.py") for test in chosen) for name in "abcdefghi"]
    assert set(counts) == {2, 3}
    assert sum(known.seconds[test] for test in chosen) <= lines.MOST_SECONDS


def test_annotations_decorators_of_classes_and_stars_are_not_mutated() -> None:
    source = Source("@dataclass(frozen=True)\nclass A:\n    b: int | None = 1 | 2\n\n\nf(*x)\n")
    kept = [
        place
        for place in [(1, 18), (3, 11), (3, 23), (6, 2)]
        if not source.declares(mutant(place, "ReplaceBinaryOperator_BitOr_BitAnd"))
    ]
    assert kept == [(3, 23)]


def test_a_sample_is_the_same_for_the_same_seed_and_lines() -> None:
    every = [mutant((number, 0), "AddNot", number) for number in range(1, 99)]
    first = listing.sample(every, 9, 1)
    assert listing.sample(every, 9, 1) == first
    assert listing.sample(every, 9, 2) != first
    assert len(listing.sample(every, 500, 1)) == 98
    assert listing.sample(every, 0, 1) == every
    fewer = [one for one in every if one not in first[:2]]
    assert set(first[2:]) < set(listing.sample(fewer, 9, 1)), "the others stay in it"


def test_a_change_is_shown_by_its_lines_without_indentation() -> None:
    new = SOURCE.replace("count >= least", "count >  least")
    assert listing.change(SOURCE, new) == Change(line=11, old="count >= least", new="count > least")


TESTS = """\
import time

from part import enough


def test_few():
    assert not enough(0)


def test_many():
    assert enough(2)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_part.py").write_text(TESTS)
    (tmp_path / "part.py").write_text(SOURCE)
    return tmp_path


def start(folder: Path) -> subprocess.Popen[str]:
    """Start the process that tries mutants, in a folder of its own."""
    program = f"""import sys
sys.path[:0] = [{str(ROOT)!r}, {str(folder)!r}]
from tests.mutants.trial import main
main(sys.stdin, sys.stdout)
"""
    command = [sys.executable, "-c", program]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, text=True)


def tried(folder: Path, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the process replies."""
    with start(folder) as process:
        output, _ = process.communicate("".join(json.dumps(one) + "\n" for one in requests), 120)
    assert process.returncode == 0
    return [json.loads(line) for line in output.splitlines()]


def request(old: str, new: str, *turns: tuple[str, int]) -> dict[str, Any]:
    """Return a request to try a change of the module by tests, each in a turn with its seconds."""
    return {
        "path": "part.py",
        "source": SOURCE,
        "mutated": SOURCE.replace(old, new),
        "turns": [[[f"test_part.py::{test}"], seconds] for test, seconds in turns],
    }


def test_a_mutant_is_killed_by_a_test_an_import_or_a_hang_and_leaves_no_trace(folder: Path) -> None:
    turns = ("test_few", 60), ("test_many", 60)
    replies = tried(
        folder,
        request("= 2", "= 1", *turns),
        request("= 2", "= 3", *turns),
        request("= 2", "= x", *turns),
        request("return False", "while True: pass", ("test_few", 2)),
        request("= 2", "= 3", ("test_gone", 60)),
        {"tests": ["test_part.py"], "seconds": 60},
    )
    assert replies == [
        {"outcome": "killed", "by": "test_part.py::test_many"},
        {"outcome": "survived", "by": ""},
        {"outcome": "killed", "by": "import"},
        {"outcome": "killed", "by": "timeout"},
        {"outcome": "unknown", "by": "pytest's status 4 of test_part.py::test_gone and others"},
        {"status": 0, "failed": []},
    ]
    assert (folder / "part.py").read_text() == SOURCE
    assert [path.name for path in folder.rglob("*.pyc") if path.name.startswith("part.")] == []


def test_who_is_told_to_end_ends_what_hangs_and_leaves_no_mutant(folder: Path) -> None:
    hang = "open('pid.new', 'w').write(str(os.getpid())); os.rename('pid.new', 'pid')"
    hang = f"import os; {hang}\n        while True: pass"
    with start(folder) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(request("return False", hang, ("test_few", 60))) + "\n")
        process.stdin.flush()
        wait_for((folder / "pid").exists)
        process.terminate()
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)
    assert (folder / "part.py").read_text() == SOURCE


LINE = "return bool(known) or self.gate.status is GateStatus.ERROR"
ENTRY = Equivalent(
    module="pytest_reflex/verdict/gate.py",
    function="SessionVerdict.concerned",
    old=LINE,
    new=LINE.replace(" or ", " and "),
    reason="what it means is the same",
)


def test_a_copy_is_as_the_working_tree_is_whatever_an_interrupt_left_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "ROOT", tmp_path)
    monkeypatch.setattr(copies, "CACHE", tmp_path / ".mutants")
    monkeypatch.setattr(core, "TESTS", ())
    module = tmp_path / MODULES[0]
    module.parent.mkdir(parents=True)
    module.write_text("LIMIT = 2\n")
    (module.parent / "gone.py").write_text("")
    (module.parent / "link.py").symlink_to(module)
    first = copies.renew("1")
    (first / MODULES[0]).write_text("LIMIT = 3\n")
    (first / "pytest_reflex/left.txt").write_text("by a test")
    (module.parent / "gone.py").unlink()
    assert copies.renew("1") == first
    assert (first / MODULES[0]).read_text() == module.read_text() == "LIMIT = 2\n"
    found = {path.name for path in first.rglob("*") if path.is_file()}
    assert {name for name in found if not name.endswith(".pyc")} == {module.name, "link.py"}
    assert not [name for name in found if name.startswith(f"{module.stem}.cpython")]
    assert (first / "pytest_reflex/verdict/link.py").is_symlink()


def told(table: list[Equivalent], *outcomes: str, killed: int = 0) -> tuple[bool, str]:
    """Return whether a run passes, and what it prints: outcomes of ENTRY's mutant, and kills."""
    text = (ROOT / ENTRY.module).read_text("utf-8")
    line = [row.strip() for row in text.splitlines()].index(LINE) + 1
    one, changed = next(
        (one, listing.change(text, new))
        for number in range(99)
        if (new := listing.mutated(one := mutant((line, 27), "ReplaceOrWithAnd", number), text))
        and ENTRY.new in new
    )
    every = [replace(one, job=str(number)) for number in range(len(outcomes) + killed)]
    results = {
        job: Result(outcome=outcome, by="t.py::test_a", change=changed, tests=3)
        for job, outcome in enumerate(outcomes)
    }
    results |= {
        len(outcomes) + n: Result(outcome="killed", by="t.py::test_b") for n in range(killed)
    }
    whole = Report(
        mutants=every,
        results={str(job): result for job, result in results.items()},
        table=table,
        every=every,
    )
    return whole.passed, "\n".join(whole.lines(7, 1.0))


def test_a_survivor_is_shown_with_its_line_and_fails_the_run() -> None:
    passed, text = told([], "survived", "invalid", killed=39)
    assert not passed
    source = [row.strip() for row in (ROOT / ENTRY.module).read_text("utf-8").splitlines()]
    number = source.index(ENTRY.old) + 1
    assert f":{number} in {ENTRY.function}\n    - {ENTRY.old}\n    + {ENTRY.new}\n" in text
    assert "    survived 3 tests" in text
    assert "killed 39 of 40 (97.5 %), seed 7, 0 equivalent, 1 to be killed" in text


def test_what_kills_a_mutant_has_to_pass_without_it() -> None:
    passed, text = told([], "unknown", killed=39)
    assert not passed
    assert "    unknown: t.py::test_a fails without it, too" in text


def test_an_entry_of_the_table_explains_a_survivor() -> None:
    passed, text = told([ENTRY], "survived", killed=19)
    assert passed
    assert f"    equivalent: {ENTRY.reason}" in text
    assert "killed 19 of 20 (95.0 %), seed 7, 1 equivalent, 0 to be killed, 0 entries" in text


def test_too_few_kills_fail_a_run_although_each_survivor_is_explained() -> None:
    passed, text = told([ENTRY], "survived", killed=18)
    assert not passed
    assert "killed 18 of 19 (94.7 %), seed 7, 1 equivalent, 0 to be killed, 0 entries" in text


@pytest.mark.variants
@pytest.mark.parametrize(
    ("change", "outcome", "why"),
    [
        pytest.param({"old": LINE + " "}, "killed", "there is no such mutant", id="line"),
        pytest.param(
            {"function": "SessionVerdict"}, "killed", "there is no such mutant", id="function"
        ),
        pytest.param({"new": "return 0"}, "killed", "there is no such mutant", id="change"),
        pytest.param({"module": "gone.py"}, "killed", "there is no such mutant", id="module"),
        pytest.param({}, "killed", "it is killed by t.py::test_a", id="killed"),
    ],
)
def test_an_entry_of_the_table_that_fits_no_survivor_fails_the_run(
    change: dict[str, str], outcome: str, why: str
) -> None:
    entry = replace(ENTRY, **change)
    passed, text = told([entry], outcome, killed=19)
    assert not passed
    assert f"out of date in tests/mutants/equivalent.toml: {entry}: {why}" in text
