"""The reference pages list what the program has, and nothing that it has not."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_reflex import hookspecs
from pytest_reflex.cli.groups import VERBS
from pytest_reflex.criteria.linting.diagnostic import WARNINGS
from pytest_reflex.criteria.load import SUITE_KEYS, TEMPLATE_KEYS
from pytest_reflex.criteria.rule_keys import READERS
from pytest_reflex.drivers.reflex.decide import ENDINGS as REFLEX_ENDINGS
from pytest_reflex.errors import ExitCode
from pytest_reflex.fixes.registry import KINDS
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.stop import ENDS, StopReason
from pytest_reflex.session.options import MARKERS, OPTIONS
from pytest_reflex.settings import SETTINGS, Setting
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def first_cells(text: str) -> list[str]:
    """Return the words in backticks in the first cell of each row of each table."""
    rows = re.findall(r"^\| (.*?) \|", text, re.MULTILINE)
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


def section(text: str, title: str) -> str:
    """Return what stands under a heading of level 2."""
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def commands(group: Any, name: str) -> Iterator[str]:
    """Yield every command and group, as it is typed."""
    yield name
    for verb in group.list_commands(None):
        command = group.get_command(None, verb)
        below = hasattr(command, "list_commands")
        yield from commands(command, f"{name} {verb}") if below else [f"{name} {verb}"]


def test_the_help_of_every_command_is_shown() -> None:
    from pytest_reflex.cli.groups import LazyGroup

    shown = re.findall(r"^\$ (.*) --help$", page("command-line"), re.MULTILINE)
    assert shown == list(commands(LazyGroup(VERBS, name="pytest-reflex"), "pytest-reflex"))


def setting_row(setting: Setting) -> str:
    """Return the row of the table of settings."""
    value = list(setting.default) if isinstance(setting.default, tuple) else setting.default
    variable = "" if isinstance(setting.default, dict) else f" `{setting.variable}`"
    return f"| `{setting.name}` | `{json.dumps(value)}` |{variable} | {setting.help} |"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_every_setting_has_its_row(setting: Setting) -> None:
    where = f"Table {setting.table}" if setting.table else "Top level"
    assert setting_row(setting) in section(page("configuration"), where).splitlines()


def test_no_other_setting_is_listed() -> None:
    listed = first_cells(page("configuration"))
    assert listed == [setting.name for setting in SETTINGS]


def test_the_options_of_pytest_are_listed() -> None:
    text = page("pytest")
    listed = [option.split()[0] for option in first_cells(section(text, "Options"))]
    assert listed == [option.flag for option in OPTIONS]
    with_key = [(option.key) for option in OPTIONS if option.ini]
    assert first_cells(section(text, "Ini keys")) == with_key


def test_the_marks_are_named() -> None:
    text = section(page("pytest"), "Marks")
    named = set(re.findall(r"reflex\w*", text))
    assert named <= {re.split(r"[(:]", line)[0] for line in MARKERS}


def test_every_hook_is_documented_with_its_signature() -> None:
    text = page("hooks")
    hooks = {
        name: ", ".join(inspect.signature(hook).parameters)
        for name, hook in vars(hookspecs).items()
        if name.startswith("pytest_reflex_")
    }
    assert re.findall(r"^### `(.*)`$", text, re.MULTILINE) == [
        f"{name}({parameters})" for name, parameters in hooks.items()
    ]
    assert first_cells(text) == list(hooks)


def test_the_exit_codes_are_listed() -> None:
    rows = re.findall(r"^\| (\d+) \| ([A-Z_]+) \|", page("exit-codes"), re.MULTILINE)
    assert rows == [(str(code.value), code.name) for code in ExitCode]


@pytest.mark.parametrize("reason", REFLEX_ENDINGS)
def test_every_reason_to_stop_is_explained_with_its_exit_code(reason: StopReason) -> None:
    text = (ROOT / "docs" / "explanation" / "the-loop.md").read_text(encoding="utf-8")
    code = ENDS[reason].exit_code.value
    assert re.search(rf"^\| `{reason.value}` \|.*\| {code} \|$", text, re.MULTILINE)


def test_the_keys_of_criteria_files_are_listed() -> None:
    text = page("criteria-file")
    assert set(first_cells(section(text, "Templates"))) == set(TEMPLATE_KEYS)
    suite = set(re.findall(r"`(\w+)`", section(text, "Suites").split("|")[0]))
    suite |= set(first_cells(section(text, "Suites")))
    assert suite == set(SUITE_KEYS)
    assert set(first_cells(section(text, "Rules"))) == {"id", *READERS}


def test_the_kinds_of_fixes_are_listed_with_their_parameters() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section(page("criteria-file"), "Fixes"), re.M)
    listed = {kind: set(re.findall(r"`(\w+)`", parameters)) for kind, parameters in rows}
    assert listed == {name: set(kind.fields) for name, kind in KINDS.items()}


def test_the_events_of_a_run_are_listed() -> None:
    events = section(page("run-files"), "history.jsonl").split("| event | payload |")[1]
    assert first_cells(events) == [kind.value for kind in EventKind]


def test_the_warnings_of_the_lint_are_listed() -> None:
    text = section(page("command-line"), "criteria lint")
    rows = re.findall(r"^\| `(.*?)` \| (.*) \|$", text, re.MULTILINE)
    assert rows == list(WARNINGS.items())


def test_every_key_and_event_of_an_iteration_loop_is_listed() -> None:
    from pytest_reflex.contracts.validate import schema

    text = page("iteration-files")
    assert first_cells(section(text, "State")) == [*schema("iteration-state")["properties"]]
    log = schema("iteration-log")["properties"]
    assert first_cells(section(text, "Log")) == log["event"]["enum"]
    words = set(re.findall(r"`([a-z_]+)`", section(text, "Log")))
    assert set(log) - words == set()


def test_every_cause_of_a_failed_round_is_explained_in_its_order() -> None:
    from pytest_reflex.drivers.iterate.model import FailureCause

    text = (ROOT / "docs" / "explanation" / "iteration-loop.md").read_text(encoding="utf-8")
    listed = first_cells(section(text, "What counts as failure"))
    assert listed == [cause.value for cause in FailureCause]


def test_every_end_of_an_iteration_loop_is_listed_with_its_exit_status() -> None:
    from pytest_reflex.drivers.iterate.decide import ENDINGS, exit_code
    from pytest_reflex.drivers.iterate.messages import end_text
    from pytest_reflex.drivers.iterate.model import State

    state = State(
        procedure_name="build", max_iterations=7, failure_threshold=7, started_at="",
        iteration=7, consecutive_failures=7,
    )  # fmt: skip
    rows = re.findall(r"^\| `(.*?)` \| .*? \| (the end: .*) \|$", page("iteration-lines"), re.M)
    assert len(rows) == len(ENDINGS)
    for ending in ENDINGS:
        told = end_text(ending, state, seconds=1.0, saved=True, detail="calls: 3 of 3 used")
        (when,) = [end for line, end in rows if told.startswith(re.split(r" N| \(|\.", line)[0])]
        assert re.search(rf"\b{exit_code(ending, state).value}\b", when), ending


def test_the_keys_of_flow_yaml_are_listed() -> None:
    from pytest_reflex.drivers.flow import read

    text = page("flow-file")
    keys = {
        "File": read.ROOT_KEYS,
        "Node": read.NODE_KEYS,
        "Sensor": read.SENSOR_KEYS,
        "Actuator": read.ACTUATOR_KEYS,
        "Termination": read.TERMINATION_KEYS,
    }
    assert {title: first_cells(section(text, title)) for title in keys} == {
        title: list(known) for title, known in keys.items()
    }
    assert re.search("any of " + ", ".join(f"`{key}`" for key in read.BUDGET_KEYS[:-1]), text)


def test_the_files_and_fields_of_a_flow_s_run_are_listed() -> None:
    from pytest_reflex.drivers.flow import artifacts, messages, workspace

    text = page("flow-runs")
    for name in (
        *(artifacts.ORCHESTRATOR, artifacts.CONTROLLER, artifacts.ACTUATOR, artifacts.RESULT),
        *(artifacts.RUN_STATE, artifacts.sensor_file("NAME"), workspace.LOG),
    ):
        assert f"{name}`" in text
    for heading in artifacts.HEADINGS:
        assert f"## {heading}" in " ".join(text.split())
    example = text.split("```text\n")[1].split("```")[0]
    boundary = messages.read(example)
    assert boundary is not None
    assert messages.message(boundary) == example


@pytest.mark.parametrize("node", ["with a child", "direct"])
def test_the_placeholders_of_agent_files_are_those_that_are_filled_in(node: str) -> None:
    from pytest_reflex.drivers.flow import prompts
    from pytest_reflex.drivers.flow.model import FlowNode, Sensor
    from pytest_reflex.drivers.flow.prompts import AgentFile

    rows = re.findall(r"^\| `(\{[a-z-]+\})` \| (.*?) \|", page("flow-file"), re.MULTILINE)
    inner = FlowNode(id="inner", controller="c", sensors=(), max_iterations=1, actuator="a")
    child = inner if node == "with a child" else None
    outer = FlowNode(id="outer", controller="c", sensors=(), max_iterations=1, child=child)
    file = AgentFile(path="a.md", name="a", text="\n".join(name for name, _ in rows))
    asked = {
        "sensor": prompts.sensors_prompt([(Sensor(name="s", agent="a.md"), file)], "RUN"),
        "controller": prompts.controller_prompt(file, outer, path="outer", artifacts="RUN"),
        "actuator": prompts.actuator_prompt(file, artifacts="RUN", protected=()),
    }
    for role, prompt in asked.items():
        left = {name for name, _ in rows if name in prompt}
        assert left == {name for name, roles in rows if role not in roles}
