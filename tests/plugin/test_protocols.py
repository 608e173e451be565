"""The short protocol of cheap checks, and everybody else's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.plugin.conftest import BAD, MILD, Run, append_rule, edit, write

pytestmark = pytest.mark.long

Read = Callable[[str], dict[str, Any]]

SPY = """
import pytest
seen = []
def pytest_runtest_setup(item): seen.append(("setup", item.nodeid))
def pytest_runtest_logreport(report): seen.append((report.when, report.nodeid))
def pytest_unconfigure(config):
    print("SETUPS", sum(when == "setup" for when, _ in seen))
    print("TEARDOWNS", sum(when == "teardown" for when, _ in seen))
"""


@pytest.mark.parametrize("option", ["--reflex-standard-protocol", "--setup-show", "--pdb", "ini"])
def test_the_standard_protocol_says_the_same(
    project: pytest.Pytester, run: Run, document: Read, option: str
) -> None:
    write(project, "api.md", MILD)
    run("--reflex-json=out.json")
    if option == "ini":
        project.makeini("[pytest]\nreflex_standard_protocol = true\n")
    run("--reflex-json=two.json", *([] if option == "ini" else [option]))
    assert document("out.json") == document("two.json")


def test_a_foreign_listener_gets_teardowns_and_one_item_in_a_file_full_phases(
    project: pytest.Pytester,
) -> None:
    project.makeconftest(SPY)
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "-s")
    result.stdout.fnmatch_lines(["SETUPS 2", "TEARDOWNS 4"])
    result = project.runpytest_subprocess(
        "-p", "pytest_reflex.plugin", "-s", "--reflex-standard-protocol"
    )
    result.stdout.fnmatch_lines(["SETUPS 8", "TEARDOWNS 4"])


def test_checks_between_tests_leave_fixtures_in_order(project: pytest.Pytester, run: Run) -> None:
    for name in ("a", "z"):
        write(
            project,
            f"{name}/test_{name}.py",
            "import pytest\n"
            "@pytest.fixture(scope='package', autouse=True)\n"
            "def thing(): yield\n"
            "def test_it(): pass\n",
        )
        (project.path / name / "own.reflex.yaml").write_text(
            (project.path / "mini.reflex.yaml").read_text().replace("api.md", "../api.md")
        )
    result = run("a", "mini.reflex.yaml", "z")
    assert result.ret == 0
    result.assert_outcomes(passed=14)


def test_a_check_that_raises_anything_is_an_error(project: pytest.Pytester, run: Run) -> None:
    project.makeconftest(
        """
        import pytest
        from pytest_reflex.model.targets import CompiledCheck
        class Odd:
            name = "odd"
            def problems(self, spec): return ()
            def compile(self, spec, variables):
                def run(artifact, context): raise pytest.fail.Exception("too late")
                return CompiledCheck(spec, run)
        def pytest_reflex_register_checks(register): register(Odd())
        """
    )
    edit(project, '{type: content, search: "^## Usage", expected: a usage section}', "{type: odd}")
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAIL        a.x.usage: check error: the check raised Failed: too late"]
    )
    assert "INTERNALERROR" not in result.stdout.str()


def test_executable_checks_overlap_and_are_stopped_by_x(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    for number in range(3):
        append_rule(
            project,
            f"  - {{id: a.y.slow-{number}, description: slow, severity: fail, "
            f"check: {{type: executable, command: 'sleep 30; touch done-{number}'}}}}\n",
        )
    result = run("-x")
    assert result.ret == 1
    assert result.duration < 25
    assert not list(project.path.glob("done-*"))
    result.stdout.fnmatch_lines(["NOT MEASURED the session ended before it reported: *a.y.slow-0*"])


def test_executable_checks_run_once_each(project: pytest.Pytester, run: Run) -> None:
    for number in range(3):
        append_rule(
            project,
            f"  - {{id: a.y.once-{number}, description: once, severity: fail, "
            f"check: {{type: executable, command: 'echo {number} >> log'}}}}\n",
        )
    assert run().ret == 0
    assert sorted((project.path / "log").read_text().split()) == ["0", "1", "2"]


def test_a_conftest_below_registers_checks_for_its_folder(
    project: pytest.Pytester, run: Run
) -> None:
    suite = (project.path / "mini.reflex.yaml").read_text()
    write(
        project,
        "sub/conftest.py",
        """
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.model.enums import Outcome
class Always:
    name = "always"
    def problems(self, spec): return ()
    def compile(self, spec, variables):
        passed = CheckResult(outcome=Outcome.PASS)
        return CompiledCheck(spec, lambda artifact, context: passed)
def pytest_reflex_register_checks(register): register(Always())
""",
    )
    rule = "  - {id: a.y.always, description: always, severity: fail, check: {type: always}}\n"
    write(project, "sub/own.reflex.yaml", suite.replace("api.md", "../api.md") + rule)
    result = run()
    assert result.ret == 0
    result.assert_outcomes(passed=9)


def test_commands_and_content_checks_mix_in_a_rule(project: pytest.Pytester, run: Run) -> None:
    pair = "[{type: executable, command: 'true'}, {type: content, search: hello}]"
    for name in ("one", "two", "three"):
        rule = f"  - {{id: a.y.{name}, description: mixed, severity: fail, check: {pair}}}\n"
        append_rule(project, rule)
    result = run()
    assert result.ret == 0
    result.assert_outcomes(passed=10)
