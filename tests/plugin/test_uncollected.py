"""What collection leaves out, and sessions that end before their tests: none of it is a pass."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import SUITE, Run, write
from tests.plugin.test_hidden import MARK, OTHER, _no_suite

pytestmark = [pytest.mark.long, pytest.mark.variants]

__all__ = ["_no_suite"]

MODULE = f"import pytest\n{MARK}\ndef test_it(): pass\n"
SKIPS = {
    "importorskip": ('pytest.importorskip("not_there")', "skipped: could not import 'not_there'*"),
    "module_skip": ('pytest.skip("not here", allow_module_level=True)', "skipped: not here"),
    "unittest": ('import unittest; raise unittest.SkipTest("no")', "skipped: *no"),
}


@pytest.mark.parametrize("others", ["def test_other(): pass\n", "import pytest\n" + OTHER])
@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize("skip", SKIPS)
def test_a_skipped_module_with_rules_is_named(
    project: pytest.Pytester, run: Run, run_workers: Run, skip: str, workers: bool, others: str
) -> None:
    text, expected = SKIPS[skip]
    write(project, "sub/test_it.py", MODULE.replace("\n", f"\n{text}\n", 1))
    write(project, "sub/test_other.py", others)
    result = (run_workers if workers else run)("--reflex-json=out.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [f"NOT RUN     sub/test_it.py: {expected}*", "GATE        INCOMPLETE: *sub/test_it.py: *"]
    )


def test_two_modules_that_one_helper_skips_are_both_named(
    project: pytest.Pytester, run_workers: Run
) -> None:
    write(
        project,
        "helper.py",
        "import pytest\ndef skip(): pytest.skip('x', allow_module_level=True)\n",
    )
    for name, text in (("test_a.py", ""), ("test_b.py", MODULE), ("test_c.py", MODULE)):
        write(project, name, f"import helper\nhelper.skip()\n{text}")
    write(project, "test_d.py", "def test_d(): pass\n")
    result = run_workers()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["NOT RUN     test_b.py: *", "NOT RUN     test_c.py: *"])


@pytest.mark.parametrize("workers", [False, True])
def test_a_folder_that_its_conftest_skips_is_named(
    project: pytest.Pytester, run: Run, run_workers: Run, workers: bool
) -> None:
    write(project, "sub/conftest.py", "import pytest\npytest.skip('x', allow_module_level=True)\n")
    write(project, "sub/deep/test_it.py", MODULE)
    write(project, "sub/deep/it.reflex.yaml", "criteria: documentation\nartifacts: [a.md]\n")
    write(project, "test_other.py", "def test_other(): pass\n")
    result = (run_workers if workers else run)()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["NOT RUN     sub/deep/it.reflex.yaml: *", "NOT RUN     sub/deep/test_it.py: *"]
    )


def test_a_skipped_module_without_rules_is_nobodys_concern(
    project: pytest.Pytester, run: Run
) -> None:
    write(project, "test_it.py", "import pytest\npytest.importorskip('not_there')\n")
    write(project, "test_other.py", "def test_other(): pass\n")
    result = run()
    assert result.ret == 0
    result.stdout.no_fnmatch_line("GATE*")


EXIT = "pytest.exit('enough', returncode={})"
CUTS = {
    "configure": f"def pytest_configure(): {EXIT}",
    "sessionstart": f"def pytest_sessionstart(): {EXIT}",
    "collection": f"def pytest_collection(): {EXIT}",
    "itemcollected": f"def pytest_itemcollected(): {EXIT}",
    "modifyitems": f"def pytest_collection_modifyitems(): {EXIT}",
    "finish": f"def pytest_collection_finish(): {EXIT}",
}


def cut_short(project: pytest.Pytester, cut: str, code: int) -> None:
    write(project, "test_it.py", MODULE)
    write(project, "conftest.py", f"import pytest\n{CUTS[cut].format(code)}\n")


@pytest.mark.parametrize(
    ("cut", "code"), [*((cut, 0) for cut in CUTS), ("sessionstart", 5), ("modifyitems", 5)]
)
def test_a_session_that_ends_before_any_test_is_incomplete(
    project: pytest.Pytester, cut: str, code: int
) -> None:
    cut_short(project, cut, code)
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin")
    assert result.ret == 1
    text = result.stdout.str() + result.stderr.str()
    assert "INCOMPLETE: " in text
    assert "test_it.py: not collected" in text or "ended before it reported: b.own.rule" in text


@pytest.mark.parametrize("cut", CUTS)
def test_nor_does_it_pass_with_workers(
    project: pytest.Pytester, run_workers_apart: Run, cut: str
) -> None:
    cut_short(project, cut, 0)
    assert run_workers_apart().ret not in (0, 5)


@pytest.mark.parametrize("name", ["test_a.py", "test_z.py", "conftest.py", "sub/conftest.py"])
def test_nor_where_a_module_ends_it(project: pytest.Pytester, run: Run, name: str) -> None:
    write(project, "sub/test_it.py", MODULE)
    write(project, name, f"import pytest\n{EXIT.format(0)}\n")
    assert run().ret not in (0, 5)


def test_only_files_that_would_be_collected_are_named(project: pytest.Pytester, run: Run) -> None:
    for folder in ("sub", "node_modules", "ignored", "elsewhere"):
        write(project, f"{folder}/test_it.py", MODULE)
    write(project, "sub/helper.py", MODULE)
    write(project, "sub/test_plain.py", "def test_it(): pass\n")
    write(project, "conftest.py", f"import pytest\n{CUTS['collection'].format(0)}\n")
    result = run("sub", "ignored", "node_modules", "--ignore=ignored")
    named = [line for line in result.outlines if line.startswith("NOT RUN")]
    assert [line.split()[2] for line in named] == ["node_modules/test_it.py:", "sub/test_it.py:"]


def test_a_session_that_ends_early_without_rules_stays_as_it_was(
    project: pytest.Pytester, run: Run
) -> None:
    write(project, "test_it.py", "def test_it(): pass\n")
    write(project, "conftest.py", f"import pytest\n{CUTS['modifyitems'].format(0)}\n")
    result = run()
    assert result.ret == 0
    result.stdout.no_fnmatch_line("GATE*")


def test_a_suite_that_was_read_is_judged_where_the_session_ends_early(
    project: pytest.Pytester, run: Run
) -> None:
    write(project, "mini.reflex.yaml", SUITE)
    write(project, "conftest.py", f"import pytest\n{CUTS['modifyitems'].format(0)}\n")
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        INCOMPLETE: api.md: only 0 of 3 rules*"])
