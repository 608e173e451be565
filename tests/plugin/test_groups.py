"""Checks of one group in sessions: plain, with workers, in a fork, and over several artifacts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.criteria.suite import load_suite
from pytest_reflex.session.fork import evaluate_by_pytest
from tests.plugin.conftest import Run, write

pytestmark = [pytest.mark.long, pytest.mark.variants]

Read = Callable[[str], dict[str, Any]]

RULE = """\
  - id: a.x.{name}
    description: It is alone {name}
    severity: fail
    check: {{type: executable, command: "mkdir L && sleep 0.5 && rmdir L"{group}}}
"""


@pytest.fixture
def grouped(project: pytest.Pytester) -> pytest.Pytester:
    suite(project)
    return project


def suite(project: pytest.Pytester, group: str = ", group: db", *artifacts: str) -> None:
    named = ", ".join(artifacts or ("api.md",))
    head = f"criteria: {{name: mini}}\nartifacts: [{named}]\nrules:\n"
    both = (RULE.format(name=name, group=group) for name in ("one", "two"))
    write(project, "mini.reflex.yaml", head + "".join(both))


def test_without_a_group_they_are_in_each_others_way(project: pytest.Pytester, run: Run) -> None:
    suite(project, "")
    assert run().ret == 1


def test_a_plain_session_keeps_them_apart(grouped: pytest.Pytester, run: Run) -> None:
    found = run()
    found.assert_outcomes(passed=2)
    assert found.ret == 0


def test_so_it_does_over_several_artifacts(grouped: pytest.Pytester, run: Run) -> None:
    write(grouped, "b.md", "x")
    suite(grouped, ", group: db", "api.md", "b.md")
    run().assert_outcomes(passed=4)


def test_workers_keep_them_apart(grouped: pytest.Pytester, run_workers: Run) -> None:
    found = run_workers()
    found.assert_outcomes(passed=2)
    assert found.ret == 0


def test_an_evaluation_in_a_fork_keeps_them_apart(grouped: pytest.Pytester) -> None:
    registry = built_in_registry()
    (target,) = load_suite(Path("mini.reflex.yaml"), registry=registry, root=Path())
    assert evaluate_by_pytest(target, registry).passed


KILLED = """\
criteria: {name: mini}
artifacts: [api.md]
rules:
  - id: a.x.one
    description: It takes its worker along
    severity: fail
    check: {type: dies, group: db}
  - id: a.x.two
    description: It goes on
    severity: fail
    check: {type: content, search: Title, group: db}
  - id: a.x.three
    description: It goes on too
    severity: fail
    check: {type: content, search: Usage, group: db}
"""
DEADLY = """
import os

from pytest_reflex.model.targets import CompiledCheck

class Dies:
    name = "dies"
    def problems(self, spec): return ()
    def compile(self, spec, variables):
        return CompiledCheck(spec, lambda artifact, context: os._exit(13))

def pytest_reflex_register_checks(register): register(Dies())
"""


def test_a_worker_that_dies_lets_go(
    project: pytest.Pytester, run_workers: Run, document: Read
) -> None:
    project.makeconftest(DEADLY)
    write(project, "mini.reflex.yaml", KILLED)
    run_workers("--reflex-json=out.json")
    rows = document("out.json")["evaluations"][0]["rule_results"]
    assert {row["id"]: row["outcome"] for row in rows} == {
        "a.x.one": "not_measured",
        "a.x.two": "pass",
        "a.x.three": "pass",
    }


SLOW = RULE.format(name="slow", group=", group: db").replace("sleep 0.5", "touch began; sleep 60")
INTERRUPT = """
import os, signal, threading, time
from pathlib import Path

def pytest_sessionstart():
    def interrupt():
        while not Path("began").exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt, daemon=True).start()
"""


def test_an_interrupt_ends_those_that_wait(project: pytest.Pytester) -> None:
    project.makeconftest(INTERRUPT)
    head = "criteria: {name: mini}\nartifacts: [api.md]\nrules:\n"
    rest = (RULE.format(name=f"r{n}", group=", group: db") for n in range(3))
    write(project, "mini.reflex.yaml", head + SLOW + "".join(rest))
    found = project.runpytest_subprocess("-p", "pytest_reflex.plugin", timeout=30)
    assert found.ret == pytest.ExitCode.INTERRUPTED
