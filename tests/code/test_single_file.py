"""What each aspect finds in one file of code, without tools and with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.enums import Outcome
from tests.code.judging import judge, problems

FOUND = [
    ("compiles", "a = (\n", 1, "not valid Python: '(' was never closed"),
    ("compiles", "x = 1\nreturn x\n", 2, "not valid Python: 'return' outside function"),
    ("compiles", "\n# words\n", 1, "there is no statement in it"),
    ("functions", "x = 1\n\n\ndef f():\n    ...\n", 4, "f has no body"),
    ("functions", "class A:\n    async def f(self):\n        pass\n", 2, "f has no body"),
    ("functions", "def f(): raise NotImplementedError('later')\n", 1, "f has no body"),
    ("functions", "class A(B):\n    def f(self):\n        ...\n", 2, "f has no body"),
    (
        "functions",
        "x = 1  # TODO: implement\n",
        1,
        "a comment says that something is missing: # TODO",
    ),
    ("annotations", "def f(a: int, *, b): return a\n", 1, "f does not say the type of b, its re"),
    ("annotations", "class A:\n    def f(self, *c) -> None: g()\n", 2, "the type of c"),
    ("bugs", "import os\n\nprint(nane)\n", 3, "Undefined name `nane` (F821)"),
    ("errors", "try:\n    f()\nexcept Exception:\n    pass\n", 3, "(S110) (and 1 more)"),
    ("logging", "def f():\n    print(1)\n", 2, "`print` found (T201)"),
    ("conventions", "def aB():\n    x = 1\n", 1, "Function name `aB` should be lowercase (N802)"),
    ("input", "x = eval(input())\n", 1, "(S307)"),
    ("types", "def f(a: int) -> str:\n    return a\n", 2, '(got "int", expected "str") (return-'),
]


@pytest.mark.parametrize(("aspect", "text", "line", "message"), FOUND)
def test_fault_is_found_in_its_line(aspect: str, text: str, line: int, message: str) -> None:
    result = judge(text, aspect)
    assert result.outcome is Outcome.FAIL
    assert message in result.message
    assert result.location
    assert result.location.line == line


LEFT_ALONE = [
    ("functions", "from typing import Protocol\nclass A(Protocol):\n    def f(self): ...\n"),
    ("functions", "x = '# TODO'\n"),
    ("functions", "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n"),
    ("annotations", "class A:\n    def __init__(self, a: int): self.a = a\n"),
    ("annotations", "class A:\n    @staticmethod\n    def f(a: int) -> int: return a\n"),
    ("annotations", "f = lambda a: a\n"),
    ("bugs", "import os\n"),
    ("input", "assert a is not None\nassert isinstance(a, int)\nassert a.b\n"),
    ("conventions", "class A:\n    pass\n"),
    ("logging", "print(1)\nif __name__ == '__main__':\n    print(2)\n"),
]


@pytest.mark.parametrize(("aspect", "text"), LEFT_ALONE)
def test_what_is_right_is_left_alone(aspect: str, text: str) -> None:
    assert judge(text, aspect).outcome is Outcome.PASS


NOTES = [
    ("def f():\n    return 1  # TODO: faster\n", 1, 2),
    ("# FIXME: the union, once 3.11 is dropped\nx = 1  # TODO deprecate\n", 2, 1),
    ("class A:\n    # TODO: other parameters\n    def f(self):\n        return 1\n", 1, 2),
]


@pytest.mark.parametrize(("text", "number", "line"), NOTES)
def test_note_in_finished_code_is_told_in_a_passing_result(
    text: str, number: int, line: int
) -> None:
    result = judge(text, "functions")
    assert result.outcome is Outcome.PASS
    assert result.message.endswith(f"comments that say TODO or FIXME: {number} (line {line})")


@pytest.mark.parametrize("name", ["artifact.md", "notes.txt", "code", "my-code.py"])
def test_name_that_says_nothing_is_taken_for_the_language(name: str) -> None:
    assert judge("x = 1\n", "bugs", name).outcome is Outcome.PASS
    assert judge("x = y\n", "bugs", name).outcome is Outcome.FAIL


def test_file_is_copied_and_not_written_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = y\r\n")
    result = judge("x = y\n", "bugs", str(path))
    assert result.outcome is Outcome.FAIL
    assert path.read_bytes() == b"x = y\r\n"


@pytest.mark.long
@pytest.mark.parametrize("text", ["def f(:\n", "return 1\n", "print 'a'\n"])
def test_code_that_does_not_compile_fails_one_aspect_and_passes_none(text: str) -> None:
    assert judge(text, "compiles").outcome is Outcome.FAIL
    for aspect in ("functions", "annotations", "bugs", "tests", "input", "types"):
        result = judge(text, aspect)
        assert result.outcome is Outcome.NOT_MEASURED
        assert result.message.startswith("not valid Python: ")


@pytest.mark.long
@pytest.mark.parametrize("name", ["zipfile.py", "types.py", "typing.pyi", "__init__.py"])
def test_file_may_have_the_name_of_a_module_of_python(name: str) -> None:
    text = (
        "from types import SimpleNamespace\nfrom typing import Any\n"
        "from zipfile import BadZipFile\n"
        "def f(a: int) -> list[Any]:\n    return [a]\nf({!r})\nprint(SimpleNamespace, BadZipFile)\n"
    )
    assert judge(text.format(1), "types", name=name).outcome is Outcome.PASS
    assert "incompatible type" in judge(text.format("a"), "types", name=name).message


def test_tests_may_assert_and_print() -> None:
    text = "def f(a):\n    assert a > 0\n    print(a)\n"
    assert judge(text, "input", "test_a.py").outcome is Outcome.PASS
    assert judge(text, "input", "a.py").outcome is Outcome.FAIL


def test_wanted_name_has_to_be_defined() -> None:
    text = "class A:\n    def f(self):\n        return 1\n"
    assert judge(text, "functions", names=["A.f"]).outcome is Outcome.PASS
    assert judge(text, "functions", names=["A.f", "g"]).message == "g is not defined"


def test_line_length_is_a_parameter() -> None:
    text = "x = '" + "a" * 90 + "'\n"
    assert judge(text, "conventions").outcome is Outcome.PASS
    assert "(E501)" in judge(text, "conventions", line_length=79).message


@pytest.mark.parametrize(("name", "language"), [("a.go", "python"), ("artifact.md", "go")])
def test_other_language_needs_a_command(name: str, language: str) -> None:
    params: dict[str, Any] = {"command": {"var": "lint_command"}, "variables": {"lint_command": ""}}
    result = judge("package a\n", "bugs", name, language=language, **params)
    assert result.outcome is Outcome.NOT_MEASURED
    assert "name a command that checks it (bugs) with the variable lint_command" in result.message


def test_command_takes_the_place_of_our_tools(tmp_path: Path) -> None:
    params: dict[str, Any] = {"language": "go", "command": "exit 3", "root": tmp_path}
    assert judge("package a\n", "bugs", **params).message == "exit status 3, expected 0"
    assert judge("package a\n", "bugs", **{**params, "command": "true"}).outcome is Outcome.PASS


@pytest.mark.parametrize(("aspect", "missing"), [("bugs", "ruff"), ("types", "mypy")])
def test_tool_that_is_not_installed_is_named(
    aspect: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    result = judge("x = 1\n", aspect)
    assert result.outcome is Outcome.NOT_MEASURED
    assert result.message == f"{missing} is not installed: pip install 'pytest-reflex[code]'"


def test_tool_that_takes_too_long_is_an_error() -> None:
    result = judge("x = 1\n", "bugs", timeout=0.001)
    assert result.outcome is Outcome.ERROR
    assert result.message == "ruff ran longer than 0.001 s and was stopped"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"aspect": "speed"}, "aspect must be one of compiles, bugs"),
        ({}, "a check of type code needs the key 'aspect'"),
        ({"aspect": "bugs", "names": ["a"]}, "names goes with functions, not with bugs"),
        ({"aspect": "bugs", "command": 3}, "command must be a text, not 3"),
    ],
)
def test_parameter_that_cannot_be_used_is_refused(params: dict[str, object], message: str) -> None:
    assert message in problems(**params)[0].message


def test_misplaced_parameter_is_refused_by_compile() -> None:
    with pytest.raises(CriteriaError, match="line_length goes with conventions, not with bugs"):
        judge("x = 1\n", "bugs", line_length=10)


def test_f17_code_that_is_too_long_is_an_error() -> None:
    result = judge("x = 1\n" * 170_000, "functions")
    assert result.outcome is Outcome.ERROR
    assert "has 1,020,000 characters, the limit is 1,000,000 (split it, or" in result.message


DYING = {
    "an exit status alone": ("", 1),
    "a traceback": ("raise MemoryError('no more')", 1),
    "an empty report": ("print('[]')", 1),
    "no report": ("", 0),
    "half a report": ("print('[{')", 1),
}


@pytest.mark.parametrize(
    ("aspect", "tool", "how"),
    [
        *(("logging", "ruff", how) for how in DYING),
        *(("types", "mypy", how) for how in DYING if how != "no report"),
    ],
)
def test_tool_that_dies_without_a_report_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aspect: str, tool: str, how: str
) -> None:
    deed, status = DYING[how]
    (tmp_path / tool).mkdir()
    (tmp_path / tool / "__init__.py").touch()
    (tmp_path / tool / "__main__.py").write_text(f"{deed}\nraise SystemExit({status})\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = judge("def f(a: int) -> str:\n    print(a)\n    return a\n", aspect)
    assert result.outcome is Outcome.ERROR
    assert f"{tool} could not check it" in result.message


@pytest.mark.long
def test_types_are_judged_anew_behind_a_run_that_was_cut_short() -> None:
    wrong = "def f(a: int) -> str:\n    return a\n"
    before = judge(wrong, "types").message
    assert judge(wrong, "types", timeout=0.05).outcome is Outcome.ERROR
    assert judge(wrong, "types").message == before
