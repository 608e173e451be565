"""A pattern over the syntax tree of code: found, counted, and no verdict on what does not parse."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.rules import CheckSpec
from tests.checks.building import rule, target
from tests.structure.judging import judge, problems

needs_ast_grep = pytest.mark.skipif(
    find_spec("ast_grep_py") is None, reason="ast-grep-py is not installed"
)

PYTHON = '''\
def f(x):
    """Never eval(x)."""
    print(x)
    return [eval(y) for y in x] + [eval (
        "é", {})]
'''


def search(text: str, name: str = "a.py", language: str = "python", **params: Any) -> Any:
    return judge(text, {"code": {"language": language, **params}}, name)


PYTHON_CASES: list[tuple[dict[str, Any], Outcome, str, int, int]] = [
    ({"pattern": "print($X)"}, Outcome.PASS, "pattern found", 0, 0),
    ({"pattern": "eval($$$)", "min_count": 2}, Outcome.PASS, "pattern found 2 times", 0, 0),
    (
        {"pattern": "eval($$$)", "negate": True},
        Outcome.FAIL,
        "pattern found 2 times; it must not be there (and 1 more)",
        4,
        13,
    ),
    (
        {"pattern": "eval($$$)", "max_count": 1},
        Outcome.FAIL,
        "pattern found 2 times; at most 1 are wanted",
        4,
        36,
    ),
    (
        {"pattern": "eval($$$)", "min_count": 3},
        Outcome.FAIL,
        "pattern found 2 times; at least 3 are wanted",
        0,
        0,
    ),
    ({"pattern": "exec($X)", "negate": True}, Outcome.PASS, "pattern not found", 0, 0),
    ({"pattern": "logging.info($$$)"}, Outcome.FAIL, "pattern not found", 0, 0),
]


@needs_ast_grep
@pytest.mark.parametrize(
    ("params", "outcome", "message", "line", "column"), PYTHON_CASES, ids=lambda v: str(v)[:30]
)
def test_code_is_searched_and_comments_are_not(
    params: dict[str, Any], outcome: Outcome, message: str, line: int, column: int
) -> None:
    found = search(PYTHON, **params)
    assert found.outcome is outcome
    assert found.message == message
    assert found.pattern == ("" if outcome is Outcome.PASS else params["pattern"])
    assert not line or found.location == Place("a.py", line, column)


@needs_ast_grep
def test_blocks_of_the_language_are_searched() -> None:
    text = "# T\n\n```js\nfetch(url)\n```\n\n```python\nfetch(url)\n```\n"
    found = search(text, "a.md", "javascript", pattern="fetch($U)", negate=True)
    assert found.location == Place("a.md", 4, 1)
    assert found.message == "pattern found; it must not be there"
    assert found.pattern == "fetch($U)"


@needs_ast_grep
@pytest.mark.parametrize(
    ("language", "pattern", "code"),
    [
        ("typescript", "console.log($A)", "console.log(1)"),
        ("go", "func $F() { $$$ }", "package a\nfunc f() { g(1) }"),
        ("rust", "$X.unwrap()", "fn f() { a.unwrap(); }"),
        ("java", "System.exit($A);", "class A { void f() { System.exit(1); } }"),
        ("bash", "rm $$$", "rm -r x"),
        ("ruby", "puts $A", "puts 1"),
        ("c", "gets($A);", "int main() { gets(b); }"),
    ],
)
def test_other_languages_are_searched(language: str, pattern: str, code: str) -> None:
    text = f"```{language}\n{code}\n```\n"
    assert search(text, "a.md", language, pattern=pattern).outcome is Outcome.PASS


@needs_ast_grep
@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("def (:\n", "a.py", "the python code cannot be parsed at line 1"),
        ("# T\n\n```python\na b c\n```\n", "a.md", "the python code cannot be parsed at line 4"),
        ("# T\n", "a.md", "there is no python code in a.md"),
        ("x = 1\n" * 200_000, "a.py", "1,200,000 characters, the limit is 1,000,000"),
    ],
    ids=["file", "block", "none", "long"],
)
def test_absence_from_what_cannot_be_read_is_an_error(text: str, name: str, message: str) -> None:
    found = search(text, name, pattern="eval($X)", negate=True)
    assert found.outcome is Outcome.ERROR
    assert message in found.message


# Trees that a parser makes of text that is no code: something is left out, put in, or older.
UNREADABLE: dict[str, tuple[str, str, str, int]] = {
    "a parenthesis is put in": ("python", "a.py", "x = 1\ndef f(:\n    pass\n", 2),
    "a body is missing": ("python", "a.py", "for x in y:\n", 1),
    "an older Python": ("python", "a.py", "x = 1\nprint 'a'\n", 2),
    "an indentation": ("python", "a.py", "x = 1\n    y = 2\n", 2),
    "a value is assigned to a number": ("python", "a.py", "x = 1\n\n1 = x\n", 3),
    "in a block": ("python", "a.md", "# T\n\n```python\nexec 'a'\n```\n", 4),
    "a brace is put in": ("javascript", "a.js", "function f() { return 1\n", 2),
    "a parenthesis in Go": ("go", "a.go", "package a\nfunc t() { x(1 \n}\n", 2),
    "an end in Ruby": ("ruby", "a.rb", "def f\n", 2),
    "a word in a shell": ("bash", "a.sh", "if true; then x\n", 2),
    "a semicolon in C": ("c", "a.c", "int main() { return 0 }\n", 1),
}
LIMITS: list[dict[str, Any]] = [
    {"negate": True},
    {"max_count": 0},
    {"max_count": 2},
    {"max_count": 2, "min_count": 1},
    {"min_count": 1},
]
WANTED = {"go": "var zebra = 1", "c": "zebra();"}


@needs_ast_grep
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize(
    ("language", "name", "text", "line"), UNREADABLE.values(), ids=list(UNREADABLE)
)
def test_what_does_not_parse_is_no_code_without_a_pattern(
    language: str, name: str, text: str, line: int, limits: dict[str, Any]
) -> None:
    found = search(text, name, language, pattern=WANTED.get(language, "zebra"), **limits)
    assert found.outcome is Outcome.ERROR
    assert found.message.startswith(f"the {language} code cannot be parsed at line ")
    assert int(found.message.rpartition(" ")[2]) in (line, line - 1)
    assert found.cause == f"{name} as {'Python' if language == 'python' else language}"


@needs_ast_grep
def test_with_a_selector_too_what_does_not_parse_is_an_error() -> None:
    found = search("print 'a'\n", pattern="zebra(1)", selector="identifier", negate=True)
    assert found.outcome is Outcome.ERROR


@needs_ast_grep
@pytest.mark.parametrize(
    "text",
    [
        "type A[T] = list[T]\n",
        "def f[T](x: T) -> T: ...\n",
        "try:\n    f()\nexcept* E:\n    pass\n",
        "x = f'{a['b']}'\n",
        "try:\n    f()\nexcept A, B:\n    pass\n",
        "def f(): return\nreturn\n",
        "",
    ],
    ids=["type", "parameter", "group", "quotes", "two exceptions", "return", "empty"],
)
def test_what_some_python_reads_is_searched(text: str) -> None:
    assert search(text, pattern="zebra", negate=True).outcome is Outcome.PASS
    assert search(f"{text}zebra\n", pattern="zebra", negate=True).outcome is Outcome.FAIL


@needs_ast_grep
def test_a_block_that_is_cut_out_of_a_body_is_searched() -> None:
    text = "# T\n\n```python\n    x = zebra\n    y = 1\n```\n"
    assert search(text, "a.md", pattern="zebra", negate=True).location == Place("a.md", 4, 9)


@needs_ast_grep
def test_rules_about_code_that_does_not_parse_have_one_cause(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print 'a'\n")
    specs = [
        CheckSpec(
            type="structure", params={"code": {"language": "python", "pattern": "zebra", **limits}}
        )
        for limits in LIMITS[:4]
    ]
    rules = [rule(f"a.x.r{number}", spec) for number, spec in enumerate(specs)]
    first, *others = evaluate(target(tmp_path / "a.py", *rules), built_in_registry()).results
    assert first.outcome is Outcome.FAIL
    assert {row.outcome for row in others} == {Outcome.NOT_MEASURED}
    assert {row.same_cause for row in others} == {"a.x.r0"}


def test_no_code_has_nothing_that_is_wanted() -> None:
    found = search("# T\n", "a.md", pattern="main()")
    assert found.outcome in (Outcome.FAIL, Outcome.NOT_MEASURED)


def test_without_the_extra_it_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ast_grep_py", None)
    found = search(PYTHON, pattern="eval($X)", negate=True)
    assert found.outcome is Outcome.NOT_MEASURED
    assert found.message.endswith("pip install 'pytest-reflex[code]'")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"language": "python"}, "code: it needs the key pattern"),
    ({"pattern": "x"}, "code: it needs the key language"),
    ({"language": "pyhton", "pattern": "x"}, "language must be one of bash, c, "),
    ({"language": "python", "pattern": "x", "min_count": 0}, "min_count 0 holds always"),
    (
        {"language": "python", "pattern": "x", "negate": True, "max_count": 1},
        "negate cannot be combined with min_count and max_count",
    ),
    ({"language": "python", "pattern": "x", "min_count": 2, "max_count": 1}, "more than max_count"),
]


@pytest.mark.parametrize(("params", "message"), REFUSED, ids=[case[1] for case in REFUSED])
def test_unusable_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    assert message in "; ".join(map(str, problems({"code": params})))


@needs_ast_grep
def test_a_call_of_go_is_found_within_a_function() -> None:
    code = "package a\n\nfunc f() {\n\tfmt.Println(1)\n}\n"
    pattern = "func t() { fmt.Println($A) }"
    found = search(code, "a.go", "go", pattern=pattern, selector="call_expression", negate=True)
    assert found.location == Place("a.go", 4, 2)
    (problem,) = problems({"code": {"language": "go", "pattern": "fmt.Println($A)"}})
    assert "with selector: call_expression" in problem.message


@needs_ast_grep
@pytest.mark.parametrize("pattern", ["print($X", "a b c", "if x\n  y"])
def test_pattern_that_is_no_code_is_refused(pattern: str) -> None:
    (problem,) = problems({"code": {"language": "python", "pattern": pattern}})
    assert "code: pattern is not a whole piece of python code: " in problem.message
