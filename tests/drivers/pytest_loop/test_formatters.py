"""Formatters in a loop over a session: run on the artifact's text, with their programs sealed."""

from __future__ import annotations

import sys

import pytest

from tests.drivers.pytest_loop.stage import Project

pytestmark = pytest.mark.long

TIDY = """\
import pathlib, sys
page = pathlib.Path(sys.argv[1])
assert page.name == "page.md"
page.write_text("".join(line.rstrip() + "\\n" for line in page.read_text().splitlines()))
"""
SUITE = f"""\
artifacts: page.md
commands: {{tidy: {{argv: ['{sys.executable}', tools/tidy.py, '{{file}}'], args: [file]}}}}
rules:
  - id: a.style.ends
    description: No line ends with spaces
    severity: fail
    check: {{type: content, search: ' +$', negate: true}}
    fix: {{format: {{command: tidy}}, safe: true}}
"""

NEW = ("--reflex-loop", "--reflex-artifact=page.md", "--reflex-yes")


@pytest.fixture
def page(project: Project) -> Project:
    for name in ("test_sums.py", "sums.py"):
        (project.folder / name).unlink()
    project.write("tools/tidy.py", TIDY)
    project.write("it.reflex.yaml", SUITE)
    project.write("page.md", "# T  \n\nx \n")
    return project


def test_formatter_mends_the_artifact_and_no_agent_is_asked(page: Project) -> None:
    assert page.run(*page.arguments(*NEW)) == 0
    assert page.read("page.md") == "# T\n\nx\n"
    assert page.calls() == 0


def test_program_of_a_formatter_is_sealed(page: Project) -> None:
    page.write("tools/tidy.py", "raise SystemExit('out of order')\n")
    page.agent("pathlib.Path('tools/tidy.py').write_text('x = 1')")
    assert page.run(*page.arguments(*NEW)) != 0
    reason, detail = page.stop()
    assert reason == "tampered"
    assert "(REFINE): tools/tidy.py was changed" in detail
