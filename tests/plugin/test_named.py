"""Criteria and artifacts that the command line names."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import BAD, GOOD, SUITE, Run, write

CRITERIA = "name: named\nrules:" + SUITE.partition("rules:")[2] + "vars: {worlds: 1}\n"
NAMED = ("--reflex-criteria=named.yaml", "--reflex-artifact=doc.md")


@pytest.fixture(autouse=True)
def _named(project: pytest.Pytester) -> None:
    write(project, "named.yaml", CRITERIA)
    write(project, "doc.md", GOOD)


def test_without_paths_only_the_named_checks_run(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile("def test_red(): assert 0")
    result = run(*NAMED, "-v")
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["doc.md::named::a.x.usage::0 PASSED*"])


def test_testpaths_are_no_path_arguments(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile("def test_red(): assert 0")
    project.makeini("[pytest]\ntestpaths = .\n")
    run(*NAMED).assert_outcomes(passed=4)


def test_with_paths_both_run(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(test_it="def test_green(): pass")
    run(*NAMED, "test_it.py").assert_outcomes(passed=5)
    run(*NAMED, ".").assert_outcomes(passed=9)


def test_the_ids_of_named_checks_can_be_selected(run: Run) -> None:
    result = run(*NAMED, "doc.md::named::b.x.world")
    result.assert_outcomes(passed=2)
    assert result.ret == 1
    run(*NAMED, "doc.md").assert_outcomes(passed=4)
    run(*NAMED, "--deselect=doc.md::named::b.x").assert_outcomes(passed=2, deselected=2)


def test_several_artifacts_make_several_evaluations(project: pytest.Pytester, run: Run) -> None:
    write(project, "sub/other.md", BAD)
    result = run(*NAMED, "--reflex-artifact=sub/other.md")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["PASSED *named *doc.md", "FAILED *named *sub/other.md", "GATE * sub/other.md: *"]
    )


def test_a_folder_is_judged_whole_also_where_it_is_an_argument(
    project: pytest.Pytester, run: Run
) -> None:
    write(project, "docs/one.md", GOOD)
    write(
        project, "named.yaml", CRITERIA.replace("type: content,", "type: content, files: '*.md',")
    )
    folder = ("--reflex-criteria=named.yaml", "--reflex-artifact=docs")
    for arguments in ((), ("docs",)):
        result = run(*folder, *arguments, "-v")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["docs::named::a.x.usage::0 PASSED*"])


def test_phase_and_threshold_are_for_the_named_criteria(project: pytest.Pytester, run: Run) -> None:
    write(project, "doc.md", BAD)
    result = run(*NAMED, "--reflex-phase=A", "--reflex-threshold=0.5")
    result.stdout.fnmatch_lines(
        ["CRITERIA    named version 1, phase A", "*(2 of 4 points), threshold 0.5"]
    )
    assert run(*NAMED, "--reflex-phase=C").ret == 4


def test_an_artifact_outside_the_root_folder(project: pytest.Pytester, run: Run) -> None:
    write(project, "far/away.md", GOOD)
    inside = project.mkdir("project")
    write(project, "project/pytest.ini", "[pytest]\n")
    project.chdir()
    result = run(
        f"--rootdir={inside}",
        f"-c{inside}/pytest.ini",
        "--reflex-criteria=named.yaml",
        "--reflex-artifact=far/away.md",
        "-v",
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*far/away.md::named::a.x.usage::0 PASSED*"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--reflex-criteria=named.yaml",), "*named.yaml has nothing to check*"),
        (("--reflex-artifact=doc.md",), "--reflex-artifact needs --reflex-criteria NAME|FILE*"),
        (("--reflex-phase=A",), "--reflex-phase needs --reflex-criteria*"),
        (("--reflex-threshold=0.5",), "--reflex-threshold needs --reflex-criteria*"),
        ((*NAMED, "--reflex-threshold=nan"), "*'nan'*"),
        ((*NAMED, "--reflex-threshold=1.5"), "*'1.5'*0 and 1*"),
        ((*NAMED, "--reflex-var=x"), "*'x'*NAME=VALUE*"),
        ((NAMED[0], "--reflex-artifact=no.md"), "*no.md*"),
        (("--reflex-criteria=nmaed.yaml", NAMED[1]), "*nmaed.yaml*"),
    ],
)
def test_wrong_options_are_usage_errors(run: Run, arguments: tuple[str, ...], told: str) -> None:
    result = run(*arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {told}"])
    assert "Traceback" not in result.stderr.str()


def test_faulty_named_criteria_are_told_and_written(project: pytest.Pytester, run: Run) -> None:
    write(project, "named.yaml", CRITERIA.replace("severity: warn", "severity: wran"))
    result = run(*NAMED, "--reflex-json=out.json")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: named.yaml:14:*: *wran*warn*"])
    found = json.loads((project.path / "out.json").read_text())
    assert found["gate"]["status"] == "error"
    assert found["gate"]["exit_status"] == 4
    assert found["problems"][0]["location"]["line"] == 14


def test_variables_reach_suites_and_named_criteria(project: pytest.Pytester, run: Run) -> None:
    with_var = CRITERIA.replace('search: "world"', 'search: "world", min_count: {var: worlds}')
    write(project, "named.yaml", with_var)
    assert run(*NAMED).ret == 0
    result = run(*NAMED, "--reflex-var", "worlds=2")
    result.stdout.fnmatch_lines(["WARNING     b.x.world: *"])


@pytest.mark.parametrize("flag", ["criteria", "artifact", "threshold", "json", "var"])
@pytest.mark.parametrize("value", ["", " "])
def test_b009_an_option_without_a_value_is_refused(run: Run, flag: str, value: str) -> None:
    result = run(f"--reflex-{flag}", value)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: --reflex-{flag} was given without a value"])
