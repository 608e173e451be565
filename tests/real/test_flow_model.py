"""What the small model says to the prompts of a flow, as they are asked now."""

from __future__ import annotations

from pytest_reflex.drivers.flow import prompts
from pytest_reflex.drivers.flow.read import read_flow
from tests.examples.test_flows import FLOWS
from tests.real.flow_model import CODE, next_call

ROOT, FILES = read_flow(FLOWS / "red-to-green/.ai-loop/flow.yaml", FLOWS / "red-to-green")[:2]
FOLDER = ".ai-loop/runs/run_1/nodes/deliver"
RESULTS = ["status: fail", (FLOWS / "red-to-green" / CODE).read_text()]
TOOLS = {"Read", "Edit", "Write", "Bash"}


def decide() -> str:
    file = FILES[ROOT.controller]
    return prompts.controller_prompt(file, ROOT, path=ROOT.id, artifacts=FOLDER)


def act() -> str:
    assert ROOT.child
    return prompts.actuator_prompt(FILES[ROOT.child.actuator], artifacts=FOLDER, protected=[])


def test_a_controller_reads_what_was_measured_and_writes_its_decision() -> None:
    asked = [next_call(decide(), RESULTS[:made], TOOLS) for made in range(3)]
    names = ["sensor-tests-output.md", CODE, "controller-output.md"]
    for call, tool, name in zip(asked, ("Read", "Read", "Write"), names, strict=True):
        assert isinstance(call, tuple)
        assert (call[0], call[1]["file_path"].rpartition("/")[2]) == (tool, name)
    assert next_call(decide(), [*RESULTS, "written"], TOOLS) is None


def test_a_controller_that_may_only_read_says_its_decision() -> None:
    said = next_call(decide(), RESULTS, {"Read"})
    assert isinstance(said, str)
    assert said.startswith("---\ntarget-met: false\n---\n")


def test_an_actuator_edits_the_code_and_runs_commands_only_if_it_is_told_to() -> None:
    plan = "## Action Plan\n\n- Correct discounted in prices.py\n"
    edit = next_call(act(), [plan, RESULTS[1]], TOOLS)
    assert isinstance(edit, tuple)
    assert edit[1]["new_string"] == "if pieces >= 10 else"
    done = [plan, RESULTS[1], "edited", "written"]
    assert next_call(act(), done, TOOLS) is None
    assert next_call(act(), done, TOOLS - {"Bash"}, runs_tests=True) is None
    run = next_call(act(), done, TOOLS, runs_tests=True)
    assert isinstance(run, tuple)
    assert run[0] == "Bash"


def test_other_prompts_are_answered_in_words() -> None:
    assert next_call("hello", [], TOOLS) is None
