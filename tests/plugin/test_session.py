"""A plain session: items, colours, exit status."""

from __future__ import annotations

import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_reflex import plugin
from tests.plugin.conftest import BAD, GOOD, MILD, Run, edit, write

pytestmark = pytest.mark.long


def test_a_good_artifact_passes_and_exits_0(run: Run) -> None:
    result = run()
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["GATE  *PASSED (exit status 0)"])


def test_b001_a_failed_blocker_exits_1_and_is_named(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "fail: an install section: pattern not found",
            "  rule:       a.x.install (fail, weight 2): It shows how to install it",
            '  hint:       add a section "## Install"',
            "  written in: mini.reflex.yaml:*",
            "FAILED*score 0.600 (3 of 5 points), threshold 0.9",
            "FAIL        a.x.install: *",
            "TO PASS     +0.300 and 1 failing rule, 2 of 3 rules pass",
            "GATE        FAILED: api.md: failed rules: a.x.install; score 0.600 is below 0.9",
        ]
    )
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("flags", [(), ("-v",)], ids=["plain", "verbose"])
def test_the_pattern_that_was_not_found_is_shown_with_v(
    project: pytest.Pytester, run: Run, flags: tuple[str, ...]
) -> None:
    write(project, "api.md", BAD)
    told = run(*flags).stdout.str()
    assert told.count("an install section: pattern not found") >= 2  # of the item, and of the gate
    shown = ["pattern: ^## Install" in " ".join(line.split()) for line in told.splitlines()]
    assert sum(shown) == (2 if flags else 0)
    assert ("^## Install" in told) is bool(flags)


def test_b003_a_shell_sees_the_status(project: pytest.Pytester) -> None:
    write(project, "api.md", BAD)
    command = f"{sys.executable} -m pytest -q -p pytest_reflex.plugin && echo GREEN"
    result = project.run("sh", "-c", command)
    assert "GREEN" not in result.stdout.str()
    assert result.ret == 1


def test_failed_advice_below_the_threshold_exits_1_with_green_items(
    project: pytest.Pytester, run: Run
) -> None:
    write(project, "api.md", MILD)
    result = run("-v")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "mini.reflex.yaml::b.x.world::1 ADVISED*",
            "WARNING     b.x.world: It greets the world: pattern not found",
            "            pattern: world",
            "GATE        FAILED: api.md: score 0.800 is below 0.9 (exit status 1)",
            "*3 passed, 1 advised*",
        ]
    )


def test_advice_does_not_fail_a_gate_that_bears_it(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", MILD)
    suite = project.path / "mini.reflex.yaml"
    suite.write_text(
        suite.read_text().replace("version: 3", "version: 3, phases: {B: {threshold: 0.8}}")
    )
    result = run("-x")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["WARNING     b.x.world: *", "GATE        PASSED*"])


def test_ids_marks_and_places_of_items(project: pytest.Pytester, run: Run) -> None:
    seen: list[Any] = []

    class Look:
        def pytest_collection_finish(self, session: pytest.Session) -> None:
            seen.extend(session.items)

    project.inline_run("--collect-only", plugins=[plugin, Look()])
    assert [item.nodeid for item in seen] == [
        "mini.reflex.yaml::a.x.usage::0",
        "mini.reflex.yaml::a.x.install::0",
        "mini.reflex.yaml::b.x.world::0",
        "mini.reflex.yaml::b.x.world::1",
    ]
    assert {mark.name for mark in seen[3].iter_markers()} == {"reflex", "reflex_warn", "reflex_b"}
    line = GOOD and (project.path / "mini.reflex.yaml").read_text().splitlines()
    path, number, headline = seen[3].location
    assert (path, headline) == ("mini.reflex.yaml", "b.x.world #1")
    assert 'search: "world"' in line[number]


def test_several_artifacts_have_a_level_of_their_own(project: pytest.Pytester, run: Run) -> None:
    edit(project, "[api.md]", '["docs/*.md"]')
    write(project, "docs/a b.md", GOOD)
    write(project, "docs/x[1].md", BAD)
    result = run("-v")
    result.stdout.fnmatch_lines(
        [
            "mini.reflex.yaml::docs/a b.md::a.x.install::0 PASSED*",
            "mini.reflex.yaml::docs/x%5B1%5D.md::a.x.install::0 FAILED*",
            "PASSED*docs/a b.md",
            "FAILED*docs/x[[]1].md",
        ]
    )
    one = run("mini.reflex.yaml::docs/x%5B1%5D.md::a.x.install::0")
    one.assert_outcomes(failed=1)


def test_a_pattern_that_matches_one_artifact_has_the_ids_of_many(
    project: pytest.Pytester, run: Run
) -> None:
    edit(project, "[api.md]", '"*.md"')
    result = run("-v")
    result.stdout.fnmatch_lines(["mini.reflex.yaml::api.md::a.x.usage::0 PASSED*"])


def test_results_stand_in_junitxml_properties(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", MILD)
    run("--junitxml=junit.xml")
    cases = ElementTree.parse(project.path / "junit.xml").getroot().iter("testcase")
    values = [case.find("properties/property[@name='reflex']") for case in cases]
    assert len(values) == 4
    assert all(value is not None and '"outcome": ' in value.get("value", "") for value in values)


@pytest.mark.parametrize(
    "option", ["--collect-only", "--setup-plan", "--setup-only", "--fixtures", "--co", "--help"]
)
def test_a_session_that_only_looks_has_no_gate(
    project: pytest.Pytester, run: Run, option: str
) -> None:
    write(project, "api.md", BAD)
    result = run(option)
    assert result.ret == 0
    assert "GATE" not in result.stdout.str()


def test_without_a_terminal_the_verdict_is_told_on_stderr(project: pytest.Pytester) -> None:
    write(project, "api.md", BAD)
    command = ("-p", "no:terminal", "-p", "pytest_reflex.plugin")
    result = project.runpytest_subprocess(*command)
    assert result.ret == 1
    result.stderr.fnmatch_lines(["reflex gate FAILED: api.md: failed rules: a.x.install;*"])


@pytest.mark.parametrize("option", ["-q", "-qq", "--tb=no", "-rA", "--no-summary"])
def test_the_status_does_not_depend_on_how_much_is_shown(
    project: pytest.Pytester, run: Run, option: str
) -> None:
    write(project, "api.md", MILD)
    if pytest.version_tuple < (9,) and option == "--no-summary":  # no plugin may add to the output
        result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", option)
        told = result.stderr
    else:
        result = run(option)
        told = result.stdout
    assert result.ret == 1
    told.fnmatch_lines(["*FAILED*score 0.800 is below 0.9*"])


def test_q_shows_one_line_per_evaluation(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    lines = run("-q", "--tb=no").outlines
    told = [line for line in lines if line.startswith("reflex ")]
    reason = "failed rules: a.x.install; score 0.600 is below 0.9"
    assert told == [f"reflex FAILED api.md (mini, B): 0.600/0.9; {reason}"]


def test_an_artifact_that_changes_while_it_is_judged_does_not_pass(
    project: pytest.Pytester, run: Run
) -> None:
    project.makepyfile(
        test_first="def test_it():\n    open('api.md', 'a').write('more')\n",
    )
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the artifact changed during the evaluation*"])


def test_an_interrupt_stays_an_interrupt(project: pytest.Pytester) -> None:
    project.makepyfile(test_stop="def test_stop():\n    raise KeyboardInterrupt\n")
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "--reflex-json=out.json")
    assert result.ret == 2
    assert '"exit_status": 2' in (project.path / "out.json").read_text()
