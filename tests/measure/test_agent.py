"""An agent as a measurement: a JSON document with evidence, or an error."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.drivers.common.measure import Attempt, Measurement, run_measure
from pytest_reflex.drivers.common.measure_criteria import AgentMeasure
from pytest_reflex.drivers.common.record import CallsUnderWay
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.errors import UsageError
from pytest_reflex.model.steps import Question, Reply
from tests.faults.driven import wait_until
from tests.slim import slim_python

GOOD = {"evidence": ["18 of 20 pages have a title"], "value": 18, "unit": "pages"}


class Tool:
    """Gives one answer after the other: an object gets the number of its case."""

    name = "tool"

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[Question] = []

    def ask(self, question: Question) -> Any:
        self.asked.append(question)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, dict):
            case = question.prompt.partition("Case number: ")[2][:16]
            answer = json.dumps({"case": case, **answer})
        return answer if not isinstance(answer, str) else reply(answer)


def reply(text: str, **more: Any) -> Reply:
    return Reply(text=text, agent="tool", seconds=2.0, usd=0.5, tokens=100, **more)


def found(*answers: Any, unit: str = "") -> Measurement:
    return run_measure(AgentMeasure(Tool(*answers), "Count the pages.", unit=unit), Attempt())


@pytest.mark.parametrize("status", ["passed", "failed", "not_measured"])
def test_an_answer_is_a_measurement_with_its_evidence_and_price(status: str) -> None:
    one = found({**GOOD, "status": status})
    assert (one.status, one.value, one.unit) == (status, Fraction(18), "pages")
    assert one.summary == one.evidence == "18 of 20 pages have a title"
    assert one.cost is not None
    assert (one.cost["calls"], one.cost["usd"], one.cost["tokens"]) == (1, 0.5, 100)


def test_a_value_is_exact_and_need_not_be() -> None:
    assert found({**GOOD, "value": 0.1, "status": "passed"}).value == Fraction(1, 10)
    without = found({"evidence": ["it reads well"], "value": None, "status": "passed"})
    assert (without.value, without.unit, without.passed) == (None, "", True)


BAD: list[Callable[[], Any]] = [
    lambda: "",
    lambda: "it is all fine: passed",
    lambda: json.dumps({"case": "0" * 16, **GOOD, "status": "passed"}),
    lambda: json.dumps({**GOOD, "status": "passed"}),
    lambda: {**GOOD, "status": "pass"},
    lambda: {**GOOD, "status": "passed", "evidence": []},
    lambda: {**GOOD, "status": "passed", "evidence": [" "]},
    lambda: {**GOOD, "status": "passed", "value": "18"},
    lambda: {**GOOD, "status": "passed", "value": True},
    lambda: {"evidence": ["x"], "status": "passed"},
]


@pytest.mark.parametrize("answer", BAD)
def test_an_answer_that_breaks_the_contract_twice_is_an_error(answer: Callable[[], Any]) -> None:
    one = found(answer(), answer())
    assert (one.status, one.value, one.passed) == ("error", None, False)
    assert one.summary.startswith("agent tool: its answer cannot be used: ")
    assert one.cost is not None
    assert (one.cost["calls"], one.cost["usd"]) == (2, 1.0)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "1e999"])
def test_a_value_that_is_no_finite_number_is_an_error(word: str) -> None:
    tool = Tool()
    measure = AgentMeasure(tool, "Count the pages.")

    def text(refusal: str) -> str:
        case = measure.prompt(refusal).partition("Case number: ")[2][:16]
        return (
            f'{{"case": "{case}", "evidence": ["x"], "value": {word}, "unit": "", '
            '"status": "passed"}'
        )

    tool._answers += [text(""), text("")]
    assert run_measure(measure, Attempt()).status == "error"


def test_text_around_the_answer_may_take_it_back() -> None:
    tool = Tool()
    measure = AgentMeasure(tool, "Count the pages.")
    case = measure.prompt().partition("Case number: ")[2][:16]
    text = json.dumps({"case": case, **GOOD, "status": "passed"}) + "\nBut I did not look."
    tool._answers += [text, text]
    one = run_measure(measure, Attempt())
    assert one.status == "error"
    assert "text stands around" in one.summary or "is not the number of this case" in one.summary


def test_each_call_is_under_way_until_its_answer_is_there() -> None:
    saved: list[tuple[Any, ...]] = []
    calls = CallsUnderWay(saved.append)
    during: list[tuple[Any, ...]] = []

    class Noting(Tool):
        def ask(self, question: Question) -> Any:
            during.append(saved[-1])
            return super().ask(question)

    tool = Noting("I think so.", {**GOOD, "status": "passed"})
    one = run_measure(AgentMeasure(tool, "Count the pages."), Attempt(calls=calls))
    assert [[cost["usd"] for cost in costs] for costs in during] == [[None], [0.5, None]]
    assert calls.take() == one.cost


KILLED = """\
import os, sys
from pathlib import Path
from pytest_reflex.drivers.common.record import CallsUnderWay
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.measure import Attempt, run_measure
from pytest_reflex.drivers.common.measure_criteria import AgentMeasure
from pytest_reflex.drivers.common.record_file import NextStep
from pytest_reflex.drivers.common.running import resume, run
from pytest_reflex.model.stop import StopReason

class Counting:
    name = "counting"
    def start(self, given):
        return {"done": 0}
    def decide(self, record):
        return Stop(StopReason.SUCCESS) if record.data["done"] else NextStep("count")
    def perform(self, step, record, tools):
        attempt = Attempt(tools.environment, tools.cancel, tools.calls)
        return {"found": run_measure(AgentMeasure(tools.agent, "Count."), attempt).summary}
    def apply(self, data, outcome):
        return {"done": 1}

for event in (run if sys.argv[1] == "run" else resume)(Counting(), "pages"):
    pass
"""
KILLING = """\
cat > prompt
if [ ! -e killed ]; then
    touch killed
    kill -9 $PPID
    sleep 60
fi
case=$(sed -n "s/^Case number: //p" prompt)
echo "{\\"case\\": \\"$case\\", \\"evidence\\": [\\"18\\"], \\"value\\": 18, \\"unit\\": \\"\\",
    \\"status\\": \\"passed\\"}"
"""


@pytest.mark.long
@pytest.mark.variants
def test_a_kill_while_it_asks_leaves_a_call_of_unknown_cost(tmp_path: Path) -> None:
    (tmp_path / "pytest-reflex.toml").write_text(
        'agent = "tool"\n[agents.tool]\ncommand = ["sh", "tool.sh"]\n'
    )
    (tmp_path / "tool.sh").write_text(KILLING)

    def play(how: str) -> int:
        argv = [slim_python(), "-c", KILLED, how]
        return subprocess.run(argv, cwd=tmp_path, timeout=60, check=False).returncode

    assert play("run") == -signal.SIGKILL
    files = RunFile(tmp_path, "counting", "pages")
    wait_until(lambda: not files.row().driven)
    spend = files.row().spend
    assert spend is not None
    assert (spend.calls, spend.unknown) == (1, 1)
    assert play("resume") == 0
    spend = files.row().spend
    assert spend is not None
    assert spend.calls == 2


def test_the_prompt_is_no_answer_to_itself() -> None:
    class Echo:
        name = "echo"

        def ask(self, question: Question) -> Reply:
            return Reply(text=question.prompt, agent="echo")

    assert (
        run_measure(AgentMeasure(Echo(), 'Say {"status": "passed"}'), Attempt()).status == "error"
    )


def test_an_answer_that_was_refused_is_asked_for_once_more_with_the_reason() -> None:
    tool = Tool("I think so.", {**GOOD, "status": "passed"})
    one = run_measure(AgentMeasure(tool, "Count the pages."), Attempt())
    assert (one.status, one.cost and one.cost["calls"]) == ("passed", 2)
    assert "Your last answer was refused" in tool.asked[1].prompt


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([reply("", error="it ran longer than 5 s and was stopped")], "it ran longer than 5 s"),
        ([reply('{"status": "passed"}', error="exit 1")], "exit 1"),
        ([ValueError("no such model")], "the agent raised ValueError: no such model"),
        ([42], "the agent returned 42, not a Reply"),
    ],
)
def test_an_agent_that_fails_is_an_error_with_its_reason(answers: Sequence[Any], why: str) -> None:
    one = found(*answers)
    assert (one.status, one.value) == ("error", None)
    assert one.summary.startswith(f"agent tool: {why}")


@pytest.mark.parametrize(("unit", "status"), [("pages", "passed"), ("%", "error")])
def test_a_value_in_another_unit_is_an_error(unit: str, status: str) -> None:
    answer = {**GOOD, "status": "passed"}
    one = found(answer, answer, unit=unit)
    assert one.status == status
    assert ("/unit: is 'pages', not '%'" in one.summary) is (status == "error")


def test_what_an_agent_says_is_made_visible() -> None:
    one = found({**GOOD, "evidence": ["a\x1b[2Jb", "two\nlines"], "status": "failed"})
    assert one.evidence == "a\\x1b[2Jb\ntwo lines"


def test_an_empty_question_is_refused() -> None:
    with pytest.raises(UsageError, match="the question for the agent is empty"):
        AgentMeasure(Tool(), " \n")


SLOW = "import sys, time; sys.stdin.read(); print('begun', flush=True); time.sleep(60)"


def test_a_tool_that_takes_too_long_is_an_error() -> None:
    table = {"command": [sys.executable, "-c", SLOW], "timeout": 2}
    agent = agent_from_table("slow", table, {"slow": table}, timeout=60.0, timeout_of="")
    one = run_measure(AgentMeasure(agent, "Count the pages."), Attempt())
    assert one.status == "error"
    assert one.summary.startswith("agent slow: ")
    assert one.cost is not None
    assert one.cost["calls"] == 1


def test_an_agent_is_not_asked_once_the_run_was_stopped() -> None:
    stop = Event()
    stop.set()
    tool = Tool()
    one = run_measure(AgentMeasure(tool, "Count the pages."), Attempt(cancel=stop))
    assert (one.status, tool.asked) == ("not_measured", [])


def test_an_agent_gets_the_variables() -> None:
    tool = Tool({**GOOD, "status": "passed"})
    run_measure(AgentMeasure(tool, "Count the pages."), Attempt({"PYTEST_REFLEX_ITERATION": "3"}))
    assert tool.asked[0].environment["PYTEST_REFLEX_ITERATION"] == "3"
