"""Whatever keeps a rule from running keeps the gate from passing."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import BAD, Run, write

ALL_BUT = {
    "-k": ("-k", "usage"),
    "-m": ("-m", "reflex_b"),
    "--deselect": ("--deselect", "mini.reflex.yaml::b.x"),
    "one id": ("mini.reflex.yaml::a.x.usage::0",),
    "one rule": ("mini.reflex.yaml::b.x.world",),
}


@pytest.mark.parametrize("arguments", ALL_BUT.values(), ids=ALL_BUT)
def test_a_selection_makes_the_gate_incomplete(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["INCOMPLETE*", "GATE        INCOMPLETE: api.md: only *"])
    result.stdout.fnmatch_lines(["NOT MEASURED deselected: *"])


@pytest.mark.parametrize("arguments", ALL_BUT.values(), ids=ALL_BUT)
def test_allow_partial_reports_and_does_not_enforce(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--reflex-allow-partial")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["GATE        PARTIAL, not enforced: api.md: * rule* deselected*"])


def test_a_selection_of_nothing_does_not_pass(run: Run) -> None:
    result = run("-k", "nothing")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE * only 0 of 3 rules were measured (exit status 1)"])


def test_nothing_selected_and_partial_is_pytests_own_status(run: Run) -> None:
    assert run("-k", "nothing", "--reflex-allow-partial").ret == 5


def test_an_id_that_does_not_exist_is_a_usage_error(run: Run) -> None:
    result = run("mini.reflex.yaml::a.x.uage::0")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: not found: *a.x.uage*"])


def test_b051_x_stops_and_says_how_much_was_judged(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    result = run("-x")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "INCOMPLETE  score 0.400 (2 of 5 points), threshold 0.9",
            "FAIL        a.x.install: *",
            "NOT MEASURED the session ended before it reported: b.x.world",
            "GATE        INCOMPLETE: api.md: only 2 of 3 rules were measured; failed rules:",
        ]
    )


def test_lf_runs_what_failed_and_does_not_pass(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    run()
    write(project, "api.md", BAD + "## Install\n")
    result = run("--lf")
    result.assert_outcomes(passed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        INCOMPLETE: api.md: only 1 of 3 rules*"])


def test_lf_knows_the_suites_that_it_leaves_out(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(test_red="import os\ndef test_red():\n    assert os.path.exists('mended')\n")
    run()
    write(project, "mended", "")
    result = run("--lf")
    result.assert_outcomes(passed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        INCOMPLETE: api.md: only 0 of 3 rules*"])


def test_partial_does_not_excuse_a_measured_blocker(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    result = run("-k", "install", "--reflex-allow-partial")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["GATE        FAILED: api.md: failed rules: a.x.install (exit status 1)"]
    )


def test_partial_does_not_excuse_what_x_cut_off(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    result = run("-x", "-k", "a.x", "--reflex-allow-partial")
    assert result.ret == 1
    assert "PARTIAL" not in result.stdout.str()


def test_a_full_run_with_partial_allowed_is_enforced(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD.replace("world", "there") + "## Install\n")
    result = run("--reflex-allow-partial")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        FAILED: *"])


def test_the_ini_key_allows_partial_runs_but_not_in_ci(
    project: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makeini("[pytest]\nreflex_allow_partial = true\n")
    assert run("-k", "usage").ret == 0
    monkeypatch.setenv("CI", "true")
    result = run("-k", "usage")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["NOTE        --reflex-allow-partial must be given on the command line*"]
    )
    assert run("-k", "usage", "--reflex-allow-partial").ret == 0


def test_skip_and_xfail_from_a_conftest_hide_nothing(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    project.makeconftest(
        """
        import pytest
        def pytest_collection_modifyitems(items):
            items[0].add_marker(pytest.mark.skip(reason="not today"))
            items[1].add_marker(pytest.mark.xfail(reason="known"))
        """
    )
    result = run()
    assert result.ret == 1
    result.assert_outcomes(skipped=1, xfailed=1, passed=2)
    result.stdout.fnmatch_lines(
        [
            "FAIL        a.x.install: an install section: pattern not found",
            "NOT MEASURED skipped: not today: a.x.usage",
        ]
    )
