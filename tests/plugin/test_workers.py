"""The same verdict with xdist workers, also where one of them dies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.plugin.conftest import BAD, GOOD, MILD, Run, append_rule, edit, write

pytestmark = [pytest.mark.long, pytest.mark.variants]

Read = Callable[[str], dict[str, Any]]

MARKED = """
import pytest
@pytest.mark.reflex_rule(id="a.own.first", weight=3)
def test_first(): pass
@pytest.mark.reflex_rule(id="b.own.table", severity="warn")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_table(number): assert number < 3
"""
DIES = """
  - id: a.x.dies
    description: This check takes its worker along
    severity: fail
    check: {type: dies}
"""
RULES = """\
rules:
  - {id: a.y.title, description: a title, severity: fail, check: {search: "^# ", type: content}}
"""
DEADLY = """
import os
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.model.enums import Outcome

class Dies:
    name = "dies"
    def problems(self, spec): return ()
    def compile(self, spec, variables):
        return CompiledCheck(spec, lambda artifact, context: os._exit(13))

def pytest_reflex_register_checks(register): register(Dies())
"""


def test_b044_workers_write_the_report_of_a_plain_session(
    project: pytest.Pytester, run: Run, run_workers: Run, document: Read
) -> None:
    edit(project, "[api.md]", '["*.md"]')
    write(project, "mild.md", MILD)
    write(project, "named.yaml", "name: extra\n" + RULES)
    project.makepyfile(MARKED)
    named = ("--reflex-criteria=named.yaml", "--reflex-artifact=api.md", ".")
    plain = run("--reflex-json=out.json", *named)
    spread = run_workers("--reflex-json=two.json", *named, "-v")
    assert plain.ret == spread.ret == 1
    assert document("out.json") == document("two.json")
    spread.stdout.fnmatch_lines(["*ADVISED mini.reflex.yaml::mild.md::b.x.world::1*"])
    spread.stdout.fnmatch_lines(["*11 passed, 2 advised*"])


def test_deselected_rules_are_known_to_the_controller(
    project: pytest.Pytester, run: Run, run_workers: Run, document: Read
) -> None:
    project.makepyfile(MARKED)
    plain = run("-k", "usage", "--reflex-json=out.json")
    spread = run_workers("-k", "usage", "--reflex-json=two.json")
    assert plain.ret == spread.ret == 1
    assert document("out.json") == document("two.json")
    spread.stdout.fnmatch_lines(["NOT MEASURED deselected: a.own.first, b.own.table"])


def test_a_selection_of_nothing_does_not_pass_with_workers(run_workers: Run) -> None:
    result = run_workers("-n1", "-k", "nothing", "-q")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["reflex INCOMPLETE api.md *only 0 of 3 rules*"])


def test_a_dead_worker_costs_its_item_and_no_other(
    project: pytest.Pytester, run: Run, run_workers: Run, document: Read
) -> None:
    project.makeconftest(DEADLY)
    append_rule(project, DIES)
    result = run_workers("--reflex-json=two.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "INCOMPLETE  score 0.714 (5 of 7 points), threshold 0.9",
            "NOT MEASURED the worker died while it ran: a.x.dies",
            "NEXT        run it alone: pytest -n 0 mini.reflex.yaml::a.x.dies::0",
        ]
    )
    found = document("two.json")
    assert found["not_run"] == [
        {
            "check": "mini.reflex.yaml::a.x.dies::0",
            "rule": "a.x.dies",
            "reason": "the worker died while it ran",
        }
    ]
    assert [row["outcome"] for row in found["evaluations"][0]["rule_results"]] == [
        "pass",
        "pass",
        "pass",
        "not_measured",
    ]


def test_no_workers_left_is_not_a_pass(project: pytest.Pytester, run_workers: Run) -> None:
    project.makeconftest(DEADLY)
    append_rule(project, DIES)
    result = run_workers("--max-worker-restart=0", "-q")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["reflex INCOMPLETE api.md *"])


def test_b011_broken_criteria_are_4_with_workers(
    project: pytest.Pytester, run_workers: Run, document: Read
) -> None:
    write(project, "broken.reflex.yaml", "criteria: {name: b}\nartifacts: [api.md]\nrulez: []\n")
    result = run_workers("--reflex-json=two.json")
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        [
            "broken.reflex.yaml:3:1: *rulez*rules*",
            "ERROR       broken.reflex.yaml:3:1: *rulez*",
            "GATE        ERROR: 1 problem in criteria or marks (exit status 4)",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert document("two.json")["gate"]["status"] == "error"


def test_wrong_marks_are_4_with_workers(project: pytest.Pytester, run_workers: Run) -> None:
    path = project.makepyfile(MARKED.replace("weight=3", "weight=-3"))
    result = run_workers("-n1")
    assert result.ret == 4
    result.stdout.fnmatch_lines([f"ERROR       {path.name}:2: weight -3 is not a number*"])


def test_faulty_options_are_4_before_any_worker_starts(run_workers: Run) -> None:
    result = run_workers("--reflex-criteria=no-such", "--reflex-artifact=api.md")
    assert result.ret == 4
    assert "workers" not in result.stdout.str()


def test_b049_odd_values_of_a_foreign_check_cross_to_the_controller(
    project: pytest.Pytester, run_workers: Run
) -> None:
    project.makeconftest(
        DEADLY.replace(
            "os._exit(13)",
            r"CheckResult(outcome=Outcome.FAIL, message='a\udc80\x00\x1b[31m', notes=('\ud800',))",
        )
    )
    append_rule(project, DIES)
    result = run_workers("-n1", "--junitxml=junit.xml")
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str()
    result.stdout.fnmatch_lines([r"FAIL        a.x.dies: a\udc80\x00\x1b[[]31m"])


def test_x_with_workers_is_not_a_pass(project: pytest.Pytester, run_workers: Run) -> None:
    write(project, "api.md", BAD)
    for number in range(6):
        write(project, f"more{number}.reflex.yaml", _suite(number))
    result = run_workers("-x", "-q")
    assert result.ret != 0
    assert "GREEN" not in result.stdout.str()
    result.stdout.fnmatch_lines(["reflex * api.md *"])


def _suite(number: int) -> str:
    return f"criteria: {{name: c{number}}}\nartifacts: [api.md]\n" + RULES


def test_random_order_changes_nothing(project: pytest.Pytester, run: Run, document: Read) -> None:
    write(project, "api.md", GOOD.replace("world", "there"))
    project.makepyfile(MARKED)
    run("--reflex-json=out.json")
    for seed in ("1", "2"):
        run("-p", "randomly", f"--randomly-seed={seed}", "--reflex-json=two.json")
        assert document("out.json") == document("two.json")


FAR = """
from pytest_reflex.session import plan
plan.write_plan = lambda found, folder: None
"""


def test_suites_are_read_again_where_no_worker_can_hand_over_its_plan(
    project: pytest.Pytester, run: Run, run_workers_apart: Run, document: Read
) -> None:
    edit(project, "[api.md]", '["*.md"]')
    write(project, "bad.md", BAD)
    run("-k", "not world", "--reflex-json=out.json")
    project.makeconftest(FAR)
    result = run_workers_apart("-n1", "-k", "not world", "--reflex-json=two.json")
    assert result.ret == 1
    assert document("out.json") == document("two.json")


def test_results_without_known_rules_are_not_a_pass(
    project: pytest.Pytester, run_workers_apart: Run
) -> None:
    project.makeconftest(FAR)
    project.makepyfile(MARKED.replace("3]", "2]"))
    result = run_workers_apart("-n1")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["GATE        ERROR: results came in for session, whose rules are not known here*"]
    )


@pytest.mark.parametrize("mode", ["--dist=each", "--dist=loadgroup"])
def test_every_way_to_distribute_gives_one_verdict(
    project: pytest.Pytester, run: Run, run_workers: Run, document: Read, mode: str
) -> None:
    write(project, "api.md", MILD)
    project.makepyfile(MARKED)
    run("--reflex-json=out.json")
    run_workers(mode, "--reflex-json=two.json")
    assert document("out.json") == document("two.json")
