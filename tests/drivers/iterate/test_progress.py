"""A gate may ask for fewer failures than before: progress is not a failure, and has an end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.measure import count_failures
from pytest_reflex.drivers.iterate.model import GateResult, IterationGate
from pytest_reflex.drivers.iterate.progress import Known, compare
from tests.drivers.iterate.project import told, untimed

pytestmark = pytest.mark.variants

Captured = pytest.CaptureFixture[str]
Run = Callable[..., tuple[int, list[str]]]


def result(
    name: str, number: int | None, how: str = "pytest 1", *, progress: bool = True
) -> GateResult:
    """Return a gate with so many failures; 0 is a pass, None was not counted."""
    passed = number == 0
    found = None if number is None else ("pass", 0) if passed else (how, number)
    return GateResult(
        gate=IterationGate(name=name, command="x", progress=progress),
        outcome="pass" if passed else "fail",
        summary="s",
        seconds=0.1,
        failures=found,
    )


@pytest.mark.parametrize(
    ("known", "now", "better"),
    [
        ({"a": {"pytest 1": 3}}, [result("a", 2)], "a has 2 failures, before 3"),
        ({"a": {"pytest 1": 2}}, [result("a", 1)], "a has 1 failure, before 2"),
        ({"a": {"pytest 1": 3}}, [result("a", 3)], ""),
        ({"a": {"pytest 1": 3}}, [result("a", 4)], ""),
        ({}, [result("a", 2)], ""),
        ({"a": {"pytest 2": 9}}, [result("a", 2)], ""),
        ({"a": {"unittest 1": 9}}, [result("a", 2)], ""),
        ({"a": {"pass": 0, "pytest 1": 9}}, [result("a", 2)], ""),
        ({"a": {"pytest 1": 3}}, [result("a", None)], ""),
        ({"a": {"pytest 1": 3}}, [result("a", 2, progress=False)], ""),
        ({"a": {"x": 3}, "b": {"x": 1}}, [result("a", 2, "x"), result("b", 1, "x")],
         "a has 2 failures, before 3"),
        ({"a": {"x": 3}, "b": {"x": 1}}, [result("a", 2, "x"), result("b", 2, "x")], ""),
        ({"a": {"x": 3}, "b": {"x": 1}}, [result("a", 3, "x"), result("b", 0)], "b passes"),
        ({"a": {"x": 3}, "b": {"pass": 0}}, [result("a", 2, "x"), result("b", 1, "x")], ""),
        ({"a": {"x": 3}}, [result("a", 2, "x"), result("b", 1, "x", progress=False)], ""),
        ({"a": {"x": 3}}, [result("a", 0)], ""),
    ],
)  # fmt: skip
def test_progress_is_fewer_failures_than_ever_and_nothing_worse(
    known: Known, now: list[GateResult], better: str
) -> None:
    assert compare(now, known).better == better


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), max_size=40))
def test_progress_has_an_end(rows: list[list[int]]) -> None:
    known: Known = {}
    made = 0
    for a, b in rows:
        found = compare([result("a", a), result("b", b)], known)
        known, made = found.known, made + bool(found.better)
    assert made <= 8


@pytest.mark.parametrize(
    ("output", "counted"),
    [
        ("==== 2 failed, 3 passed, 1 error in 0.12s ====", ("pytest", 3)),
        ("FAILED t.py::a - x\n2 failed, 3 passed in 0.12s", ("pytest", 2)),
        ("5 passed in 61.00s (0:01:01)\n", ("pytest", 0)),
        ("Ran 5 tests\n\nFAILED (failures=2, errors=1, skipped=4)", ("unittest", 3)),
        ("Tests:       3 failed, 5 passed, 8 total\n", ("jest", 3)),
        ("      Tests  2 failed | 3 passed (5)", ("jest", 2)),
        (("test result: FAILED. 3 passed; 2 failed; 0 ignored;\n"
         "test result: FAILED. 0 passed; 1 failed; 0 ignored;"), ("cargo", 3)),
        ("Tests: 5, Assertions: 9, Errors: 1, Failures: 2.", ("phpunit", 3)),
        ("5 examples, 2 failures, 1 pending", ("rspec", 2)),
        ("  1 passing (4ms)\n  3 failing", ("mocha", 3)),
        ("# tests 9\n# fail 2", ("node", 2)),
        ("\u2716 7 problems (5 errors, 2 warnings)", ("eslint", 7)),
        ("Found 12 errors in 3 files (checked 9 source files)", ("linter", 12)),
        ("\x1b[31mFound 1 error.\x1b[0m", ("linter", 1)),
        ("--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b\nFAIL", ("go", 2)),
        ("it broke", None),
        ("", None),
    ],
)  # fmt: skip
def test_failures_are_read_off_the_summaries_of_tools(
    output: str, counted: tuple[str, int] | None
) -> None:
    assert count_failures(output) == counted


@pytest.mark.parametrize(
    ("pattern", "output", "number"),
    [
        (r"(\d+) open", "9 open\nthen 4 open", 4),
        (r"^BAD ", "BAD a\nBAD b\nGOOD c", 2),
        (r"(\d+) red, (\d+) grey", "1 red, 2 grey", 3),
        (r"(\w+) open", "many open", None),
        (r"(\d+) open", "nothing", None),
    ],
)
def test_a_pattern_of_the_configuration_counts(
    pattern: str, output: str, number: int | None
) -> None:
    found = count_failures(output, pattern)
    assert found == (None if number is None else (pattern, number))


# One of four gates is fixed in each iteration, and SUCCESS is said when none is left.
WEAK = """\
for one in broken-*; do rm "$one"; break; done
echo "mended one" >> notes
set -- broken-*
if [ -e "$1" ]; then echo "mended one"; else
    printf 'all is done\\n<promise>SUCCESS</promise>\\n'
fi
"""
FOUR = "".join(
    f'[iterate.gates.g{number}]\ncommand = "test ! -e broken-{number}"\n' for number in range(1, 5)
)
COUNTED = """\
[iterate.gates.tests]
command = ["sh", "check.sh"]
"""
CHECK = """\
set -- broken-*
[ -e "$1" ] && left=$# || left=0
echo "$left failed, 3 passed in 0.01s"
[ $left = 0 ]
"""
CONFIG = """\
[iterate]
agent = "weak"
[agents.weak]
command = ["sh", "weak.sh"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weak.sh").write_text(WEAK)
    (tmp_path / "check.sh").write_text(CHECK)
    for number in range(1, 5):
        (tmp_path / f"broken-{number}").touch()
    return tmp_path


def configured(project: Path, more: str) -> None:
    (project / "pytest-reflex.toml").write_text(CONFIG + more)


@pytest.fixture
def iterate(capsys: Captured) -> Run:
    def run(*argv: str) -> tuple[int, list[str]]:
        capsys.readouterr()
        return main(["iterate", *argv]), untimed(capsys.readouterr().err)

    return run


@pytest.mark.parametrize("gates", [FOUR, COUNTED], ids=["four gates", "one that counts"])
def test_a_weak_writer_ends_a_run_of_fix_tests_successfully(
    project: Path, iterate: Run, gates: str
) -> None:
    configured(project, gates)
    status, lines = iterate("run", "fix-tests")
    assert status == 0, lines
    assert lines[-1] == "Success signal in iteration 4 (total: _)"
    assert not any("consecutive failures" in line for line in lines)
    assert not (project / ".rooda/state/fix-tests.json").exists()


def test_progress_is_told_with_its_reasons(project: Path, iterate: Run) -> None:
    configured(project, COUNTED)
    _, lines = iterate("run", "fix-tests", "-n", "2")
    assert lines[:5] == [
        "Starting procedure: fix-tests (max 2 iterations)",
        "Iteration 1/2 starting...",
        "WARNING: Quality gates not passed yet: tests (better: tests has 3 failures, before 4)",
        "    | tests: exit status 1: 3 failed, 3 passed in 0._",
        "Iteration 1/2 completed in _",
    ]


@pytest.mark.parametrize("threshold", ["1", "2"])
def test_the_first_iteration_is_compared_with_what_was_before(
    project: Path, iterate: Run, threshold: str
) -> None:
    configured(project, COUNTED)
    assert iterate("run", "fix-tests", "--failure-threshold", threshold)[0] == 0


def test_the_first_prompt_has_what_fails(project: Path, iterate: Run) -> None:
    configured(project, COUNTED)
    weak = (project / "weak.sh").read_text()
    keep = "cat > prompt\n"
    (project / "weak.sh").write_text(keep + weak)
    iterate("run", "fix-tests", "-n", "1")
    prompt = (project / "prompt").read_text()
    assert "## BEFORE THE FIRST ITERATION" in prompt
    assert "| 4 failed, 3 passed in 0.01s" in prompt


def test_progress_without_a_pass_is_no_success_of_the_run(
    project: Path, iterate: Run, capsys: Captured
) -> None:
    configured(project, COUNTED)
    assert iterate("run", "fix-tests", "-n", "3")[0] == 6
    main(["iterate", "history", "fix-tests", "--run", "last", "--json"])
    found = json.loads(capsys.readouterr().out)["iterations"]
    assert [(row["outcome"], row["gates"]) for row in found] == [
        ("progress", {"tests": "fail"})
    ] * 3


@pytest.mark.parametrize("gates", [FOUR, COUNTED], ids=["four gates", "one that counts"])
def test_who_mends_nothing_is_aborted(project: Path, iterate: Run, gates: str) -> None:
    configured(project, gates)
    (project / "weak.sh").write_text("echo x >> notes; echo tried")
    status, lines = iterate("run", "fix-tests")
    assert status == 16
    assert "    | consecutive failures: 3/3" in lines


def test_who_goes_back_and_forth_is_aborted(project: Path, iterate: Run) -> None:
    configured(project, COUNTED)
    back = "[ -e broken-4 ] && rm broken-4 || touch broken-4; echo tried"
    (project / "weak.sh").write_text(back)
    assert iterate("run", "fix-tests", "-n", "20")[0] == 16


def test_a_success_that_is_promised_too_early_ends_nothing(project: Path, iterate: Run) -> None:
    configured(project, COUNTED)
    early = (project / "weak.sh").read_text() + "echo '<promise>SUCCESS</promise>'\n"
    (project / "weak.sh").write_text(early)
    status, lines = iterate("run", "fix-tests")
    assert (status, lines[-1]) == (0, "Success signal in iteration 4 (total: _)")


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ("progress = true\n", 0),
        ("", 16),
        ("progress = false\n", 16),
    ],
)
def test_a_gate_asks_for_progress_itself(
    project: Path, iterate: Run, more: str, status: int
) -> None:
    configured(project, COUNTED + more)
    assert iterate("run", "build")[0] == status


def test_a_gate_may_decline_what_the_procedure_says(project: Path, iterate: Run) -> None:
    configured(project, COUNTED + "progress = false\n")
    assert iterate("run", "fix-tests")[0] == 16


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        '"false"',
        '"echo 3 open; exit 1"',
        '"kill -9 $$"',
    ],
)
def test_a_gate_of_its_own_kind_that_never_improves_aborts(
    project: Path, iterate: Run, command: str
) -> None:
    gate = f'[iterate.gates.own]\ncommand = {command}\nfailures = "([0-9]+) open"\n'
    configured(project, gate)
    assert iterate("run", "fix-tests")[0] == 16


def test_a_gate_whose_file_is_modified_makes_no_progress(project: Path, iterate: Run) -> None:
    configured(project, COUNTED)
    cheat = "sed -i s/left=.#/left=1/ check.sh; echo fewer fail"
    (project / "weak.sh").write_text(cheat)
    status, lines = iterate("run", "fix-tests")
    assert status == 16
    assert "    | tests: modified during the run: check.sh" in lines
    assert not any("better" in line for line in lines)


def test_criteria_make_progress_by_their_failed_rules(project: Path, iterate: Run) -> None:
    rules = "".join(
        f"  - {{id: a.x.r{n}, description: d, severity: fail, "
        f"check: {{type: content, search: word{n}}}}}\n"
        for n in range(4)
    )
    (project / "words.yaml").write_text(f"name: words\nversion: 1\nrules:\n{rules}")
    (project / "a.md").write_text("text\n")
    writer = "echo word$((PYTEST_REFLEX_ITERATION - 1)) >> a.md; echo wrote a word"
    (project / "weak.sh").write_text(writer)
    gate = '[iterate.gates.words]\ncriteria = "words.yaml"\nartifacts = ["a.md"]\nprogress = true\n'
    configured(project, gate)
    status, lines = iterate("run", "build", "-n", "4", "--failure-threshold", "1")
    assert status == 0, lines


def test_a_resumed_run_knows_how_many_failed(project: Path, iterate: Run) -> None:
    configured(project, COUNTED)
    assert iterate("run", "fix-tests", "--budget", "calls=2")[0] == 8
    state = json.loads((project / ".rooda/state/fix-tests.json").read_text())
    assert state["known_failures"] == {"tests": {"pytest 1": 2}}
    assert state["failing_gates"] == ["tests"]
    (project / "weak.sh").write_text("echo tried")
    status, _ = iterate("resume", "fix-tests", "--budget", "calls=9")
    assert status == 16


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('command = "x"\nfailures = "("', "a regular expression"),
        ('command = "x"\nprogress = 1', "progress"),
        ("max_files = 3\nprogress = true", "progress"),
        ('criteria = "base"\nartifacts = ["a"]\nfailures = "x"', "has failures"),
    ],
)
def test_what_cannot_be_counted_is_refused(
    project: Path, capsys: Captured, table: str, said: str
) -> None:
    configured(project, f"[iterate.gates.bad]\n{table}\n")
    assert main(["iterate", "run", "build"]) == 4
    assert said in " ".join(told(capsys.readouterr().err))


@pytest.mark.long
@pytest.mark.parametrize(
    ("output", "pattern"),
    [
        ("9" * 5_000 + " failed, 1 passed in 0.1s", ""),
        ("9" * 5_000 + " problems", "([0-9]+) problems"),
        ("a" * 40, "(a+)+b"),
    ],
    ids=["too many digits", "too many for a pattern", "a pattern that takes too long"],
)
def test_what_nobody_can_count_is_not_counted(output: str, pattern: str) -> None:
    assert count_failures(output, pattern) is None
