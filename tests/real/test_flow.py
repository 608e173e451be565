"""The real Claude Code, where it is installed, in both loops of the example of a flow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.test_flows import EXPECTED
from tests.real.clients import CLAUDE
from tests.real.faulty import FaultyServer
from tests.real.flowing import TASK, commit, flow, git, prepare
from tests.real.test_editing import settings_of

pytestmark = pytest.mark.skipif(
    not CLAUDE.program.exists(), reason=f"{CLAUDE.package} is not installed: make real-claude"
)
READS_ONLY = """
agent = "claude"
[flow.agents]
controller = "reader"

[agents.reader]
preset = "claude"
edit_options = ["--tools", "Read,Glob,Grep"]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    prepare(tmp_path / "project")
    return tmp_path / "project"


def test_a_flow_needs_no_configuration_beside_the_name_of_its_agent(
    server: FaultyServer, project: Path
) -> None:
    ran = flow(server, CLAUDE, project, "flow", "run", TASK, "--agent", "claude")
    assert ran.status == 0, ran.told
    assert "Stopped: target-met" in ran.told
    found = [(one.path, one.label, one.status) for one in ran.commits]
    assert found == EXPECTED["red-to-green"]
    assert set(ran.commits[-1].sensors.values()) == {"pass"}
    changed = git(project, "diff", "--name-only", "main", "HEAD", "--", ":!.ai-loop/runs")
    assert changed.split() == ["prices.py"]
    assert "Corrected discounted." in git(project, "log", "-p", "main..HEAD", "--", ".ai-loop/runs")
    assert ran.spend["calls"] == sum(ran.answers.values()) == 7
    assert (ran.spend["tokens"], ran.spend["unknown_token_calls"]) == (ran.tokens, 0)
    # A controller reads two files and writes one, an actuator reads two and writes two.
    assert ran.requests == 5 * 4 + 2 * 5


def test_what_claude_was_not_allowed_ends_a_flow_that_goes_on_as_the_page_says(
    server: FaultyServer, project: Path
) -> None:
    ran = flow(server, CLAUDE, project, "flow-runs", "run", TASK, "--agent", "claude")
    assert ran.status == 9, ran.told
    assert "claude was not allowed: Bash, python -m unittest" in ran.told, ran.told
    assert (ran.spend["calls"], ran.spend["tokens"]) == (3, ran.tokens)
    (project / "pytest-reflex.toml").write_text(settings_of("run-a-flow.md"))
    resumed = flow(server, CLAUDE, project, "flow-runs", "resume")
    assert resumed.status == 0, resumed.told
    found = [(one.path, one.label, one.status) for one in resumed.commits]
    assert found == EXPECTED["red-to-green"]
    assert resumed.spend["calls"] == 7
    assert resumed.spend["tokens"] == ran.tokens + resumed.tokens
    # Both loops come to their end by the cheap model, the outer one after the inner one.
    assert sum(n for model, n in resumed.answers.items() if "haiku" in model) == 2


def test_a_controller_that_only_reads_prints_its_decision_and_an_agent_file_names_a_model(
    server: FaultyServer, project: Path
) -> None:
    (project / "pytest-reflex.toml").write_text(READS_ONLY)
    for name, model in (("flow-plan", "inherit"), ("flow-diagnose", "haiku")):
        path = project / f".claude/agents/{name}.md"
        path.write_text(path.read_text().replace("tools:", f"model: {model}\ntools:", 1))
    commit(project)
    ran = flow(server, CLAUDE, project, "flow", "run", TASK)
    assert ran.status == 0, ran.told
    found = [(one.path, one.label, one.status) for one in ran.commits]
    assert found == EXPECTED["red-to-green"]
    assert (ran.spend["calls"], ran.spend["tokens"]) == (7, ran.tokens)
    assert ran.requests == 5 * 3 + 2 * 5
    assert sum(n for model, n in ran.answers.items() if "haiku" in model) == 3
