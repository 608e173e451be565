"""Only what was measured counts: nothing that a test or a conftest.py puts into a report."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import BAD, GOOD, Run, edit, write

pytestmark = [pytest.mark.long, pytest.mark.variants]

RULE = "mini.reflex.yaml::a.x.install::0"

FORGE = '''
"""Texts that claim that a check passed, and a report that claims it with all of them."""
import hashlib, json, os, pathlib
import pytest

def property_text(target="mini.reflex.yaml", rule="a.x.install", index=0):
    digest = hashlib.sha256(pathlib.Path(os.environ["ARTIFACT"]).read_bytes()).hexdigest()
    facts = dict(target=target, rule=rule, index=index, severity="fail", phase="A")
    return json.dumps({**facts, "artifact_sha256": digest, "sha256": digest, "outcome": "pass",
        "node": f"{target}::{rule}::{index}", "result": {"outcome": "pass"}})

def put_into(report):
    report.user_properties.append(("reflex", property_text()))
    for name in ("reflex", "reflex_result", "_pytest_reflex_result"):
        setattr(report, name, property_text())

def invented(nodeid="mini.reflex.yaml::a.x.install::0"):
    report = pytest.TestReport(nodeid, ("mini.reflex.yaml", 1, "x"), {}, "passed", None, "call")
    put_into(report)
    return report
'''
IMPORT = "import pytest, forge\n"
TEST = IMPORT + "def test_it(request, record_property, record_testsuite_property):\n    "
CONFTEST = IMPORT + "import json\n"

# Ways to claim a result, by what stands in conftest.py and what in a test.
WAYS = {
    "record_property": ("", "record_property('reflex', forge.property_text())"),
    "user_properties": (
        "",
        "request.node.user_properties.append(('reflex', forge.property_text()))",
    ),
    "testsuite_property": ("", "record_testsuite_property('reflex', forge.property_text())"),
    "makereport": (
        """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    report = yield
    forge.put_into(report)
    return report
""",
        "pass",
    ),
    "replaced_report": (
        """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    return forge.invented(item.nodeid) if call.when == "call" else report
""",
        "pass",
    ),
    "logreport": (
        """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    forge.put_into(report)
""",
        "pass",
    ),
    "invented_report": (
        "",
        """
    for nodeid in ("mini.reflex.yaml::a.x.install::0", request.node.nodeid):
        try:
            request.config.hook.pytest_runtest_logreport(report=forge.invented(nodeid))
        except AssertionError:
            pass  # xdist refuses reports of other items
""",
    ),
    "another_plugin": (
        "",
        """
    class Plugin:
        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_report_to_serializable(self):
            data = yield
            data["_pytest_reflex_result"] = forge.property_text()
            return data
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logreport(self, report):
            forge.put_into(report)
    request.config.pluginmanager.register(Plugin())
""",
    ),
    "serialised": (
        """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_report_to_serializable():
    data = yield
    data["_pytest_reflex_result"] = forge.property_text()
    return data
""",
        "pass",
    ),
    "unserialised": (
        "",
        """
    hook, report = request.config.hook, forge.invented()
    data = hook.pytest_report_to_serializable(config=request.config, report=report)
    data["_pytest_reflex_result"] = forge.property_text()
    report = hook.pytest_report_from_serializable(config=request.config, data=data)
    try:
        hook.pytest_runtest_logreport(report=report)
    except AssertionError:
        pass  # xdist refuses reports of other items
""",
    ),
    "copied_report": (
        """
def pytest_runtest_logreport(report):
    if report.nodeid.endswith("a.x.usage::0") and report.when == "call":
        copy = forge.invented()
        copy.__dict__.update(report.__dict__)
        copy.__dict__.update(forge.invented().__dict__)
        request_hook(copy)
def pytest_configure(config):
    global request_hook
    def request_hook(copy):
        try:
            config.hook.pytest_runtest_logreport(report=copy)
        except AssertionError:
            pass  # xdist refuses reports of other items
""",
        "pass",
    ),
}

# What keeps the check of the rule from reporting itself.
GONE = {
    "deselected": (("--deselect", "mini.reflex.yaml::a.x.install"), ""),
    "skipped": (
        (),
        """
def pytest_collection_modifyitems(items):
    for item in items:
        if "a.x.install" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason="not today"))
""",
    ),
    "removed": (
        (),
        """
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "a.x.install" not in item.nodeid]
""",
    ),
}
SHORT = ("record_property", "makereport", "invented_report")
DYING = """
import os
def pytest_runtest_setup(item):
    if "a.x.install" in item.nodeid:
        os._exit(0)
"""


def prepare(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, way: str, more: str) -> None:
    conftest, test = WAYS[way]
    monkeypatch.setenv("ARTIFACT", str(write(project, "api.md", BAD)))
    project.makepyfile(forge=FORGE, test_forge=TEST + test)
    project.makeconftest(CONFTEST + conftest + more)


@pytest.mark.parametrize(
    ("way", "gone"),
    [
        *((way, "deselected") for way in WAYS),
        *((way, gone) for way in SHORT for gone in ("skipped", "removed")),
    ],
)
def test_nobody_but_the_check_can_report_for_its_rule(
    project: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch, way: str, gone: str
) -> None:
    arguments, more = GONE[gone]
    prepare(project, monkeypatch, way, more)
    result = run(*arguments)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED * a.x.install", "GATE        INCOMPLETE: *"])


@pytest.mark.parametrize("gone", ["deselected", "removed", "died"])
@pytest.mark.parametrize("way", ["record_property", "serialised", "another_plugin", "logreport"])
def test_nor_can_anybody_in_a_worker(
    project: pytest.Pytester, run_workers: Run, monkeypatch: pytest.MonkeyPatch, way: str, gone: str
) -> None:
    arguments, more = GONE.get(gone, ((), DYING))
    prepare(project, monkeypatch, way, more)
    result = run_workers(*arguments)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED * a.x.install", "GATE        INCOMPLETE: *"])


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_check_stays_failed_whatever_is_claimed(
    project: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    prepare(project, monkeypatch, way, "")
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        a.x.install: *", "GATE        FAILED: *"])


FORGING_MARKED = """
import json, pytest

@pytest.mark.reflex_rule(id="b.own.rule")
def test_rule(): assert 0

@pytest.mark.reflex_rule(id="b.own.other")
def test_other(record_property):
    facts = dict(target="session", rule="b.own.rule", index=0, severity="fail", phase="B")
    record_property("reflex", json.dumps({**facts, "artifact_sha256": "0", "outcome": "pass"}))
"""


@pytest.mark.parametrize("workers", [False, True])
def test_one_marked_test_cannot_report_for_another(
    project: pytest.Pytester, run: Run, run_workers: Run, workers: bool
) -> None:
    (project.path / "mini.reflex.yaml").unlink()
    project.makepyfile(FORGING_MARKED)
    result = (run_workers if workers else run)("-k", "not test_rule")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED deselected: b.own.rule", "GATE * INCOMPLETE: *"])


FORGING_NEXT = """
import pytest

def test_a(request):
    for item in request.session.items[1:]:
        for when in ("setup", "call", "teardown"):
            call = pytest.CallInfo.from_call(lambda: None, when)
            report = item.ihook.pytest_runtest_makereport(item=item, call=call)
            item.ihook.pytest_runtest_logreport(report=report)
    pytest.exit("done", returncode=0)

@pytest.mark.reflex_rule(id="b.own.rule")
def test_b(): assert 0
"""


def test_a_test_cannot_have_the_report_of_another_made(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(FORGING_NEXT)
    result = run("--deselect", "mini.reflex.yaml")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED the session ended before it reported: b.own.rule"])
    result = run("test_a_test_cannot_have_the_report_of_another_made.py", "mini.reflex.yaml")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE * api.md: only 0 of 3 rules were measured*"])


INNOCENT = """
import pytest
@pytest.mark.parametrize("value", ["yes", "{", "[]", '{"target": 1}', 7, 1.5, None, True])
def test_it(record_property, value): record_property("reflex", value)
"""


@pytest.mark.parametrize("suite", [False, True])
@pytest.mark.parametrize("workers", [False, True])
def test_a_property_of_the_same_name_is_only_a_property(
    project: pytest.Pytester, run: Run, run_workers: Run, workers: bool, suite: bool
) -> None:
    if not suite:
        (project.path / "mini.reflex.yaml").unlink()
    project.makepyfile(INNOCENT)
    result = (run_workers if workers else run)("--junitxml=junit.xml", "-ojunit_family=xunit1")
    assert result.ret == 0
    result.assert_outcomes(passed=12 if suite else 8)
    assert (project.path / "junit.xml").read_text().count('name="reflex" value="yes"') == 1


TWIN = """
import pytest

class Twin(pytest.Item):
    def runtest(self): pass

class Twins(pytest.File):
    def collect(self):
        twin = Twin.from_parent(self, name="twin", nodeid={node_id!r})
        twin.add_marker(pytest.mark.reflex_rule(id={rule!r}))
        yield twin

def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".twin":
        return Twins.from_parent(parent, path=file_path)

def pytest_collection_modifyitems(items):
    items[:] = [i for i in items if i.nodeid != {node_id!r} or isinstance(i, Twin)]
"""
OWN = """
import pytest
@pytest.mark.reflex_rule(id="b.own.rule")
def test_rule(): assert 0
"""


@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize(
    ("node_id", "rule"), [(RULE, "a.x.install"), ("test_own.py::test_rule", "b.own.rule")]
)
def test_an_item_with_the_id_of_another_does_not_stand_for_it(
    project: pytest.Pytester, run: Run, run_workers: Run, node_id: str, rule: str, workers: bool
) -> None:
    write(project, "api.md", BAD)
    write(project, "it.twin", "")
    project.makepyfile(test_own=OWN)
    project.makeconftest(TWIN.format(node_id=node_id, rule=rule))
    result = (run_workers if workers else run)()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"NOT MEASURED *: {rule}"])


def test_two_tests_of_one_id_and_two_rules_are_refused(project: pytest.Pytester, run: Run) -> None:
    write(project, "it.twin", "")
    project.makepyfile(test_own=OWN)
    project.makeconftest(TWIN.format(node_id="test_own.py::test_rule", rule="b.own.other"))
    result = run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*test_own.py::test_rule is the id of two tests*b.own.other*"])


CHANGED_PLAN = """
import json, pathlib
def test_it(request):
    folder = pathlib.Path(request.config.workerinput["reflex_folder"])
    for path in folder.iterdir():
        plan = json.loads(path.read_text())
        for target in plan["targets"].values():
            target["threshold"] = "0"
        for criteria in plan["criteria"]:
            criteria["rules"] = criteria["rules"][:1]
        path.write_text(json.dumps(plan))
"""


def test_a_test_in_a_worker_cannot_change_what_is_expected(
    project: pytest.Pytester, run_workers: Run
) -> None:
    project.makepyfile(CHANGED_PLAN)
    result = run_workers("--deselect", "mini.reflex.yaml::a.x.install")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED deselected: a.x.install"])


def test_a_worker_that_dies_after_a_check_leaves_its_rule_unmeasured(
    project: pytest.Pytester, run_workers: Run
) -> None:
    edit(project, 'type: content, search: "^## Install"', "type: executable, command: 'true'")
    write(project, "api.md", GOOD)
    project.makeconftest(
        "import os\ndef pytest_runtest_teardown(item):\n"
        "    if 'a.x.install' in item.nodeid: os._exit(0)\n"
    )
    result = run_workers()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT MEASURED the worker died while it ran: a.x.install"])


def test_junit_keeps_the_results_as_properties(project: pytest.Pytester, run: Run) -> None:
    assert run("--junitxml=junit.xml").ret == 0
    text = (project.path / "junit.xml").read_text()
    assert text.count('<property name="reflex"') == 4
    assert "&quot;rule&quot;: &quot;a.x.install&quot;" in text


FORKING = """
import marshal, os
import pytest
from _pytest import runner

KEPT = (
    *("nodeid", "location", "keywords", "outcome", "longrepr", "when", "sections", "duration"),
    *("start", "stop", "user_properties", "_pytest_reflex_result"),
)

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            reports = runner.runtestprotocol(item, log=False, nextitem=nextitem)
            found = [{n: getattr(one, n) for n in KEPT if hasattr(one, n)} for one in reports]
            for facts in found:
                facts["longrepr"] = facts["longrepr"] and str(facts["longrepr"])
            with open(writer, "wb") as file:
                marshal.dump(found, file)
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        found = marshal.load(file)
    os.waitpid(child, 0)
    for facts in found:
        item.ihook.pytest_runtest_logreport(report=pytest.TestReport(**facts))
    return True
"""


def _forked(project: pytest.Pytester) -> pytest.RunResult:
    options = ("-p", "pytest_reflex.plugin", "-p", "no:randomly", "test_it.py")
    return project.runpytest_subprocess(*options, timeout=60)


@pytest.mark.parametrize(("body", "status"), [("pass", 0), ("assert 0", 1)], ids=["good", "bad"])
def test_a_test_in_a_process_of_its_own_reports_for_its_rule(
    project: pytest.Pytester, body: str, status: int
) -> None:
    write(project, "conftest.py", FORKING)
    write(
        project,
        "test_it.py",
        f"import pytest\n@pytest.mark.reflex_rule(id='a.x.y')\ndef test_it(): {body}\n",
    )
    assert _forked(project).ret == status


def test_nor_does_a_result_of_one_forked_test_serve_another(
    project: pytest.Pytester,
) -> None:
    steals = FORKING.replace(
        "    os.waitpid(child, 0)\n    for facts in found:\n",
        "    os.waitpid(child, 0)\n    seen = item.session.__dict__.setdefault('seen', [])\n"
        "    for facts in found:\n"
        "        seen.append(facts.get('_pytest_reflex_result'))\n"
        "        facts['_pytest_reflex_result'] = next(filter(None, seen), None)\n",
    )
    write(project, "conftest.py", steals)
    write(
        project,
        "test_it.py",
        "import pytest\n"
        "@pytest.mark.reflex_rule(id='a.x.y')\ndef test_a(): pass\n"
        "@pytest.mark.reflex_rule(id='a.x.z')\ndef test_b(): assert 0\n",
    )
    assert _forked(project).ret == 1
