"""``iterate history`` says from the logs which runs there were, and what each iteration came to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.history import runs_in
from tests.cli.terminal import Terminal
from tests.drivers.iterate.project import Project
from tests.drivers.iterate.test_schemas import everything
from tests.faults.driven import wait_until

Captured = pytest.CaptureFixture[str]
History = Callable[..., list[list[str]]]
PAYING = """\
n=$PYTEST_REFLEX_ITERATION
date +%N >> work.txt
if [ "$n" = 3 ]; then exit 7; fi
echo '{"result": "did it", "total_cost_usd": 0.25, "tokens": '$n'00}'
"""
PAID = """\
[agents.payer]
command = ["sh", "payer.sh"]
answer = "json:result"
cost = "json:total_cost_usd"
tokens = "json:tokens"
"""
GATES = """\
[iterate.gates.lint]
command = "exit 1"
required = false
[iterate.gates.tests]
command = "test $PYTEST_REFLEX_ITERATION != 2"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "payer.sh").write_text(PAYING)
    return Project(tmp_path, "ok", more=PAID)


@pytest.fixture
def history(project: Project, capsys: Captured) -> History:
    """Return a function that returns the fields of each line, without how long it took."""

    def lines(*argv: str) -> list[list[str]]:
        capsys.readouterr()
        assert main(["iterate", "history", *argv]) == 0
        return [line.split("\t") for line in capsys.readouterr().out.splitlines()]

    return lines


def document(capsys: Captured, *argv: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["iterate", "history", *argv, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def log(project: Project, *lines: object, at: str = "20260206T100000Z", of: str = "build") -> Path:
    """Write a log of these lines, texts as they are."""
    path = project.folder / f".rooda/log/{of}/{at}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def done(number: object, **more: object) -> dict[str, object]:
    return {"event": "iteration_completed", "iteration": number, "outcome": "success", **more}


@pytest.mark.parametrize(
    ("words", "argv", "outcome", "count"),
    [
        (["ok"], ("-n", "2"), "limit", "2"),
        (["fail"], ("-n", "9"), "failures", "3"),
        (["ok"], ("--budget", "calls=2"), "budget_exceeded", "2"),
        (["ok", "fail"], ("-n", "2"), "limit", "2"),
    ],
)
def test_a_run_is_listed_with_why_it_ended(
    project: Project, history: History, words: list[str], argv: tuple[str, ...], outcome: str,
    count: str,
) -> None:  # fmt: skip
    project.plan(*words)
    main(["iterate", "run", "build", *argv])
    ((procedure, run, iterations, why, _, cost, tokens),) = history("build")
    assert (procedure, iterations, why, cost, tokens) == ("build", count, outcome, "", "")
    assert (project.folder / f".rooda/log/build/{run}.jsonl").is_file()


def test_what_was_paid_is_told_for_the_run_and_each_iteration(
    project: Project, history: History
) -> None:
    main(["iterate", "run", "build", "-n", "4", "--agent", "payer"])
    assert history()[0][5:] == ["$0.7500", "700"]
    rows = history("--run", "last")
    assert {row[-1] for row in rows} == {"1: work.txt"}
    assert [row[:2] + row[3:8] for row in rows] == [
        ["1", "success", "yes", "$0.2500", "100", "", ""],
        ["2", "success", "yes", "$0.2500", "200", "", ""],
        ["3", "failure", "yes", "", "", "", "exit 7"],
        ["4", "success", "yes", "$0.2500", "400", "", ""],
    ]


def test_gates_that_failed_are_named_for_their_iteration(
    project: Project, history: History
) -> None:
    Project(project.folder, "ok", more=PAID + GATES)
    main(["iterate", "run", "build", "-n", "3"])
    rows = history("build", "--run", "last")
    assert [row[6] for row in rows] == ["lint", "lint, tests", "lint"]
    assert [row[1] for row in rows] == ["success", "failure", "success"]
    assert rows[1][7].startswith("gate: tests: ")


def test_a_resumed_run_is_one_run_and_a_fresh_one_another(
    project: Project, history: History
) -> None:
    main(["iterate", "run", "build", "--budget", "calls=1"])
    main(["iterate", "resume", "build", "--budget", "calls=+1"])
    assert [row[2:4] for row in history("build")] == [["2", "budget_exceeded"]]
    main(["iterate", "run", "build", "--fresh", "-n", "1"])
    assert [row[2:4] for row in history("build")] == [["2", "budget_exceeded"], ["1", "limit"]]


def test_two_runs_of_one_second_are_two(project: Project, history: History) -> None:
    one = [{"event": "started"}, done(1), {"event": "ended", "outcome": "limit"}]
    log(project, *one, *one, done(2))
    assert [row[1:4] for row in history()] == [
        ["20260206T100000Z", "1", "limit"],
        ["20260206T100000Z-2", "2", "limit"],
    ]
    assert len(history("--run", "20260206T100000Z-2")) == 2


def test_runs_of_all_procedures_stand_in_the_order_of_time(
    project: Project, history: History
) -> None:
    end = {"event": "ended", "outcome": "limit"}
    log(project, end, at="20260206T100000Z", of="build")
    log(project, end, at="20260205T100000Z", of="plan")
    log(project, end, at="20260207T100000Z", of="plan")
    log(project, end, at="20260101T000000Z", of="Not-One")
    assert [row[0] for row in history()] == ["plan", "build", "plan"]
    assert [row[0] for row in history("plan")] == ["plan", "plan"]


@pytest.mark.long
def test_a_run_that_is_driven_is_running(project: Project, capsys: Captured) -> None:
    project.plan("ok", "hold")
    driver = project.start("run", "build", "-n", "2")
    wait_until(lambda: len(project.calls()) == 2)
    (run,) = document(capsys)["runs"]
    driver.kill()
    driver.communicate()
    assert (run["driven"], run["outcome"], run["iterations"]) == (True, None, 1)
    assert document(capsys, "build")["runs"][0]["driven"] is False


FOREIGN = {
    "torn": '{"event": "iteration_comp',
    "no JSON": "not JSON",
    "not an object": "[1, 2]",
    "no event": '{"time": "now"}',
    "event of another kind": '{"event": 7}',
    "deep": "[" * 100_000,
    "huge number": '{"event": "iteration_completed", "iteration": ' + "9" * 5000 + "}",
    "not UTF-8": "\udcff\udcfe",
}


@pytest.mark.parametrize("line", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_line_that_no_run_wrote_is_left_out_and_counted(
    project: Project, history: History, line: str, capsys: Captured
) -> None:
    path = log(project, {"event": "started"}, done(1), "", done(2))
    data = path.read_bytes().replace(
        b"\n\n", b"\n" + line.encode("utf-8", "surrogateescape") + b"\n"
    )
    path.write_bytes(data)
    assert main(["iterate", "history", "--run", "last"]) == 0
    out, err = capsys.readouterr()
    assert [row.split("\t")[0] for row in out.splitlines()] == ["1", "2"]
    assert f"{path}: 1 line left out" in err


STRANGE: list[dict[str, object]] = [
    done("one"), done(None), done(True), done(-1), done([]), done({}), done(1e400),
    {"event": "gate", "gate": 5, "outcome": "fail"}, {"event": "gate"},
    {"event": "ended", "outcome": {}, "spend": 7}, {"event": "ended", "spend": {"calls": "3"}},
    {"event": "ended", "outcome": "limit", "spend": {"calls": 1, "usd": [], "tokens": -4}},
    done(2, seconds="long", changed="perhaps", usd=-1, tokens=2.5, outcome=[], cause=7),
    done(3, seconds=float("inf"), usd=float("nan"), outcome="failure", cause=[], detail={}),
]  # fmt: skip


@pytest.mark.parametrize("event", STRANGE, ids=lambda event: json.dumps(event)[:60])
def test_values_of_another_kind_are_unknown(
    project: Project, history: History, event: dict[str, object], capsys: Captured
) -> None:
    log(project, {"event": "started"}, event, done(9, seconds=1))
    assert history("--run", "last")[-1][0] == "9"
    assert len(history("build")) == 1
    assert document(capsys)["runs"][0]["unreadable_lines"] == 0


def test_nul_bytes_of_a_crash_take_nothing_with_them(project: Project, history: History) -> None:
    path = log(project, {"event": "started"}, done(1))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\0\0\0", 1))
    assert [row[0] for row in history("--run", "last")] == ["1"]


def test_a_log_that_is_a_link_is_told_and_not_read(
    project: Project, history: History, capsys: Captured
) -> None:
    elsewhere = project.folder / "elsewhere"
    elsewhere.write_text("secret\n")
    log(project, done(1)).with_name("20260207T100000Z.jsonl").symlink_to(elsewhere)
    assert main(["iterate", "history"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split("\t")[3] == "damaged"
    assert "20260207T100000Z.jsonl is a symbolic link" in err
    assert "secret" not in out + err


def test_nothing_of_a_log_acts_on_a_terminal(project: Project, history: History) -> None:
    bad = "\x1b[2Jx\ty"
    failed = done(1, outcome="failure", cause=bad, detail=bad)
    gate = {"event": "gate", "gate": bad, "outcome": "fail"}
    log(project, gate, failed, {"event": "ended", "outcome": bad})
    for argv in ((), ("--run", "last")):
        (row,) = history(*argv)
        assert len(row) == (10 if argv else 7)
        assert "\x1b" not in "".join(row)


@pytest.mark.long
def test_on_a_terminal_they_are_tables(project: Project) -> None:
    main(["iterate", "run", "build", "-n", "2", "--agent", "payer"])
    with Terminal(["iterate", "history"], project.folder, columns=110) as terminal:
        assert terminal.end() == 0
        lines = [line.split() for line in terminal.everything.splitlines()]
    assert lines[0] == ["procedure", "run", "iterations", "outcome", "time", "cost", "tokens"]
    assert lines[2][3] == "limit"
    with Terminal(["iterate", "history", "--run", "last"], project.folder, columns=110) as terminal:
        assert terminal.end() == 0
        shown = terminal.everything
    assert "limit, 2 iterations in" in shown
    assert "$0.5000, 300 tokens" in shown


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["biuld"], "there is no procedure 'biuld' (did you mean build?)"),
        (["--run", "last"], "there is no log of a run in "),
        (["build", "--run", "x"], "there is no log of a run in "),
    ],
)
def test_what_there_is_not_is_refused(
    project: Project, argv: list[str], said: str, capsys: Captured
) -> None:
    assert main(["iterate", "history", *argv]) == 4
    assert said in capsys.readouterr().err


def test_a_run_that_several_procedures_have_is_to_be_named(
    project: Project, history: History, capsys: Captured
) -> None:
    log(project, done(1), of="build")
    log(project, done(2), of="plan")
    assert main(["iterate", "history", "--run", "20260206T100000Z"]) == 4
    assert "2 procedures have a run 20260206T100000Z: build, plan" in capsys.readouterr().err
    assert history("plan", "--run", "20260206T100000Z")[0][0] == "2"
    assert main(["iterate", "history", "--run", "20260206T10000Z"]) == 4
    assert "did you mean 20260206T100000Z?" in capsys.readouterr().err


def test_where_nothing_ran_there_is_nothing(project: Project, capsys: Captured) -> None:
    assert main(["iterate", "history", "build"]) == 0
    assert "There is no log of a run of build in " in capsys.readouterr().err
    assert document(capsys)["runs"] == []


def test_every_kind_of_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "20260206T100000Z.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in everything()))
    (run,) = runs_in("build", path)
    assert run.unreadable == 0
    assert run.outcome == "interrupted"
    assert {one.cause for one in run.iterations} >= {"exit", "gate"}


def test_an_iteration_has_its_gates_and_the_files_that_it_changed(
    project: Project, history: History, capsys: Captured
) -> None:
    Project(project.folder, "ok", more=PAID + GATES)
    script = "echo x >> a.txt; [ $PYTEST_REFLEX_ITERATION = 1 ] || rm b.txt; echo done"
    (project.folder / "b.txt").touch()
    (project.folder / "agent.sh").write_text(script)
    main(["iterate", "run", "build", "-n", "2"])
    rows = [row[-2:] for row in history("--run", "last")]
    assert rows == [["1/2", "1: a.txt"], ["0/2", "2: a.txt, b.txt"]]
    found = document(capsys, "--run", "last")["iterations"]
    assert [one["gates"] for one in found] == [
        {"lint": "fail", "tests": "pass"},
        {"lint": "fail", "tests": "fail"},
    ]
    assert [(one["files_changed"], one["files"]) for one in found] == [
        (1, ["a.txt"]),
        (2, ["a.txt", "b.txt"]),
    ]


def test_of_many_files_the_number_is_told_and_some_names(
    project: Project, history: History
) -> None:
    script = "for n in $(seq 60); do echo x > f$n; done; echo done"
    (project.folder / "agent.sh").write_text(script)
    main(["iterate", "run", "build", "-n", "1"])
    files = history("--run", "last")[0][-1]
    assert files.startswith("60: f1, f10, f11,")
    assert files.endswith(", ...")


def test_a_log_of_earlier_code_has_neither(project: Project, history: History) -> None:
    log(project, {"event": "started"}, done(1, seconds=2.0))
    assert history("--run", "last")[0][-2:] == ["", ""]
