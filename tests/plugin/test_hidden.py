"""What a report hides, what a subtest skips, what a hook keeps from running: none is a pass."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

pytestmark = pytest.mark.variants

OTHER = """
@pytest.mark.reflex_rule(id="b.own.other", weight=99)
def test_other(): pass
"""


@pytest.fixture(autouse=True)
def _no_suite(project: pytest.Pytester) -> None:
    (project.path / "mini.reflex.yaml").unlink()


MARK = '@pytest.mark.reflex_rule(id="b.own.rule", weight=1)'
SUBTESTS = {
    "skip": ("pytest.skip('no database')", "NOT MEASURED skipped: no database: b.own.rule"),
    "xfail": ("pytest.xfail('known')", "NOT MEASURED expected to fail: known: b.own.rule"),
    "import": (
        "pytest.importorskip('not_there')",
        "NOT MEASURED skipped: could not import 'not_there'*",
    ),
    "unittest": ("raise unittest.SkipTest('why')", "NOT MEASURED skipped: *why*: b.own.rule"),
    "fail": ("assert 0", "FAIL        b.own.rule: *"),
}
BY_FIXTURE = f"""
import pytest, unittest
{MARK}
def test_it(subtests):
    with subtests.test("first"): {{}}
    with subtests.test("second"): pass
"""
BY_UNITTEST = f"""
import pytest, unittest
{MARK}
class TestIt(unittest.TestCase):
    def test_it(self):
        with self.subTest("first"): {{}}
        with self.subTest("second"): pass
"""


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize("kind", ["skip", "xfail", "fail"])
@pytest.mark.parametrize("text", [BY_FIXTURE, BY_UNITTEST], ids=["fixture", "unittest"])
def test_a_rule_is_as_good_as_its_worst_subtest(
    project: pytest.Pytester, run: Run, run_workers: Run, text: str, kind: str, workers: bool
) -> None:
    if text is BY_FIXTURE and not hasattr(pytest, "Subtests"):
        pytest.skip("this pytest has no subtests")
    body, expected = SUBTESTS[kind]
    project.makepyfile(text.format(body) + OTHER)
    result = (run_workers if workers else run)()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [expected, "GATE * failed rules: *" if kind == "fail" else "GATE * INC*"]
    )


@pytest.mark.parametrize("kind", ["import", "unittest"])
@pytest.mark.parametrize("text", [BY_FIXTURE, BY_UNITTEST], ids=["fixture", "unittest"])
def test_every_way_to_skip_a_subtest_is_known(
    project: pytest.Pytester, run: Run, text: str, kind: str
) -> None:
    if text is BY_FIXTURE and not hasattr(pytest, "Subtests"):
        pytest.skip("this pytest has no subtests")
    body, expected = SUBTESTS[kind]
    project.makepyfile(text.format(body) + OTHER)
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines([expected])


def test_subtests_that_pass_are_a_pass(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(BY_UNITTEST.format("pass") + OTHER)
    assert run().ret == 0


WRAPPER = """
import pytest
@pytest.hookimpl(wrapper=True{order})
def pytest_runtest_makereport(item, call):
    report = yield
    {deed}
    return report
"""
FLIPS = {
    "outermost": WRAPPER.format(order=", tryfirst=True", deed="report.outcome = 'passed'"),
    "innermost": WRAPPER.format(order=", trylast=True", deed="report.outcome = 'passed'"),
    "emptied": WRAPPER.format(
        order="", deed="report.outcome, report.longrepr, call.excinfo = 'passed', None, None"
    ),
    "new_report": WRAPPER.format(
        order="",
        deed="""call.excinfo = None
    report = pytest.TestReport.from_item_and_call(item, call)""",
    ),
    "instead": """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    where = item.nodeid, item.location, item.keywords
    return pytest.TestReport(*where, "passed", None, call.when, user_properties=[])
""",
    "before": """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    call.excinfo = None
""",
    "old_wrapper": """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    call.excinfo = None
    result = yield
    result.get_result().outcome = "passed"
""",
    "logged": """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    report.outcome = "passed"
""",
    "registered_later": """
import pytest
class Plugin:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        call.excinfo = None
        report = yield
        report.outcome = "passed"
        return report
def pytest_runtest_setup(item):
    item.config.pluginmanager.register(Plugin(), f"plugin of {item.name}")
""",
}
FAILING = f"""
import pytest
def test_a(): pass
{MARK}
def test_it(): assert 1 == 2
{OTHER}
"""
FAILING_SETUP = f"""
import pytest
@pytest.fixture
def thing(): raise OSError("no thing")
{MARK}
def test_it(thing): pass
{OTHER}
"""


@pytest.mark.parametrize("flip", [name for name in FLIPS if name != "registered_later"])
def test_a_report_that_hides_a_failure_is_not_believed(
    project: pytest.Pytester, run: Run, flip: str
) -> None:
    project.makepyfile(FAILING)
    project.makeconftest(FLIPS[flip])
    result = run()
    assert result.ret == 1
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["FAIL        b.own.rule: *assert 1 == 2*"])


@pytest.mark.long
@pytest.mark.parametrize("flip", ["outermost", "before", "logged"])
def test_nor_in_a_worker(project: pytest.Pytester, run_workers: Run, flip: str) -> None:
    project.makepyfile(FAILING)
    project.makeconftest(FLIPS[flip])
    result = run_workers()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        b.own.rule: *assert 1 == 2*"])


def test_a_plugin_that_comes_while_tests_run_does_not_stand_outside(
    project: pytest.Pytester, run: Run
) -> None:
    project.makepyfile(FAILING)
    project.makeconftest(FLIPS["registered_later"].replace("_setup(item)", "_teardown(item)"))
    assert run().ret == 1


@pytest.mark.parametrize("flip", ["outermost", "emptied", "instead"])
def test_a_broken_fixture_cannot_be_hidden(project: pytest.Pytester, run: Run, flip: str) -> None:
    project.makepyfile(FAILING_SETUP)
    project.makeconftest(FLIPS[flip])
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        b.own.rule: *"])


@pytest.mark.parametrize(
    ("deed", "expected"),
    [
        ("report.outcome = 'skipped'", "FAIL        b.own.rule: AssertionError: assert 1 == 2*"),
        ("report.wasxfail = 'never mind'", "NOT MEASURED expected to fail: never mind: b.own.rule"),
        ("report.outcome = 'rerun'", "NOT MEASURED the session ended before it reported*"),
        ("report.outcome = 'fine'", "FAIL        b.own.rule: AssertionError: assert 1 == 2*"),
    ],
)
def test_a_failure_under_another_name_does_not_pass(
    project: pytest.Pytester, run: Run, deed: str, expected: str
) -> None:
    project.makepyfile(FAILING)
    deed = f"if report.failed: {deed}"
    project.makeconftest(WRAPPER.format(order=", tryfirst=True", deed=deed))
    result = run("-p", "no:terminalprogress")
    assert result.ret == 1
    result.stdout.fnmatch_lines([expected])


@pytest.mark.parametrize("body", ["pytest.skip('later')", "pytest.xfail('later')"])
def test_a_skip_that_is_reported_as_passed_is_not_measured(
    project: pytest.Pytester, run: Run, body: str
) -> None:
    project.makepyfile(f"import pytest\n{MARK}\ndef test_it(): {body}\n{OTHER}")
    deed = "report.outcome = 'passed'; vars(report).pop('wasxfail', None)"
    project.makeconftest(WRAPPER.format(order="", deed=deed))
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED *later (reported as passed): b.own.rule"])


@pytest.mark.parametrize("order", ["", ", tryfirst=True"])
def test_a_report_that_a_plugin_fails_has_failed(
    project: pytest.Pytester, run: Run, order: str
) -> None:
    project.makepyfile(f"import pytest\n{MARK}\ndef test_it(): pass\n{OTHER}")
    deed = (
        "if call.when == 'call' and item.name == 'test_it':\n"
        "        report.outcome, report.longrepr = 'failed', 'it leaks'"
    )
    project.makeconftest(WRAPPER.format(order=order, deed=deed))
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        b.own.rule: it leaks"])


@pytest.mark.parametrize("order", ["", ", tryfirst=True"])
def test_a_report_that_a_plugin_skips_is_not_measured(
    project: pytest.Pytester, run: Run, order: str
) -> None:
    project.makepyfile(f"import pytest\n{MARK}\ndef test_it(): pass\n{OTHER}")
    deed = (
        "if call.when == 'call' and item.name == 'test_it':\n"
        "        report.outcome, report.longrepr = 'skipped', ('x.py', 1, 'Skipped: no network')"
    )
    project.makeconftest(WRAPPER.format(order=order, deed=deed))
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED skipped: no network: b.own.rule"])


RERUN = """
import pytest
from _pytest.runner import runtestprotocol

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    "Run a failed test once more, as pytest-rerunfailures does."
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(2):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        again = attempt == 0 and any(report.failed for report in reports)
        for report in reports:
            if again and report.failed:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        if not again:
            break
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True

def pytest_report_teststatus(report):
    if report.outcome == "rerun":
        return "rerun", "R", "RERUN"
"""
FLAKY = f"""
import pathlib, pytest
{MARK}
def test_it():
    marker = pathlib.Path(__file__).with_name("ran")
    first = not marker.exists()
    marker.touch()
    assert not first or {{always}}
{OTHER}
"""


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize(("again", "status"), [("0", 0), ("0, 'again'", 0)])
def test_a_rerun_counts_with_its_last_result(
    project: pytest.Pytester, run: Run, run_workers: Run, again: str, status: int, workers: bool
) -> None:
    project.makepyfile(FLAKY.format(always=again))
    project.makeconftest(RERUN)
    result = (run_workers if workers else run)()
    assert result.ret == status
    assert result.parseoutcomes()["rerun"] == 1


def test_a_rerun_that_fails_again_has_failed(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(FAILING)
    project.makeconftest(RERUN)
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        b.own.rule: assert 1 == 2"])


def test_a_check_that_reports_twice_counts_with_its_worst(
    project: pytest.Pytester, run: Run
) -> None:
    project.makepyfile(FLAKY.format(always="0"))
    project.makeconftest(RERUN.replace('report.outcome = "rerun"', "pass"))
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        b.own.rule: *"])


FIRST, LAST = "@pytest.hookimpl(tryfirst=True)\n", "@pytest.hookimpl(trylast=True)\n"
OUTER = "@pytest.hookimpl(wrapper=True, tryfirst=True)\n"
KEEPERS = {
    "loop": "def pytest_runtestloop(): return True",
    "first_loop": f"{FIRST}def pytest_runtestloop(): return True",
    "protocol": f"{FIRST}def pytest_runtest_protocol(): return True",
    "status": "def pytest_sessionfinish(session): session.exitstatus = 0",
    "last_status": f"{LAST}def pytest_sessionfinish(session): session.exitstatus = 0",
    "exit": f"{LAST}def pytest_sessionfinish(): pytest.exit('x', returncode=0)",
    "cleared": f"{FIRST}def pytest_collection_modifyitems(items): items.clear()",
    "wrapped": f"{OUTER}def pytest_collection_modifyitems(items): del items[0]; return (yield)",
    "finish": "def pytest_collection_finish(session): session.items.clear()",
}


@pytest.mark.parametrize("keeper", KEEPERS)
def test_a_conftest_that_keeps_tests_from_running_passes_nothing(
    project: pytest.Pytester, run: Run, keeper: str
) -> None:
    project.makepyfile(f"import pytest\n{MARK}\ndef test_it(): assert 0\n{OTHER}")
    project.makeconftest(f"import pytest\n{KEEPERS[keeper]}\n")
    assert run().ret == 1


SWALLOWED = f"""
import pytest
{MARK}
class TestIt:
    @pytest.fixture(autouse=True)
    def thing(self):
        {{setup}}
        yield
        {{teardown}}
    def test_it(self):
        {{call}}
{OTHER}
"""
CATCHERS = {
    "wrapper": """
import pytest
@pytest.hookimpl(wrapper=True{order})
def pytest_{hook}():
    try:
        return (yield)
    except (Exception, pytest.skip.Exception):
        return True
""",
    "old_wrapper": """
import pytest
@pytest.hookimpl(hookwrapper=True{order})
def pytest_{hook}():
    outcome = yield
    outcome.force_result(True)
""",
}


@pytest.mark.parametrize("catcher", CATCHERS)
@pytest.mark.parametrize("order", ["", ", tryfirst=True", ", trylast=True"])
@pytest.mark.parametrize("hook", ["runtest_call", "pyfunc_call"])
def test_an_exception_that_a_hook_catches_counts(
    project: pytest.Pytester, run: Run, hook: str, order: str, catcher: str
) -> None:
    text = SWALLOWED.format(setup="pass", call="assert 1 == 2", teardown="pass")
    project.makepyfile(text)
    project.makeconftest(CATCHERS[catcher].format(hook=hook, order=order))
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAIL        b.own.rule: AssertionError: assert 1 == 2 (reported as passed)"]
    )


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize(
    ("phase", "deed", "expected"),
    [
        ("setup", "raise OSError('no thing')", "FAIL * error in setup: OSError*"),
        ("teardown", "raise OSError('it is busy')", "FAIL * error in teardown: OSError*"),
        ("call", "pytest.skip('not now')", "NOT MEASURED skipped: not now*: b.own.rule"),
    ],
)
def test_and_so_does_one_of_another_phase(
    project: pytest.Pytester,
    run: Run,
    run_workers: Run,
    phase: str,
    deed: str,
    expected: str,
    workers: bool,
) -> None:
    phases = {"setup": "pass", "call": "pass", "teardown": "pass"}
    project.makepyfile(SWALLOWED.format(**{**phases, phase: deed}))
    catcher = CATCHERS["wrapper"]
    project.makeconftest(catcher.format(hook=f"runtest_{phase}", order=", trylast=True"))
    result = (run_workers if workers else run)()
    assert result.ret == 1
    result.stdout.fnmatch_lines([expected])


@pytest.mark.parametrize("how", ["pytest.skip('no network')", "pytest.xfail('no network')"])
def test_a_hook_that_skips_because_of_an_exception_is_believed(
    project: pytest.Pytester, run: Run, how: str
) -> None:
    project.makepyfile(SWALLOWED.format(setup="pass", call="raise OSError", teardown="pass"))
    catcher = CATCHERS["wrapper"].replace("return True", how)
    project.makeconftest(catcher.format(hook="runtest_call", order=""))
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED *no network: b.own.rule"])


AT_THE_END = {
    "unconfigure": f"{LAST}def pytest_unconfigure(config): {{deed}}",
    "unconfigure_wrapper": f"{OUTER}def pytest_unconfigure(config):\n    yield\n    {{deed}}",
    "cleanup": "def pytest_configure(config): config.add_cleanup(lambda: end(config))\n"
    "def end(config): {deed}",
    "finish": f"{FIRST}def pytest_sessionfinish(session): config = session.config; {{deed}}",
    "finish_wrapper": f"{OUTER}def pytest_sessionfinish(session):\n"
    "    config = session.config; {deed}\n    yield",
}
STATUS = "config.pluginmanager.get_plugin('session').exitstatus = 0"
DEEDS = {"status": STATUS, "exit": "pytest.exit('x', returncode=0)", "sys": "raise SystemExit(0)"}


@pytest.mark.long
@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize(
    ("end", "deed"),
    [
        *((end, "status") for end in AT_THE_END),
        *((end, deed) for end in ("finish", "finish_wrapper") for deed in ("exit", "sys")),
        ("unconfigure", "sys"),
    ],
)
def test_the_last_hook_of_a_session_cannot_make_it_a_success(
    project: pytest.Pytester, run_workers_apart: Run, end: str, deed: str, workers: bool
) -> None:
    project.makepyfile(f"import pytest\n{MARK}\n@pytest.mark.skip\ndef test_it(): pass\n{OTHER}")
    project.makeconftest(f"import pytest\n{AT_THE_END[end].format(deed=DEEDS[deed])}\n")
    if workers:
        result = run_workers_apart()
    else:
        result = project.runpytest_subprocess("-p", "pytest_reflex.plugin")
    assert result.ret == 1
    assert "INCOMPLETE: " in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("kind", ["()", "None", "tuple(report.user_properties)"])
def test_properties_that_a_hook_takes_away_are_no_fault(
    project: pytest.Pytester, run: Run, kind: str
) -> None:
    project.makepyfile(f"import pytest\n{MARK}\ndef test_it(): pass\n{OTHER}")
    project.makeconftest(WRAPPER.format(order="", deed=f"report.user_properties = {kind}"))
    assert run("--junitxml=junit.xml").ret == 0
    assert (project.path / "junit.xml").read_text().count('<property name="reflex"') == 2
