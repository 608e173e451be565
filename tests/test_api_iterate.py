"""The Python interface of the drivers: events that are durable, and runs that can be resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import pytest_reflex
from pytest_reflex.model.steps import Reply, StepRequest
from tests.drivers.iterate.project import Project

CRITERIA = """\
name: words
vars: {word: alpha}
rules:
  - id: a.x.word
    description: says the word
    severity: fail
    check: {type: content, search: {var: word}}
"""
GATES = """\
[iterate.gates.small]
command = "test ! -e work.txt"
required = false
[iterate.gates.there]
command = "test -e agent.sh"
[iterate.procedures.build]
gates = ["small", "there"]
"""


def story(events: Any) -> list[tuple[str, int]]:
    return [(event.kind.value, event.iteration) for event in events]


# iterate


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", "ok")


def test_a_run_of_a_procedure_yields_its_events(project: Project) -> None:
    project.plan("ok", "fail", "ok")
    events = list(pytest_reflex.run_iterate("build", max_iterations=3, project=project.folder))
    assert story(events) == [
        ("started", 0),
        *[(kind, n) for n in (1, 2, 3) for kind in ("waiting", "acted", "iteration")],
        ("stopped", 3),
    ]
    assert {(event.driver, event.run) for event in events} == {("iterate", "build")}
    outcomes = [e.fields["outcome"] for e in events if e.kind == "iteration"]
    assert outcomes == ["success", "failure", "success"]
    assert events[-1].fields["reason"] == "limit"
    assert json.loads(json.dumps([event.to_json() for event in events]))[-1]["kind"] == "stopped"
    assert not project.state_file.exists()


ENDS = [
    (("yes",), {}, ("success", "completed", 0)),
    (("fail",), {}, ("failures", "aborted", 16)),
    (("ok",), {"budget": "calls=2"}, ("budget_exceeded", "interrupted", 8)),
    (("ok",), {"budget": {"calls": 1}}, ("budget_exceeded", "interrupted", 8)),
]


@pytest.mark.parametrize(("words", "flags", "end"), ENDS)
def test_the_last_event_says_how_it_ended(
    project: Project, words: tuple[str, ...], flags: Mapping[str, Any], end: tuple[str, str, int]
) -> None:
    project.plan(*words)
    if words == ("yes",):
        more = "[iterate.procedures.build]\nsuccess = true\n"
        project = Project(project.folder, *words, more=more)
    *_, last = pytest_reflex.run_iterate("build", project=project.folder, **flags)
    assert (last.fields["reason"], last.fields["status"], last.fields["exit_code"]) == end


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5, 6])
def test_a_run_that_is_left_is_durable_and_can_be_resumed(project: Project, after: int) -> None:
    events = pytest_reflex.run_iterate("build", max_iterations=3, project=project.folder)
    for _ in range(after):
        event = next(events)
        done = event.iteration - (event.kind == "waiting")
        assert project.state()["iteration"] == done
    events.close()
    assert project.state()["status"] == "interrupted"
    rest = list(pytest_reflex.resume_iterate("build", project=project.folder))
    assert rest[0].fields["resumed"] is (done > 0)
    assert story(rest)[-2:] == [("iteration", 3), ("stopped", 3)]
    assert len(project.calls()) == 3


def test_who_leaves_at_the_last_event_leaves_nothing_to_resume(project: Project) -> None:
    for event in pytest_reflex.run_iterate("build", max_iterations=1, project=project.folder):
        if event.kind == "stopped":
            break
    assert not project.state_file.exists()
    with pytest.raises(pytest_reflex.ReflexError, match="nothing to resume for build"):
        pytest_reflex.resume_iterate("build", project=project.folder)


def test_gates_are_measured(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", "change", more=GATES)
    events = pytest_reflex.run_iterate("build", max_iterations=1, project=project.folder)
    measured = [(e.fields["gate"], e.fields["outcome"]) for e in events if e.kind == "measured"]
    assert measured == [("small", "fail"), ("there", "pass")]


def test_the_tool_works_in_the_project_and_the_caller_stays_where_it_was(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.getcwd()
    for _ in pytest_reflex.run_iterate("build", max_iterations=2, project=project.folder):
        assert os.getcwd() == before
    assert len(project.calls()) == 2


def test_a_resume_may_have_other_limits_and_another_tool(project: Project) -> None:
    events = pytest_reflex.run_iterate(
        "build", max_iterations=5, budget="calls=2", project=project.folder
    )
    assert list(events)[-1].fields["reason"] == "budget_exceeded"
    rest = pytest_reflex.resume_iterate(
        "build",
        max_iterations=4,
        budget="calls=+9",
        ai_command='sh -c "cat > again; echo done"',
        project=project.folder,
    )
    assert story(rest)[-1] == ("stopped", 4)
    assert len(project.calls()) == 2
    assert (project.folder / "again").exists()


def test_what_is_said_is_the_log_of_the_command_line(project: Project) -> None:
    said: list[str] = []
    list(
        pytest_reflex.run_iterate(
            "build", max_iterations=1, contexts=["mind the gap"], project=project.folder,
            say=said.append,
        )
    )  # fmt: skip
    assert said[0].partition("] ")[2][:20] == "Starting procedure: "
    assert "mind the gap" in (project.folder / "prompt").read_text()


@pytest.mark.parametrize(
    ("procedure", "flags", "problem"),
    [
        ("biuld", {}, "no procedure 'biuld'"),
        ("build", {"agent": "nobody"}, "no agent named 'nobody'"),
        ("build", {"agent": "script", "ai_command": "cat"}, "cannot be combined"),
        ("build", {"budget": "euros=2"}, "no such key"),
        ("build", {"budget": {"usd": -1}}, "expected a positive number"),
        ("build", {"plugins": ["no_such_plugin"]}, "'no_such_plugin' could not be imported"),
    ],
)
def test_what_is_wrong_is_raised_before_anything_is_written(
    project: Project, procedure: str, flags: Mapping[str, Any], problem: str
) -> None:
    with pytest.raises(pytest_reflex.ReflexError, match=problem):
        pytest_reflex.run_iterate(procedure, project=project.folder, **flags)
    assert not (project.folder / ".rooda").exists()


def test_a_run_that_was_left_is_not_begun_again_by_mistake(project: Project) -> None:
    events = pytest_reflex.run_iterate("build", project=project.folder)
    next(events)
    events.close()
    with pytest.raises(pytest_reflex.ReflexError, match="was interrupted after"):
        next(pytest_reflex.run_iterate("build", project=project.folder))
    again = pytest_reflex.run_iterate("build", fresh=True, max_iterations=1, project=project.folder)
    assert story(again)[-1] == ("stopped", 1)


def test_a_run_has_one_owner(project: Project) -> None:
    events = pytest_reflex.run_iterate("build", max_iterations=2, project=project.folder)
    next(events)
    with pytest.raises(pytest_reflex.ReflexError, match="another process is running build"):
        next(pytest_reflex.run_iterate("build", fresh=True, project=project.folder))
    assert story(events)[-1] == ("stopped", 2)


def test_feedback_is_an_event(project: Project) -> None:
    from pytest_reflex.drivers.common.control import ControlFile, Requests

    events = pytest_reflex.run_iterate("build", max_iterations=1, project=project.folder)
    next(events)
    ControlFile.beside(project.state_file).ask(Requests(feedback={"1": "more colour"}))
    event = next(events)
    assert (event.kind.value, dict(event.fields)) == (
        "decided",
        {"decision": "feedback", "count": 1},
    )
    list(events)
    assert "more colour" in (project.folder / "prompt").read_text()


# plugins, of both drivers


def counting(seen: list[str]) -> Any:
    def count(text: str) -> int:
        seen.append(text)
        return 1

    return count


def test_a_plugin_may_be_given_to_iterate(project: Project) -> None:
    seen: list[str] = []
    plugin = SimpleNamespace(pytest_reflex_count_tokens=counting(seen))
    list(
        pytest_reflex.run_iterate(
            "build", max_iterations=2, plugins=[plugin], project=project.folder
        )
    )
    assert len(seen) >= 2


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "draft.md").write_text("nothing\n")
    (tmp_path / "pytest-reflex.toml").write_text('[loop]\nevaluator = "core"\n')
    return tmp_path


def loop(**flags: Any) -> list[Any]:
    given = {"criteria": "words.yaml", "draft": "draft.md", "max_iterations": 2, **flags}
    return list(pytest_reflex.run_loop("say it", alias="say", **given))


def reason(events: list[Any]) -> str:
    return str(events[-1].fields["reason"])


@pytest.mark.parametrize("form", ["object", "module", "name"])
def test_a_plugin_may_be_given_to_a_loop(
    words: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    def produce(request: StepRequest) -> Reply:
        return Reply(text="alpha\n", agent="plugin")

    module = ModuleType("given_plugin")
    module.pytest_reflex_produce = produce  # type: ignore[attr-defined]
    if form != "object":
        monkeypatch.setitem(sys.modules, "given_plugin", module)
    events = loop(plugins=["given_plugin" if form == "name" else module])
    assert reason(events) == "threshold_reached"
    assert events[0].fields["payload"]["setup"]["plugins"] == (
        [] if form == "object" else ["given_plugin"]
    )


@pytest.mark.parametrize(("word", "passed"), [("nothing", True), ("alpha", False), ("x", False)])
def test_variables_may_be_given_to_a_loop(words: Path, word: str, passed: bool) -> None:
    assert (reason(loop(variables={"word": word})) == "threshold_reached") is passed


@pytest.mark.parametrize("budget", [{"calls": 1}, "calls=1", {"seconds": 0.001, "calls": 1}])
def test_a_budget_may_be_given_to_a_loop(words: Path, budget: Any) -> None:
    (words / "agent.sh").write_text('cat > /dev/null; echo \'{"plan": ["a", "b", "c"]}\'\n')
    table = '[agents.script]\ncommand = ["sh", "agent.sh"]\n'
    config = words / "pytest-reflex.toml"
    config.write_text(f"{config.read_text()}{table}")
    assert reason(loop(agents={"plan": "script"}, budget=budget)) == "budget_exceeded"


def test_a_loop_that_had_stopped_goes_on_with_more(words: Path) -> None:
    assert reason(loop(max_iterations=1)) == "iteration_limit"
    with pytest.raises(pytest_reflex.ReflexError, match="has ended"):
        pytest_reflex.resume_loop("say")
    more = list(pytest_reflex.resume_loop("say", max_iterations="+1"))
    assert (more[0].kind.value, more[-1].iteration) == ("started", 2)


def test_a_resumed_loop_takes_plugins_and_agents(words: Path) -> None:
    given = {"criteria": "words.yaml", "draft": "draft.md", "max_iterations": 2}
    events = pytest_reflex.run_loop("say it", alias="say", **given)  # type: ignore[arg-type]
    next(events)
    events.close()

    def produce(request: StepRequest) -> Reply:
        return Reply(text="alpha\n", agent="plugin")

    plugin = SimpleNamespace(pytest_reflex_produce=produce)
    rest = list(pytest_reflex.resume_loop("say", agent="offline", plugins=[plugin]))
    assert reason(rest) == "threshold_reached"
