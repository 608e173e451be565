"""``@pytest.mark.reflex_rule`` on tests of the user's own."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TESTS = """
import pytest

@pytest.mark.reflex_rule(id="a.own.first", weight=3, description="The first thing")
def test_first(): pass

@pytest.mark.reflex_rule(id="b.own.table", severity="warn")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_table(number):
    "Small numbers only."
    assert number < 3

@pytest.mark.reflex_rule(id="b.own.class", weight=10)
class TestAll:
    def test_one(self): pass
    def test_two(self): pass

def test_plain(): pass
"""


@pytest.fixture(autouse=True)
def _no_suite(project: pytest.Pytester) -> None:
    (project.path / "mini.reflex.yaml").unlink()


def test_marked_tests_are_judged_as_the_criteria_session(
    project: pytest.Pytester, run: Run
) -> None:
    project.makepyfile(TESTS)
    result = run("-v", "--reflex-json=out.json")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "*::test_table[[]3] ADVISED*",
            "ARTIFACT    marked tests (sha256 *)",
            "CRITERIA    session version 1, phase B",
            "PASSED      score 0.928 (13 of 14 points), threshold 0.9",
            "WARNING     b.own.table: assert 3 < 3",
            "*6 passed, 1 advised*",
        ]
    )


def test_all_items_of_one_id_must_pass(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(TESTS.replace("def test_two(self): pass", "def test_two(self): assert 0"))
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        b.own.class: assert 0"])


def test_a_selected_part_of_the_tests_is_incomplete(project: pytest.Pytester, run: Run) -> None:
    path = project.makepyfile(TESTS)
    result = run(f"{path.name}::TestAll::test_one")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE * marked tests: the arguments select single tests*"])
    assert run(f"{path.name}::TestAll::test_one", "--reflex-allow-partial").ret == 0


def test_lf_may_hide_marked_files_and_does_not_pass(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        test_a=TESTS,
        test_b="""
        import os, pytest
        @pytest.mark.reflex_rule(id="b.own.late")
        def test_late(): assert os.path.exists("mended")
        """,
    )
    assert run().ret == 1
    (project.path / "mended").touch()
    result = run("--lf")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["GATE        INCOMPLETE: marked tests: --lf leaves out files *"])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("pytest.skip('not here')", "NOT MEASURED skipped: not here: a.own.rule"),
        ("pytest.xfail('known')", "NOT MEASURED expected to fail: known: a.own.rule"),
    ],
)
def test_a_skipped_rule_is_not_measured(
    project: pytest.Pytester, run: Run, body: str, told: str
) -> None:
    project.makepyfile(
        f"""
        import pytest
        @pytest.mark.reflex_rule(id="a.own.rule", severity="warn", weight=1)
        def test_it(): {body}
        @pytest.mark.reflex_rule(id="a.own.other", weight=99)
        def test_other(): pass
        """
    )
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines([told, "GATE        INCOMPLETE: *"])


def test_a_strict_xpass_is_not_measured_and_stays_red(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        """
        import pytest
        @pytest.mark.xfail(strict=True)
        @pytest.mark.reflex_rule(id="a.own.rule", severity="warn", weight=1)
        def test_it(): pass
        """
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["NOT MEASURED marked xfail, and it passed: a.own.rule"])


@pytest.mark.parametrize(
    ("fixture", "message"),
    [("assert 0; yield", "error in setup: assert 0"), ("yield; assert 0", "error in teardown: *")],
)
def test_a_broken_fixture_is_an_error_and_stays_red(
    project: pytest.Pytester, run: Run, fixture: str, message: str
) -> None:
    project.makepyfile(
        f"""
        import pytest
        @pytest.fixture
        def thing(): {fixture}
        @pytest.mark.reflex_rule(id="a.own.rule", severity="warn", weight=1)
        def test_it(thing): pass
        """
    )
    result = run()
    assert result.parseoutcomes()["errors"] == 1
    result.stdout.fnmatch_lines([f"WARNING     a.own.rule: check error: {message}"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "reflex_rule needs id=... (e.g. *)"),
        ("'a.b.c'", "reflex_rule takes keywords only: id, severity, weight, phase, description"),
        ("id='a.b.c', wieght=1", "reflex_rule has no argument 'wieght' (did you mean weight*"),
        ("id='A.B.C'", "'A.B.C' is not an id*"),
        ("id='a.b.c', severity='fatal'", "unknown severity 'fatal' *"),
        ("id='a.b.c', weight=float('nan')", "weight nan is not a number >= 0"),
        ("id='a.b.c', weight=-1", "weight -1 is not a number >= 0"),
        ("id='a.b.c', weight=True", "weight True is not a number >= 0"),
        ("id='a.b.c', phase='C'", "unknown phase 'C' *"),
        ("id='a.b.c', phase='B'", "phase B contradicts the id 'a.b.c'"),
        ("id='a.b.c', severity='info'", "no marked test can fail the gate*"),
    ],
)
def test_a_wrong_mark_is_a_usage_error_with_its_place(
    project: pytest.Pytester, run: Run, arguments: str, told: str
) -> None:
    path = project.makepyfile(
        f"import pytest\n\n@pytest.mark.reflex_rule({arguments})\ndef test_it(): pass\n"
    )
    result = run()
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {path.name}:3: {told}"])


def test_one_id_in_two_ways_is_an_error(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        """
        import pytest
        @pytest.mark.reflex_rule(id="b.own.rule", severity="warn")
        def test_a(): pass
        @pytest.mark.reflex_rule(id="b.own.rule", severity="fail")
        def test_b(): pass
        """
    )
    result = run()
    assert result.ret == 4
    start = "ERROR: *.py:4: rule b.own.rule: declared with"
    result.stderr.fnmatch_lines(
        [
            f"{start} severity fail here and with warn in *.py:2",
            f"{start} weight 2 here and with 1 in *.py:2",
        ]
    )


def test_two_marks_on_one_test_are_an_error(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        """
        import pytest
        @pytest.mark.reflex_rule(id="b.own.rule")
        @pytest.mark.reflex_rule(id="b.own.other")
        def test_a(): pass
        """
    )
    result = run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*two reflex_rule marks on one test*"])
