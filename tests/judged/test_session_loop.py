"""A judge in `pytest --reflex-loop`: its votes bear on the session's verdict and on its price."""

from __future__ import annotations

from pathlib import Path

from tests.drivers.pytest_loop.conftest import project
from tests.drivers.pytest_loop.stage import Project
from tests.judged.jurors import program
from tests.slim import slim_python

__all__ = ["project"]

SUITE = """\
criteria: {name: tone}
artifacts: [reply.md]
rules:
  - id: a.tone.polite
    description: The reply is polite
    severity: fail
    check: {type: judged, rubric: No insults.}
"""


def test_votes_decide_and_are_paid_for(project: Project) -> None:
    folder: Path = project.folder
    project.agent("mend()\npathlib.Path('reply.md').write_text('A polite text.\\n')")
    project.write("tone.reflex.yaml", SUITE)
    project.write("reply.md", "You broke it.\n")
    judge = program(folder, "polite")
    config = (folder / "pytest-reflex.toml").read_text()
    project.write("pytest-reflex.toml", f"{config}[agents.jury]\ncommand = {judge}\n")
    assert slim_python() in judge
    assert project.play("--reflex-judge=jury") == 0
    state = project.state()
    assert state["spend"]["calls"] == project.calls() + 2
    assert state["evaluation"]["judged"] == 1
