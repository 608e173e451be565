"""Every hook is documented, and a plugin that uses it is heard before the built-ins."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_reflex import hookspecs
from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.procedures import tokens_of
from pytest_reflex.errors import UsageError
from pytest_reflex.host import open_host, register_agents
from pytest_reflex.model.enums import Outcome, Step
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.settings import load

HOOKS = [name for name in vars(hookspecs) if name.startswith("pytest_reflex_")]
CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "draft.md").write_text("beta\n")
    return tmp_path


@pytest.fixture
def plugin(project: Path) -> Iterator[ModuleType]:
    """A module that the configuration names as a plugin; tests put hooks into it."""
    module = ModuleType("reflex_test_plugin")
    sys.modules[module.__name__] = module
    text = f'plugins = ["{module.__name__}"]\n[loop]\nevaluator = "core"\n'
    (project / "pytest-reflex.toml").write_text(text)
    yield module
    del sys.modules[module.__name__]


def play(*flags: str) -> int:
    argv = ["loop", "new", "x", "--alias", "play", "--criteria", "words.yaml", "--yes", "--quiet"]
    return main([*argv, "--input", "draft.md", "--max-iterations", "2", *flags])


def run_json(project: Path) -> dict[str, Any]:
    path = project / ".ai-factory/evolution/play/run.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def saying(text: str | Callable[[StepRequest], str]) -> Callable[[StepRequest], Reply]:
    def hook(request: StepRequest) -> Reply:
        return Reply(text=text(request) if callable(text) else text, agent="plugin")

    return hook


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_documented_and_has_a_test_of_its_name(name: str) -> None:
    assert len(inspect.getdoc(getattr(hookspecs, name)) or "") > 40
    assert f"test_{name}" in globals()


def test_pytest_reflex_register_checks(plugin: ModuleType) -> None:
    class Shout:
        name = "shout"

        def problems(self, spec: Any) -> list[Any]:
            return []

        def compile(self, spec: Any, variables: Any) -> Any:
            passed = CheckResult(outcome=Outcome.PASS)
            return CompiledCheck(spec, lambda artifact, context: passed)

    plugin.pytest_reflex_register_checks = lambda register: register(Shout())  # type: ignore[attr-defined]
    text = CRITERIA.replace("{type: content, search: alpha}", "{type: shout}")
    Path("words.yaml").write_text(text)
    assert main(["evaluate", "draft.md", "--criteria", "words.yaml"]) == 0


def test_pytest_reflex_register_agents(plugin: ModuleType, project: Path) -> None:
    class Kind:
        name = "mine"

        def __init__(self, settings: Any) -> None:
            self.word = settings["word"]

        def respond(self, request: StepRequest) -> Reply:
            return Reply(text=f"{self.word}\n", agent=self.name)

    plugin.pytest_reflex_register_agents = lambda register: register("mine", Kind)  # type: ignore[attr-defined]
    path = project / "pytest-reflex.toml"
    path.write_text(path.read_text() + '[agents.writer]\nkind = "mine"\nword = "alpha"\n')
    assert play("--agent", "produce=writer") == 0


def test_pytest_reflex_register_reporters(
    plugin: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin.pytest_reflex_register_reporters = lambda register: register(  # type: ignore[attr-defined]
        "count", lambda evaluations: f"{len(evaluations)}\n"
    )
    main(["evaluate", "draft.md", "--criteria", "words.yaml", "--format", "count"])
    assert capsys.readouterr().out == "1\n"


def test_pytest_reflex_plan(plugin: ModuleType, project: Path) -> None:
    plugin.pytest_reflex_plan = saying(json.dumps({"plan": ["a", "b", "c"]}))  # type: ignore[attr-defined]
    play()
    assert run_json(project)["plan"] == ["a", "b", "c"]


def test_pytest_reflex_produce(plugin: ModuleType) -> None:
    plugin.pytest_reflex_produce = saying("alpha\n")  # type: ignore[attr-defined]
    assert play() == 0


def test_pytest_reflex_prepare(plugin: ModuleType) -> None:
    check = {"rule_id": "a.x.alpha", "type": "content", "search": "beta", "expected": "beta"}
    plugin.pytest_reflex_prepare = saying(json.dumps({"checks": [check]}))  # type: ignore[attr-defined]
    Path("words.yaml").write_text(CRITERIA.replace("{type: content, search: alpha}", "say it"))
    assert play() == 0


def test_pytest_reflex_evaluate(plugin: ModuleType) -> None:
    def never(target: Any) -> str:
        return "passed"

    plugin.pytest_reflex_evaluate = never  # type: ignore[attr-defined]
    assert play() == 9


def test_pytest_reflex_critique(plugin: ModuleType, project: Path) -> None:
    issue = dict.fromkeys(("problem", "fix_instruction", "expected_effect"), "mine")
    answer = json.dumps({"issues": [{"rule_id": "a.x.alpha", **issue}]})
    plugin.pytest_reflex_critique = saying(answer)  # type: ignore[attr-defined]
    play()
    assert run_json(project)["critique"]["issues"][0]["problem"] == "mine"


def test_pytest_reflex_refine(plugin: ModuleType) -> None:
    plugin.pytest_reflex_refine = saying(lambda request: f"{request.artifact}alpha\n")  # type: ignore[attr-defined]
    assert play() == 0


def test_pytest_reflex_record(plugin: ModuleType) -> None:
    told: list[str] = []
    plugin.pytest_reflex_record = lambda event: told.append(event.kind.value)  # type: ignore[attr-defined]
    play()
    assert told[-1] == "stopped"


def test_pytest_reflex_answered(plugin: ModuleType) -> None:
    told: list[tuple[str, str]] = []

    def answered(request: StepRequest, reply: Reply) -> None:
        told.append((request.step.value, reply.agent))

    plugin.pytest_reflex_answered = answered  # type: ignore[attr-defined]
    plugin.pytest_reflex_plan = saying("no JSON")  # type: ignore[attr-defined]
    play()
    assert told == [("PLAN", "plugin")] * 2


def test_pytest_reflex_count_tokens(plugin: ModuleType) -> None:
    plugin.pytest_reflex_count_tokens = lambda text: len(text.split())  # type: ignore[attr-defined]
    host = open_host([plugin.__name__])
    assert tokens_of("two words", host.hooks) == 2


def test_a_plugin_that_cannot_be_imported_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pytest-reflex.toml").write_text('plugins = ["no_such_module"]\n')
    assert main(["evaluate", "draft.md", "--criteria", "words.yaml"]) == 4
    assert "plugin 'no_such_module' could not be imported" in capsys.readouterr().err


def test_a_plugin_may_lie_in_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(project))])
    text = "def pytest_reflex_produce(request):\n    raise ValueError('mine')\n"
    (project / "project_reflex_plugin.py").write_text(text)
    (project / "pytest-reflex.toml").write_text('plugins = ["project_reflex_plugin"]\n')
    assert play() == 9
    assert "ValueError: mine" in run_json(project)["stop"]["detail"]


def test_a_conftest_that_lies_about_is_not_loaded(project: Path) -> None:
    (project / "conftest.py").write_text("raise SystemExit('loaded')\n")
    assert main(["evaluate", "draft.md", "--criteria", "words.yaml"]) == 1


def test_an_agent_for_one_step_leaves_the_others(project: Path) -> None:
    host = open_host()
    names = register_agents(host, load(project), ["offline", "refine=offline"])
    assert set(names) == {Step.PLAN, Step.PRODUCE, Step.PREPARE, Step.CRITIQUE, Step.REFINE}


def test_a_step_without_an_agent_of_that_name_is_refused(project: Path) -> None:
    with pytest.raises(UsageError, match="no such step"):
        register_agents(open_host(), load(project), ["evaluate=offline"])
