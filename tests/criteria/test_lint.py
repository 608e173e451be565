"""The lint: every kind of mistake at its place, in words an author can use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.linting.diagnostic import WARNINGS
from pytest_reflex.criteria.linting.lint import lint
from pytest_reflex.criteria.templates import stock_names
from pytest_reflex.reports.authoring import source_and_caret
from tests.criteria import lint_cases
from tests.criteria.lint_cases import whole
from tests.criteria.writing import REGISTRY, rule, rules, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("text", "told"), lint_cases.ERRORS.values(), ids=lint_cases.ERRORS)
def test_a_mistake_is_an_error_at_its_place(folder: Path, text: str, told: str) -> None:
    write(folder, "page.yaml", text)
    remarks = lint("page.yaml", REGISTRY)
    assert all(remark.is_error for remark in remarks)
    found = [str(remark.problem).removeprefix("page.yaml") for remark in remarks]
    wanted = told.format(folder=folder) if "{folder}" in told else told
    start, dots, _ = wanted.partition("...")
    assert any(
        line.lstrip(": ").startswith(start) if dots and line else line.lstrip(": ") == wanted
        for line in found
    ), found


COUNTED = {
    "what must not be there": (
        rules(
            lint_cases.OTHER,
            whole("a.docs.no", check="{type: content, search: other, max_count: 0}"),
        ),
        "contradiction",
    ),
    "once is enough": (
        lint_cases.searching("{type: content, search: '.*', min_count: 1}"), "always-matches",
    ),
    "nowhere": (
        lint_cases.searching("{type: content, search: '.*abc', max_count: 0}"), "idle-dots",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code"), COUNTED.values(), ids=COUNTED)
def test_counts_that_say_what_a_flag_says_are_looked_at_alike(
    tmp_path: Path, text: str, code: str
) -> None:
    assert code in [remark.code for remark in lint(write(tmp_path, "page.yaml", text), REGISTRY)]


@pytest.mark.parametrize("code", WARNINGS)
def test_what_is_odd_is_a_warning_at_its_place(folder: Path, code: str) -> None:
    text, place, told = lint_cases.WARNINGS[code]
    write(folder, "page.yaml", text)
    remarks = [one for one in lint("page.yaml", REGISTRY) if one.code == code]
    assert [str(one.problem.place) for one in remarks] == [f"page.yaml:{place}"]
    assert told in remarks[0].problem.message


LINTER = "{type: findings, format: ruff-json, command: "
FINE = {
    "a whole rule": rules(whole()),
    "anchors at both ends": rules(whole(check=r"{type: content, search: '\A\s*\Z', negate: true}")),
    "counting": rules(whole(check="{type: content, search: '.*x', max_count: 3}")),
    "a pattern with a dot": rules(whole(check=r"{type: content, search: 'a\.b'}")),
    "a fix at the start of lines": rules(whole(fix="{replace: {search: '^', with: '> '}}")),
    "a literal text": rules(whole(check="{type: content, search: '/a.b/', literal: true}")),
    "an or of commands": lint_cases.running(
        "command: 'test -s \"$PYTEST_REFLEX_ARTIFACT\" || exit 1'"
    ),
    "a pipe that is watched": lint_cases.running(
        "shell: bash-strict, command: 'sort \"$PYTEST_REFLEX_ARTIFACT\" | head'"
    ),
    "a list for a shell": lint_cases.running(
        "command: [sh, -c, 'test -s \"$PYTEST_REFLEX_ARTIFACT\"']"
    ),
    "findings behind a command that always succeeds": rules(
        whole(check=LINTER + "'ruff check \"$PYTEST_REFLEX_ARTIFACT\" || true'}")
    ),
    "a command of another shell": lint_cases.running(
        "shell: fish, command: 'if test -s \"$PYTEST_REFLEX_ARTIFACT\"; exit 0; end'"
    ),
    "a pipe in quotes": lint_cases.running('command: \'grep "a|b" "$PYTEST_REFLEX_ARTIFACT"\''),
    "a variable in a command": "vars: {words: 3}\n"
    + lint_cases.running(
        'command: \'test "$PYTEST_REFLEX_VAR_WORDS" -lt 9 -a -s "$PYTEST_REFLEX_ARTIFACT"\''
    ),
    "an override": "extends: documentation\nrules:\n  - {id: b.quality.audience, weight: 3}\n",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_nothing_is_said_where_nothing_is_odd(folder: Path, text: str) -> None:
    write(folder, "page.yaml", text)
    assert [str(remark.problem) for remark in lint("page.yaml", REGISTRY)] == []


IDLE = {
    "fixes": ("    fix: []\n", "says-nothing", "fix is empty"),
    "samples": ("    samples: ~\n", "says-nothing", "samples is empty"),
    "phases": ("phases: ~\n", "says-nothing", "phases is empty"),
    "nothing inherited": ("extends: []\n", "says-nothing", "extends is empty"),
    "inherited twice": ("extends: [base, base]\n", "says-nothing", "extends names 'base' twice"),
}


@pytest.mark.parametrize(("line", "code", "told"), IDLE.values(), ids=IDLE)
def test_a_key_that_says_nothing(folder: Path, line: str, code: str, told: str) -> None:
    write(folder, "page.yaml", rules() + line)
    found = [(one.code, one.problem.message) for one in lint("page.yaml", REGISTRY)]
    assert (code, told) in found


@pytest.mark.parametrize("files", ["'../*'", "[a.md, ../a.md]", "'docs/../a.md'"])
def test_a_glob_that_leads_out_of_the_folder(folder: Path, files: str) -> None:
    check = f"{{type: content, search: a, files: {files}}}"
    write(folder, "page.yaml", rules(whole(check=check)))
    (remark,) = lint("page.yaml", REGISTRY)
    assert remark.code == "never-found"
    assert "matches no file of a folder: names start in the folder" in remark.problem.message


VAIN = {
    "rows": ("tables: {min_rows: 5, max_rows: 2}", "min_rows is 5, more than max_rows, which is 2"),
    "a word of a schema": ("json_schema: {propertes: {}}", "did you mean properties?"),
    "a title": ("json_schema: {title: x}", "it asks for nothing, so that it cannot fail"),
    "a dollar": ("path: '$.a'", "path: a path starts in the document: leave out $"),
}


@pytest.mark.parametrize(("what", "told"), VAIN.values(), ids=VAIN)
def test_a_check_that_no_artifact_bears_on(folder: Path, what: str, told: str) -> None:
    write(folder, "page.yaml", rules(whole(check=f"{{type: structure, {what}}}")))
    (remark,) = lint("page.yaml", REGISTRY)
    assert (remark.is_error, told in remark.problem.message) == (True, True)


UNSEEN = {
    "a placeholder": (
        LINTER + "'ruff check --select F --output-format json \"{file}\"'}",
        "ignores-artifact",
        "does not name the artifact: nothing is put in place of {file}",
    ),
    "a report that stands there": (LINTER + "'echo []'}", "cannot-fail", "reports the same"),
    "code by a command": (
        "{type: code, aspect: bugs, language: shell, command: make}",
        "ignores-artifact",
        "'make' does not name the artifact",
    ),
    "code that cannot fail": (
        "{type: code, aspect: bugs, language: shell, command: 'true'}",
        "cannot-fail",
        "'true' succeeds for every artifact",
    ),
    "braces": (
        "{type: executable, command: [test, -s, '${PYTEST_REFLEX_ARTIFACT}']}",
        "no-shell",
        "'${PYTEST_REFLEX_ARTIFACT}' stays as it is",
    ),
}


@pytest.mark.parametrize(("check", "code", "told"), UNSEEN.values(), ids=UNSEEN)
def test_a_command_that_never_sees_the_artifact(
    folder: Path, check: str, code: str, told: str
) -> None:
    write(folder, "page.yaml", rules(whole(check=check)))
    (remark,) = lint("page.yaml", REGISTRY)
    assert (remark.code, told in remark.problem.message) == (code, True)


@pytest.mark.parametrize("name", stock_names())
def test_the_stock_templates_have_nothing_odd(name: str) -> None:
    assert [str(remark.problem) for remark in lint(name, REGISTRY)] == []


def test_alternatives_are_looked_at_each_in_its_place(folder: Path) -> None:
    either = "\n      any_of:\n        - {type: content, search: "
    text = rules(whole(check=f"{either}'x*'}}\n        - {{type: content, search: a}}"))
    write(folder, "page.yaml", text)
    (remark,) = lint("page.yaml", REGISTRY)
    assert (remark.code, str(remark.problem.place)) == ("always-matches", "page.yaml:7:35")
    write(folder, "page.yaml", text.replace("x*", "(x"))
    (remark,) = lint("page.yaml", REGISTRY)
    assert str(remark.problem).startswith(
        "page.yaml:7:35: rule a.docs.title: search is not a valid pattern"
    )


def test_all_errors_of_a_file_are_told_at_once(folder: Path) -> None:
    text = rules(rule(severity="major", check="{type: content, search: '(x'}"), rule("A.b.c"))
    write(folder, "page.yaml", "nmae: x\n" + text)
    places = [str(one.problem.place) for one in lint("page.yaml", REGISTRY)]
    assert places == [f"page.yaml:{spot}" for spot in ("1:1", "5:15", "6:36", "7:9")]


def test_an_error_in_what_is_inherited_is_told_where_it_is(folder: Path) -> None:
    write(folder, "base.yaml", rules(rule(wieght=1)))
    write(folder, "page.yaml", "extends: ./base.yaml\n")
    (remark,) = lint("page.yaml", REGISTRY)
    assert str(remark.problem).startswith("base.yaml:6:5: rule a.docs.title: a rule has no key")


def test_a_rule_is_told_with_its_line_and_a_caret(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "page.yaml", rules(rule(wieght=2)))
    assert main(["criteria", "lint", "page.yaml"]) == 4
    assert capsys.readouterr().out == (
        "page.yaml:6:5: error: rule a.docs.title: a rule has no key 'wieght'\n"
        "   6 |     wieght: 2\n"
        "     |     ^^^^^^\n"
        "     = did you mean weight?\n"
        "\n"
        "1 error in 1 file\n"
    )


CARETS = {
    "a word": ("    key: value", 10, "    key: value", "         ^^^^^"),
    "a text in quotes": ("a: 'b c' # d", 4, "a: 'b c' # d", "   ^^^^^"),
    "a brace": ("a: {b: 1}", 4, "a: {b: 1}", "   ^"),
    "wide characters": ("a: 日本 b", 7, "a: 日本 b", "        ^"),
    "wide characters below": ("a: 日本", 4, "a: 日本", "   ^^^^"),
    "a tab": ("\ta: b", 5, "\ta: b", "\t   ^"),
    "the end of a line": ("a:", 3, "a:", "  ^"),
    "no column": ("a: b", 0, "a: b", ""),
    "what cannot be shown": ("a: \x1b[1mb", 2, "a: ?[1mb", " ^"),
    "a long line": (
        "x" * 60 + " key " + "y" * 90,
        62,
        "…" + "x" * 39 + " key " + "y" * 56 + "…",
        " " * 41 + "^^^",
    ),
}


@pytest.mark.parametrize(("line", "column", "shown", "caret"), CARETS.values(), ids=CARETS)
def test_the_caret_stands_below_what_is_meant(
    line: str, column: int, shown: str, caret: str
) -> None:
    assert source_and_caret(line, column) == (shown, caret)


STATUS = {
    "fine": (rules(whole()), [], 0, "no issues found in 1 file"),
    "warning": (rules(whole(hint=None)), [], 0, "1 warning in 1 file"),
    "strict": (rules(whole(hint=None)), ["--strict"], 1, "1 warning in 1 file"),
    "ignored": (
        rules(whole(hint=None)),
        ["--strict", "--ignore", "no-remedy"],
        0,
        "no issues found in 1 file",
    ),
    "error": (rules(whole(weight=-1), rule("x")), ["--strict"], 4, "2 errors in 1 file"),
}


@pytest.mark.parametrize(("text", "options", "status", "tally"), STATUS.values(), ids=STATUS)
def test_errors_fail_and_warnings_fail_where_that_is_asked_for(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    options: list[str],
    status: int,
    tally: str,
) -> None:
    write(folder, "page.yaml", text)
    assert main(["criteria", "lint", "page.yaml", *options]) == status
    assert capsys.readouterr().out.splitlines()[-1] == tally


def test_remarks_are_given_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "odd.yaml", rules(whole(why=None)))
    write(folder, "wrong.yaml", rules(rule(wieght=2)))
    assert main(["criteria", "lint", "odd.yaml", "wrong.yaml", "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert (found["errors"], found["warnings"]) == (1, 1)
    assert found["remarks"][0] == {
        "level": "warning",
        "code": "no-why",
        "path": "odd.yaml",
        "line": 3,
        "column": 18,
        "rule": "a.docs.title",
        "message": "it does not say why: 'There is a title'",
        "hint": "why: what goes wrong without it",
    }
    assert found["remarks"][1]["code"] is None


def test_a_warning_that_there_is_not_cannot_be_ignored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["criteria", "lint", "page.yaml", "--ignore", "no-wy"]) == 4
    told = "--ignore no-wy: there is no such warning (did you mean no-why?)"
    assert told in capsys.readouterr().err
