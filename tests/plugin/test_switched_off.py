"""The gate cannot be switched off from outside without a word."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import BAD, Run, write

pytestmark = pytest.mark.variants

PASSED = "def test_it(): pass\n"
NAMES = ("reflex-gate", "reflex-checks", "reflex_gate", "pytest_reflex-gate", "Controller")


@pytest.fixture(autouse=True)
def _one_bad_artifact(project: pytest.Pytester) -> None:
    write(project, "api.md", BAD)
    write(project, "test_it.py", PASSED)


@pytest.mark.parametrize("name", NAMES)
def test_no_part_can_be_blocked_on_the_command_line(run: Run, name: str) -> None:
    result = run("-p", f"no:{name}")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        FAILED: api.md: failed rules: a.x.install*"])


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True])
def test_nor_by_the_ini_file(
    project: pytest.Pytester, run: Run, run_workers: Run, workers: bool
) -> None:
    project.makeini("[pytest]\naddopts = -p no:reflex-gate -p no:reflex-checks\n")
    result = (run_workers if workers else run)()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        FAILED: *"])


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True])
def test_nor_by_the_environment(
    run: Run, run_workers: Run, workers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:reflex-gate -pno:reflex-checks")
    result = (run_workers if workers else run)()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        FAILED: *"])


@pytest.mark.parametrize("deed", ["unregister(name=name)", "set_blocked(name)"])
@pytest.mark.parametrize("hook", ["pytest_configure(config)", "pytest_sessionstart(session)"])
@pytest.mark.parametrize("workers", [False, True])
def test_a_conftest_cannot_take_it_out_by_name(
    project: pytest.Pytester, run: Run, run_workers: Run, hook: str, deed: str, workers: bool
) -> None:
    names = ("reflex", "pytest_reflex", "pytest_reflex.plugin", *NAMES)
    config = "config" if "config)" in hook else "session.config"
    project.makeconftest(
        f"def {hook}:\n    for name in {names}:\n        {config}.pluginmanager.{deed}\n"
    )
    result = (run_workers if workers else run)()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        FAILED: *"])


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", "no:terminal"),
        ("--no-summary",),
        ("--noconftest",),
        ("-o", "addopts="),
        ("-p", "no:cacheprovider"),
        ("-p", "no:skipping", "-p", "no:python"),
        ("-qq",),
        ("--tb=no", "-W", "ignore"),
    ],
)
def test_other_switches_of_pytest_leave_the_gate_alone(
    project: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", *arguments)
    assert result.ret == 1
    assert "failed" in (result.stdout.str() + result.stderr.str()).lower()


INI = "[pytest]\nrequired_plugins = pytest-reflex\n"


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [("-p", "no:pytest_reflex"), ("-p", "no:reflex"), ("-n", "2", "-p", "no:pytest_reflex")],
)
def test_a_project_that_requires_the_plugin_does_not_pass_without_it(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    without = project.runpytest_subprocess("-p", "no:randomly", *arguments)
    assert without.ret == 0
    project.makeini(INI)
    result = project.runpytest_subprocess("-p", "no:randomly", *arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*Missing required plugins: pytest-reflex*"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "status"), [((), 4), (("-p", "pytest_reflex"), 1), (("-p", "pytest"), 4)]
)
def test_nor_where_plugins_are_not_loaded_by_themselves(
    project: pytest.Pytester, arguments: tuple[str, ...], status: int
) -> None:
    project.makeini(INI)
    assert project.runpytest_subprocess(*arguments).ret == status


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize("way", ["addopts", "environment", "ini key", "file of arguments"])
def test_in_ci_partial_runs_are_for_who_types_so(
    project: pytest.Pytester,
    run: Run,
    run_workers: Run,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    workers: bool,
) -> None:
    start = run_workers if workers else run
    flag, arguments = "--reflex-allow-partial", ["-k", "usage"]
    if way == "addopts":
        project.makeini(f"[pytest]\naddopts = {flag}\n")
    elif way == "environment":
        monkeypatch.setenv("PYTEST_ADDOPTS", flag)
    elif way == "ini key":
        project.makeini("[pytest]\nreflex_allow_partial = true\n")
    else:
        write(project, "arguments", flag)
        arguments.append("@arguments")
    assert start(*arguments).ret == 0
    monkeypatch.setenv("CI", "1")
    result = start(*arguments)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOTE        --reflex-allow-partial must be given on the *"])
    assert start(*arguments, flag).ret == 0


@pytest.mark.long
@pytest.mark.parametrize("where", ["conftest.py", "test_it.py"])
def test_a_session_cannot_forget_that_it_runs_in_ci(
    project: pytest.Pytester, run_workers: Run, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("CI", "1")
    project.makeini("[pytest]\nreflex_allow_partial = true\n")
    deed = "import os\ndef {}(): os.environ.pop('CI', None)\n"
    name = "pytest_sessionstart" if where == "conftest.py" else "test_it"
    write(project, where, deed.format(name))
    assert run_workers("-k", "usage or test_it").ret == 1


@pytest.mark.long
@pytest.mark.parametrize("text", ["os.environ.pop('CI')", "def pytest_configure(): {}"])
def test_nor_does_a_conftest_that_is_imported_first_make_it_forget(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("CI", "1")
    project.makeini("[pytest]\nreflex_allow_partial = true\n")
    project.makeconftest("import os\n" + text.format("os.environ.pop('CI')") + "\n")
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "-k", "usage")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE * INCOMPLETE: *"])


@pytest.mark.long
@pytest.mark.parametrize("way", ["addopts", "environment"])
@pytest.mark.parametrize("flag", ["--co", "--collect-only", "--setup-only", "--setup-plan"])
@pytest.mark.parametrize("workers", [False, True])
def test_in_ci_a_project_cannot_turn_its_tests_into_a_look(
    project: pytest.Pytester,
    run: Run,
    run_workers: Run,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    flag: str,
    workers: bool,
) -> None:
    start = run_workers if workers else run
    if way == "addopts":
        project.makeini(f"[pytest]\naddopts = {flag}\n")
    else:
        monkeypatch.setenv("PYTEST_ADDOPTS", flag)
    assert start().ret == 0
    monkeypatch.setenv("CI", "1")
    result = start()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE * INCOMPLETE: *"])
    assert start(flag).ret == 0
