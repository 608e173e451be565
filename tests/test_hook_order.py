"""A plugin with all hooks of steps, in every driver: it is asked before the built-ins."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import pytest_reflex
from pytest_reflex import hookspecs
from pytest_reflex.cli.main import main
from pytest_reflex.drivers.pytest_loop.files import document
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.targets import Target
from pytest_reflex.verdict.score import judge
from tests.drivers.iterate.project import Project as IterateProject
from tests.drivers.pytest_loop.stage import CODE, RIGHT, Project

pytestmark = [pytest.mark.long, pytest.mark.variants]

STEPS = ("plan", "produce", "prepare", "evaluate", "critique", "refine")
# PREPARE has an agent where rules have prose for a check; no rule of a session has.
OF_SESSION = ("plan", "produce", "evaluate", "critique", "refine")
CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: a.x.beta, description: says beta, severity: warn, check: it says beta}
"""
AGENT = """\
import json, pathlib, sys
prompt = sys.stdin.read()
with pathlib.Path("{log}").open("a") as log:
    log.write("agent\\n")
issue = dict(problem="no alpha", fix_instruction="say alpha", expected_effect="it is said")
check = dict(rule_id="a.x.beta", type="content", search="beta", expected="beta")
if '"plan"' in prompt:
    print(json.dumps(dict(plan=["a", "b", "c"])))
elif '"checks"' in prompt:
    print(json.dumps(dict(checks=[check])))
elif '"issues"' in prompt:
    print(json.dumps(dict(issues=[dict(rule_id="a.x.alpha", **issue)])))
else:
    calls = pathlib.Path("{log}").read_text().split().count("agent")
    print("beta" if calls <= 3 else "alpha beta")
"""
SESSION_FLAGS = [pytest.param((), id="plain"), pytest.param(("-p", "xdist", "-n", "2"), id="-n 2")]
Answer = Callable[[Any], Any]


class Spy:
    """A plugin module that the configuration names; it notes what it was asked in `log`."""

    def __init__(self, log: Path) -> None:
        self.log, self.answers = log, dict[str, Answer]()
        self.module = ModuleType("reflex_spy")
        hooks: Mapping[str, Any] = {
            f"pytest_reflex_{step}": self._target if step == "evaluate" else self._hook(step)
            for step in STEPS
        }
        vars(self.module).update(hooks)
        self.module.pytest_reflex_count_tokens = self._text  # type: ignore[attr-defined]

    def _hook(self, step: str) -> Callable[..., Any]:
        def hook(request: StepRequest) -> Any:
            return self._asked(step, request)

        return hook

    def _target(self, target: Target) -> Any:
        return self._asked("evaluate", target)

    def _text(self, text: str) -> Any:
        return self._asked("count_tokens", text)

    def _asked(self, name: str, what: Any) -> Any:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        answer = self.answers.get(name)
        return None if answer is None else answer(what)

    def asked(self) -> list[str]:
        return self.log.read_text("utf-8").split() if self.log.exists() else []


@pytest.fixture
def spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spy]:
    for name in ("CI", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    found = Spy(tmp_path / "asked.txt")
    sys.modules["reflex_spy"] = found.module
    yield found
    del sys.modules["reflex_spy"]


def named(folder: Path) -> None:
    """Name the spy in the configuration of a project."""
    path = folder / "pytest-reflex.toml"
    path.write_text(f'plugins = ["reflex_spy"]\n{path.read_text("utf-8")}')


def reply(text: str) -> Answer:
    return lambda request: Reply(text=text, agent="spy")


def passes(target: Target) -> Evaluation:
    results = {
        (rule.id, number): CheckResult(outcome=Outcome.PASS)
        for rule in target.rules
        for number, _ in enumerate(rule.checks)
    }
    sha256 = hashlib.sha256(Path(target.artifact).read_bytes()).hexdigest()
    return judge(target, results, sha256=sha256)


def critique(request: StepRequest) -> Reply:
    assert request.evaluation
    words = dict.fromkeys(("problem", "fix_instruction", "expected_effect"), "by the spy")
    issue = {"rule_id": request.evaluation.failed[0].rule.id, **words}
    return Reply(text=json.dumps({"issues": [issue]}), agent="spy")


PLAN = json.dumps({"plan": ["look", "think", "write"]})
CHECKS = json.dumps(
    {"checks": [{"rule_id": "a.x.beta", "type": "content", "search": "x", "expected": "x"}]}
)
FILES = json.dumps({"files": [{"path": "sums.py", "text": RIGHT}]})


# `pytest --reflex-loop`


@pytest.fixture
def session(tmp_path: Path, spy: Spy) -> Project:
    project = Project(tmp_path / "project")
    named(project.folder)
    return project


@pytest.mark.parametrize("flags", SESSION_FLAGS)
def test_a_plugin_is_asked_in_each_step_of_a_session_loop_and_none_leaves_it_to_the_others(
    session: Project, spy: Spy, flags: tuple[str, ...]
) -> None:
    session.agent(f"pathlib.Path({str(spy.log)!r}).open('a').write('agent\\n')\nfix()")
    assert session.play(*flags) == 0
    assert session.read() == RIGHT
    first = ["plan", "produce", "evaluate", "critique", "refine", "agent"]
    assert spy.asked() == [*first, "plan", "evaluate"]


SESSION_ANSWERS: Mapping[str, tuple[Answer, Callable[[Mapping[str, Any]], bool], int]] = {
    "plan": (reply(PLAN), lambda state: state["plan"] == ["look", "think", "write"], 1),
    "produce": (reply(FILES), lambda state: state["iteration"] == 1, 0),
    "evaluate": (passes, lambda state: state["evaluation"]["score_exact"] == "1/1", 0),
    "critique": (
        critique,
        lambda state: state["critique"]["issues"][0]["problem"] == "by the spy",
        1,
    ),
    "refine": (reply(FILES), lambda state: state["iteration"] == 2, 0),
}


@pytest.mark.parametrize("flags", SESSION_FLAGS)
@pytest.mark.parametrize("step", OF_SESSION)
def test_an_answer_of_a_plugin_is_used_in_a_session_loop(
    session: Project, spy: Spy, step: str, flags: tuple[str, ...]
) -> None:
    answer, is_used, calls = SESSION_ANSWERS[step]
    spy.answers[step] = answer
    assert session.play(*flags) == 0
    state = dict(session.state())
    if step == "critique":
        (state["critique"],) = session.events("critique_done")
    assert is_used(state)
    assert session.calls() == calls
    assert session.read() == (CODE if step == "evaluate" else RIGHT)


@pytest.mark.parametrize(
    "text",
    [FILES, f"So:\n```json\n{FILES}\n```", document({"sums.py": CODE}, {"sums.py": RIGHT})],
    ids=["json", "chatter", "document"],
)
@pytest.mark.parametrize("step", ["produce", "refine"])
def test_files_may_be_answered_as_texts_or_as_the_document_of_changes(
    session: Project, spy: Spy, step: str, text: str
) -> None:
    spy.answers[step] = reply(text)
    assert session.play() == 0
    assert (session.read(), session.calls()) == (RIGHT, 0)


@pytest.mark.parametrize("step", ["produce", "refine"])
def test_what_a_plugin_writes_into_the_files_counts(session: Project, spy: Spy, step: str) -> None:
    def write(request: StepRequest) -> Reply:
        session.write("sums.py", RIGHT)
        return Reply(text="did it", agent="spy")

    spy.answers[step] = write
    assert session.play() == 0
    assert (session.read(), session.calls()) == (RIGHT, 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("alpha", "no file was changed, and the answer holds no JSON object"),
        (json.dumps({"files": [{"path": "test_sums.py", "text": ""}]}), "may not be changed"),
        (document({}, {"conftest.py": "x = 1\n"}), "'conftest.py' may not be changed"),
        (document({"sums.py": "y"}, {"sums.py": "x"}), "does not fit the start of the run"),
        ("", "no file was changed, and the answer is empty"),
    ],
)
@pytest.mark.parametrize("step", ["produce", "refine"])
def test_an_answer_that_cannot_be_used_ends_the_run_and_changes_no_file(
    session: Project, spy: Spy, step: str, text: str, problem: str
) -> None:
    spy.answers[step] = reply(text)
    assert session.play() == 1
    reason, detail = session.stop()
    assert reason == "phase_error"
    assert problem in detail
    assert session.read() == CODE
    assert not (session.folder / "conftest.py").exists()
    assert spy.asked().count(step) == 2


def test_fixes_are_applied_before_a_plugin_is_asked_to_refine(session: Project, spy: Spy) -> None:
    seen: list[StepRequest] = []

    def note(request: StepRequest) -> None:
        seen.append(request)

    spy.answers["refine"] = note
    session.play()
    (request,) = seen
    assert request.files is not None
    assert request.files.texts == {"sums.py": CODE}


def test_a_plugin_answers_also_where_the_agent_is_offline(session: Project, spy: Spy) -> None:
    session.write(
        "text.reflex.yaml",
        "artifacts: [sums.py]\nrules:\n  - id: a.text.doc\n    description: says what it is\n"
        "    severity: fail\n    check: {type: content, search: '^# Sums'}\n"
        '    fix: {insert_text: {text: "# Sums\\n", at: start}}\n',
    )
    answered = json.dumps({"files": [{"path": "sums.py", "text": f"# Sums\n{RIGHT}"}]})
    spy.answers["refine"] = reply(answered)
    assert session.play("--reflex-agent=offline") == 0
    assert session.read() == f"# Sums\n{RIGHT}"


def test_a_plugin_answers_where_the_agent_is_offline_and_there_are_no_fixes(
    session: Project, spy: Spy
) -> None:
    spy.answers["refine"] = reply(FILES)
    assert session.play("--reflex-agent=offline") == 0
    assert session.read() == RIGHT


def test_without_any_plugin_that_refines_the_offline_agent_is_refused(
    session: Project, spy: Spy, capfd: pytest.CaptureFixture[str]
) -> None:
    del spy.module.pytest_reflex_refine
    assert session.play("--reflex-agent=offline") == 4
    assert "the agent offline can only apply fixes" in capfd.readouterr().err


@pytest.mark.parametrize("deed", ["sums.py", "other"])
def test_an_evaluation_of_files_that_a_plugin_changed_meanwhile_counts_for_nothing(
    session: Project, spy: Spy, deed: str
) -> None:
    def change(target: Target) -> Evaluation:
        if deed == "sums.py":
            session.write("sums.py", RIGHT)
            return passes(target)
        return judge(target, {}, sha256="0" * 64)

    spy.answers["evaluate"] = change
    session.play()
    told = [error["message"] for error in session.events("phase_error")]
    assert told[0] == "the artifact changed while it was evaluated"
    assert len(told) == (1 if deed == "sums.py" else 2)


# `pytest-reflex loop`


@pytest.fixture
def loop(tmp_path: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "loop"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT.format(log=spy.log))
    (folder / "words.yaml").write_text(CRITERIA)
    (folder / "draft.md").write_text("beta\n")
    agent = f'[agents.script]\ncommand = ["{sys.executable}", "agent.py"]\n'
    (folder / "pytest-reflex.toml").write_text(f'agent = "script"\n{agent}')
    named(folder)
    monkeypatch.chdir(folder)
    return folder


def play(*flags: str) -> int:
    argv = ["loop", "new", "x", "--alias", "play", "--criteria", "words.yaml", "--yes", "--quiet"]
    more = ["--sequential", "--input", "draft.md", "--max-iterations", "2"]
    return main([*argv, *more, *flags])


@pytest.mark.parametrize("evaluator", ["pytest", "core"])
def test_a_plugin_is_asked_in_each_step_of_a_loop_and_before_its_agent(
    loop: Path, spy: Spy, evaluator: str
) -> None:
    play("--evaluator", evaluator)
    asked = spy.asked()
    for step in STEPS:
        assert step in asked
        if step != "evaluate":
            assert asked[asked.index(step) + 1] == "agent"


LOOP_ANSWERS: Mapping[str, tuple[Answer, str, Callable[[Mapping[str, Any]], Any]]] = {
    "plan": (reply(PLAN), "plan_created", lambda payload: payload["plan"][0] == "look"),
    "produce": (reply("beta x\n"), "artifact_created", lambda payload: payload["agent"] == "spy"),
    "prepare": (reply(CHECKS), "checks_prepared", lambda payload: payload["agent"] == "spy"),
    "evaluate": (passes, "evaluation_done", lambda payload: payload["evaluation"]["passed"]),
    "critique": (critique, "critique_done", lambda payload: payload["agent"] == "spy"),
    "refine": (reply("alpha beta\n"), "refinement_done", lambda payload: payload["agent"] == "spy"),
}


@pytest.mark.parametrize("step", STEPS)
def test_an_answer_of_a_plugin_is_used_in_a_loop(loop: Path, spy: Spy, step: str) -> None:
    answer, kind, is_used = LOOP_ANSWERS[step]
    spy.answers[step] = answer
    play()
    history = (loop / ".ai-factory/evolution/play/history.jsonl").read_text("utf-8").splitlines()
    events = [event for event in map(json.loads, history) if event["event"] == kind]
    assert is_used(events[0]["payload"])


# `pytest-reflex iterate`


@pytest.fixture
def iterate(tmp_path: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch) -> IterateProject:
    project = IterateProject(tmp_path / "iterate", "ok")
    named(project.folder)
    monkeypatch.chdir(project.folder)
    return project


@pytest.mark.parametrize(("count", "told"), [(200_000, True), (99_999, False), (100_000, False)])
def test_a_plugin_counts_the_tokens_of_each_prompt_of_iterate(
    iterate: IterateProject, spy: Spy, count: int, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    spy.answers["count_tokens"] = lambda text: count
    assert main(["iterate", "run", "build", "-n", "1"]) == 0
    assert ("Prompt exceeds token budget: 200,000" in capsys.readouterr().err) is told
    assert set(spy.asked()) == {"count_tokens"}


def test_a_plugin_that_does_not_count_leaves_it_to_the_characters(
    iterate: IterateProject, spy: Spy, capsys: pytest.CaptureFixture[str]
) -> None:
    config = iterate.folder / "pytest-reflex.toml"
    config.write_text(config.read_text().replace("[iterate]\n", "[iterate]\ntoken_budget = 1\n"))
    assert main(["iterate", "run", "build", "-n", "1"]) == 0
    assert "Prompt exceeds token budget: " in capsys.readouterr().err
    assert "count_tokens" in spy.asked()


# All hooks, in every driver

REGISTERING = {"register_checks", "register_agents", "register_reporters"}
OF_A_LOOP = REGISTERING | {*STEPS, "answered", "record"}
HOOKS: Mapping[str, set[str]] = {
    "loop": OF_A_LOOP,
    "session": OF_A_LOOP - {"prepare"},
    "iterate": REGISTERING | {"count_tokens"},
}


def listen(spy: Spy) -> None:
    """Have the spy listen to what a driver tells and registers, too."""

    def checks(register: object) -> None:
        spy._asked("register_checks", register)

    def agents(register: object) -> None:
        spy._asked("register_agents", register)

    def reporters(register: object) -> None:
        spy._asked("register_reporters", register)

    def answered(request: StepRequest, reply: Reply) -> None:
        spy._asked("answered", request)

    def record(event: object) -> None:
        spy._asked("record", event)

    for function in (checks, agents, reporters):
        setattr(spy.module, f"pytest_reflex_register_{function.__name__}", function)
    vars(spy.module).update(pytest_reflex_answered=answered, pytest_reflex_record=record)


def test_every_hook_belongs_to_a_driver() -> None:
    known = {name.removeprefix("pytest_reflex_") for name in vars(hookspecs)}
    known = {name for name in known if hasattr(hookspecs, f"pytest_reflex_{name}")}
    assert set[str]().union(*HOOKS.values()) == known


def test_a_loop_asks_and_tells_all_that_it_has_a_step_for(loop: Path, spy: Spy) -> None:
    listen(spy)
    play()
    assert set(spy.asked()) - {"agent"} == HOOKS["loop"]
    asked = spy.asked()
    # An answer is reported before it is used, and each event when it is durable.
    assert asked[asked.index("plan") : asked.index("plan") + 4] == [
        "plan", "agent", "answered", "record"
    ]  # fmt: skip


def test_a_loop_over_a_session_asks_and_tells_all_that_it_has_a_step_for(
    session: Project, spy: Spy
) -> None:
    listen(spy)
    session.agent(f"pathlib.Path({str(spy.log)!r}).open('a').write('agent\\n')\nfix()")
    assert session.play() == 0
    assert set(spy.asked()) - {"agent"} == HOOKS["session"]
    asked = spy.asked()
    assert asked[asked.index("refine") : asked.index("refine") + 4] == [
        "refine", "agent", "answered", "record"
    ]  # fmt: skip


def test_an_iteration_loop_asks_all_that_it_has_a_step_for(
    iterate: IterateProject, spy: Spy
) -> None:
    listen(spy)
    assert main(["iterate", "run", "build", "-n", "2"]) == 0
    assert set(spy.asked()) == HOOKS["iterate"]
    assert spy.asked().count("count_tokens") >= 2


def test_an_agent_and_a_check_that_a_plugin_registers_are_those_of_an_iteration_loop(
    iterate: IterateProject, spy: Spy, capsys: pytest.CaptureFixture[str]
) -> None:
    listen(spy)

    class Registered:
        name = "registered"

        def respond(self, request: StepRequest) -> Reply:
            raise AssertionError("no step is asked")

        def ask(self, question: object) -> Reply:
            return Reply(text="did it", agent=self.name)

    spy.answers["register_agents"] = lambda register: register("registered", lambda _: Registered())
    assert main(["iterate", "run", "build", "-n", "1", "--agent", "registered"]) == 0
    assert iterate.calls() == []


PluginOf = Callable[[Spy], object]
PLUGINS = [
    pytest.param(lambda spy: "reflex_spy", id="name"),
    pytest.param(lambda spy: spy.module, id="module"),
    pytest.param(lambda spy: SimpleNamespace(**hooks_of(spy)), id="object"),
]


def hooks_of(spy: Spy) -> dict[str, Any]:
    return {name: hook for name, hook in vars(spy.module).items() if name.startswith("pytest_")}


def unnamed(folder: Path) -> None:
    """Take the spy out of the configuration of a project."""
    path = folder / "pytest-reflex.toml"
    path.write_text(path.read_text("utf-8").replace('plugins = ["reflex_spy"]\n', ""))


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_program_that_runs_a_loop_gives_it_plugins(
    loop: Path, spy: Spy, plugin: PluginOf
) -> None:
    unnamed(loop)
    listen(spy)
    events = pytest_reflex.run_loop(
        "x", criteria="words.yaml", draft="draft.md", plugins=[plugin(spy)], max_iterations=2
    )
    assert list(events)
    assert set(spy.asked()) - {"agent"} == HOOKS["loop"]
    asked = spy.asked()
    for step in STEPS:
        if step != "evaluate":
            following = [word for word in asked[asked.index(step) + 1 :] if word in ("agent", step)]
            assert following[0] == "agent"


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_program_that_runs_a_procedure_gives_it_plugins(
    iterate: IterateProject, spy: Spy, plugin: PluginOf
) -> None:
    unnamed(iterate.folder)
    listen(spy)
    assert list(pytest_reflex.run_iterate("build", plugins=[plugin(spy)], max_iterations=1))
    assert set(spy.asked()) == HOOKS["iterate"]
