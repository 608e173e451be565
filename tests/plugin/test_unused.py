"""Installed and not used: next to nothing is loaded, and nothing is changed."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.long

LOOK = """
import json, sys
def pytest_unconfigure():
    names = sorted(sys.modules)
    own = [name for name in names if name.split(".")[0] == "pytest_reflex"]
    print("LOADED", json.dumps([own, [name.split(".")[0] for name in names]]))
"""
HEAVY = {"ruamel", "_ruamel_yaml", "jsonschema", "tabulate", "markdown_it", "click", "rich", "re2"}


def loaded(project: pytest.Pytester, *arguments: str) -> tuple[list[str], set[str]]:
    project.makeconftest(LOOK)
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "-s", *arguments)
    line = next(line for line in result.outlines if line.startswith("LOADED "))
    own, names = json.loads(line.removeprefix("LOADED "))
    return own, set(names)


def test_an_ordinary_session_loads_four_small_modules(project: pytest.Pytester) -> None:
    (project.path / "mini.reflex.yaml").unlink()
    project.makepyfile("def test_it(): pass")
    own, names = loaded(project)
    assert own == [
        "pytest_reflex",
        "pytest_reflex.plugin",
        "pytest_reflex.session",
        "pytest_reflex.session.options",
        "pytest_reflex.session.watch",
    ]
    assert not names & HEAVY


def test_a_passing_suite_loads_no_table_schema_or_console_library(
    project: pytest.Pytester,
) -> None:
    own, names = loaded(project)
    assert "pytest_reflex.session.controller" in own
    assert not names & {"jsonschema", "tabulate", "click", "rich", "markdown_it"}


LOADERS = """
import atexit, sys
own = sys.meta_path[0]
def pytest_unconfigure():
    modules = [module for name, module in sys.modules.items() if name[:14] == "pytest_reflex."]
    print("LOADERS", len(modules) > 50, *{type(one.__loader__).__name__ for one in modules})
atexit.register(lambda: print("LEFT", own.__module__, own in sys.meta_path, flush=True))
"""


def test_its_modules_are_read_as_python_does(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    project.makeconftest(LOADERS)
    project.makepyfile(test_it="def test_it(): assert [1, 2] == [1, 3]")
    result = project.runpytest_subprocess("-p", "no:randomly", "-s")
    result.assert_outcomes(passed=4, failed=1)
    # All but the entry point itself, whose assertions pytest would rewrite, as in any plugin.
    found = next(line.split()[1:] for line in result.outlines if line.startswith("LOADERS "))
    assert found[0] == "True"
    assert sorted(found[1:]) == ["AssertionRewritingHook", "SourceFileLoader"]
    result.stdout.fnmatch_lines(["*At index 1 diff: 2 != 3*", "LEFT pytest_reflex.plugin False"])


def test_the_entry_point_can_be_switched_off(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    project.makepyfile("def test_it(): pass")
    result = project.runpytest_subprocess("-p", "no:pytest_reflex", "-p", "no:randomly")
    result.assert_outcomes(passed=1)
    on = project.runpytest_subprocess("-p", "no:randomly")
    on.assert_outcomes(passed=5)


def test_the_options_are_two_groups_of_few(project: pytest.Pytester) -> None:
    result = project.runpytest_inprocess("--help", plugins=[])
    assert "--reflex" not in result.stdout.str()
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "--help")
    flags = [line for line in result.outlines if line.startswith("  --reflex-")]
    assert 8 <= len(flags) <= 23
    result.stdout.fnmatch_lines(["pytest-reflex: rules as checks,*:", "pytest-reflex: the loop *:"])


CHECKS = "def pytest_reflex_register_checks(register): print('REGISTERED')\n"
WRONG = CHECKS.replace("(register)", "(wrong)")
IN_CONFIGURE = f"""
class Checks:
    @staticmethod
    {CHECKS.strip()}
def pytest_configure(config): config.pluginmanager.register(Checks())
"""


def a_session_of_tests(project: pytest.Pytester) -> None:
    (project.path / "mini.reflex.yaml").unlink()
    project.makepyfile(test_it="def test_it(): pass")
    (project.path / "below").mkdir()
    (project.path / "below" / "test_that.py").write_text("def test_that(): pass\n")


@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("conftest.py", CHECKS),
        ("below/conftest.py", CHECKS),
        ("conftest.py", IN_CONFIGURE),
    ],
)
def test_a_hook_that_no_check_needs_is_left_uncalled(
    project: pytest.Pytester, place: str, text: str, workers: bool
) -> None:
    a_session_of_tests(project)
    (project.path / place).write_text(text)
    more = ("-p", "xdist", "-n", "2") if workers else ()
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "-s", *more)
    result.assert_outcomes(passed=2)
    assert "REGISTERED" not in result.stdout.str()


@pytest.mark.parametrize("place", ["conftest.py", "below/conftest.py"])
def test_a_hook_that_does_not_fit_is_refused_in_a_line(
    project: pytest.Pytester, place: str
) -> None:
    a_session_of_tests(project)
    (project.path / place).write_text(WRONG)
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: *conftest.py* for hook 'pytest_reflex_register_checks'*{'wrong'}*"]
    )
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_a_hook_that_does_not_fit_is_refused_beside_a_suite(project: pytest.Pytester) -> None:
    project.makeconftest(WRONG)
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *{'wrong'}*"])


def test_the_marks_are_declared(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.reflex_rule(id*", "@pytest.mark.reflex_warn: *"])
