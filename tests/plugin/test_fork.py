"""Evaluations by pytest in a fork of a warm process, each started from a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.plugin.conftest import MILD, append_rule, edit, without_durations, write

pytestmark = pytest.mark.long

SCRIPT = """
import json, os, sys, threading, time
from pathlib import Path
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.suite import load_suite
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.session.fork import evaluate_by_pytest

class Odd:
    name = "odd"
    def problems(self, spec): return ()
    def compile(self, spec, variables):
        return CompiledCheck(spec, lambda artifact, context: {deed})

registry = built_in_registry()
registry.register(Odd())
(target,) = load_suite(Path("mini.reflex.yaml"), registry=registry, root=Path())
{more}
print(json.dumps({{
    "fork": evaluate_by_pytest(target, registry, seconds={seconds}).to_json(),
    "core": evaluate(target, registry).to_json() if {core} else None,
    "alive": threading.active_count(),
}}))
"""
ODD = "  - {id: a.x.odd, description: odd, severity: fail, check: {type: odd}}\n"

Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture
def evaluate(project: pytest.Pytester) -> Evaluate:
    """Judge the suite in a fresh process; `deed` is what its odd check does."""

    def run(deed: str = "None", *, core: bool = False, more: str = "", seconds: float = 60) -> Any:
        script = project.makepyfile(
            script=SCRIPT.format(deed=deed, core=core, more=more, seconds=seconds)
        )
        result = project.runpython(script)
        assert result.ret == 0, result.stderr.str()
        return json.loads(result.outlines[-1])

    return run


def test_a_fork_and_the_core_say_the_same(project: pytest.Pytester, evaluate: Evaluate) -> None:
    write(project, "api.md", MILD)
    edit(project, '{type: content, search: "world"}', '{type: executable, command: "grep world"}')
    found = evaluate(core=True)
    assert without_durations(found["fork"]) == without_durations(found["core"])
    assert found["fork"]["score_exact"] == "4/5"
    assert found["alive"] == 1


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("os._exit(13)", "the session ended early, with status 13"),
        ("os._exit(0)", "the session ended early, with status 0"),
        ("os.kill(os.getpid(), 9)", "the session ended early, with status -9"),
    ],
)
def test_a_check_that_ends_the_process_is_not_measured(
    project: pytest.Pytester, evaluate: Evaluate, deed: str, reason: str
) -> None:
    append_rule(project, ODD)
    found = evaluate(deed)["fork"]
    assert found["passed"] is False
    assert found["unsound"] == reason
    assert [row["outcome"] for row in found["rule_results"]] == [
        "pass",
        "pass",
        "pass",
        "not_measured",
    ]
    assert found["rule_results"][3]["details"] == reason


def test_a_check_that_hangs_is_stopped(project: pytest.Pytester, evaluate: Evaluate) -> None:
    append_rule(project, ODD)
    found = evaluate("time.sleep(60)", seconds=1)["fork"]
    assert found["unsound"] == "the session was stopped: it did not end in time"
    assert found["rule_results"][3]["outcome"] == "not_measured"


def test_nothing_of_the_project_takes_part(
    project: pytest.Pytester, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makeconftest("raise SystemExit('conftest was loaded')")
    project.makeini("[pytest]\naddopts = --no-such-option\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--nor-this")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    assert evaluate()["fork"]["passed"] is True
    assert not (project.path / ".pytest_cache").exists()


def test_with_a_second_thread_the_core_judges(evaluate: Evaluate) -> None:
    more = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    found = evaluate(more=more, core=True)
    assert without_durations(found["fork"]) == without_durations(found["core"])


def test_what_a_check_prints_is_not_printed(project: pytest.Pytester, evaluate: Evaluate) -> None:
    append_rule(project, ODD)
    found = evaluate("print('noise', flush=True)")["fork"]
    assert found["rule_results"][3]["outcome"] == "error"
    assert found["rule_results"][3]["details"] == "the check returned None, not a CheckResult"


def test_a_fork_blames_the_same_rule_for_what_cannot_be_read(
    project: pytest.Pytester, evaluate: Evaluate
) -> None:
    write(project, "api.md", "```yaml\na: b: c\n```\n")
    for name, path in (("one", "a"), ("two", "b")):
        check = f"{{type: structure, path: {path}}}"
        append_rule(
            project, f"  - {{id: a.x.{name}, description: d, severity: fail, check: {check}}}\n"
        )
    found = evaluate(core=True)
    assert without_durations(found["fork"]) == without_durations(found["core"])
    rows = {row["id"]: row for row in found["fork"]["rule_results"]}
    assert rows["a.x.one"]["outcome"] == "fail"
    assert rows["a.x.two"]["same_cause"] == "a.x.one"
