"""Files as they lie about: missing, folders, pipes, too large, wrongly encoded; and references."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.criteria import document
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.criteria.templates import find_template, stock_folder, stock_names
from pytest_reflex.errors import CriteriaError
from tests.criteria.writing import REGISTRY, load, problems, rule, rules, write


def refusal(path: Path | str, folder: Path) -> str:
    with pytest.raises(CriteriaError) as caught:
        load_criteria(path, registry=REGISTRY, relative_to=folder)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{folder}/", "")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sub.yaml").mkdir()
    assert refusal("sub.yaml", tmp_path) == (
        "sub.yaml: this is a folder, not a criteria file (name the criteria file in it)"
    )


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert "this is not a regular file" in refusal(tmp_path / "pipe.yaml", tmp_path)


def test_a_device_is_refused_at_once(tmp_path: Path) -> None:
    assert "this is not a regular file" in refusal(Path("/dev/zero"), tmp_path)


def test_a_file_without_permission_is_refused(as_user: Path) -> None:
    write(as_user, "x.yaml", rules()).chmod(0)
    assert "cannot be read: Permission denied" in refusal("x.yaml", as_user)


def test_a_circular_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").symlink_to("x.yaml")
    assert "x.yaml" in refusal("x.yaml", tmp_path)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "a/" * 3000, "", " ", "/", ".."], ids=repr)
def test_an_impossible_name_is_refused(tmp_path: Path, name: str) -> None:
    assert refusal(name, tmp_path)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 1024 * 1024)
    write(tmp_path, "x.yaml", "# " + "x" * 1024 * 1024)
    assert refusal("x.yaml", tmp_path) == "x.yaml: the file is larger than 1 MB (split it)"


ENCODINGS = [
    (b"\xff\xfen\x00a\x00", "1:1: the file is not UTF-8 text: byte 0xff at offset 0"),
    (b"name: x\ndescription: caf\xe9", "2:17: the file is not UTF-8 text: byte 0xe9 at offset 24"),
    (b"\x89PNG\r\n\x1a\n\x00", "1:1: the file is not UTF-8 text: byte 0x89 at offset 0"),
    (b"name: \xed\xa0\x80", "1:7: the file is not UTF-8 text: byte 0xed at offset 6"),
    (b"name: a\x00b", "1:8: the character U+0000 is not allowed in a YAML file"),
    (b"name: a\x1b[31m", "1:8: the character U+001B is not allowed in a YAML file"),
]


@pytest.mark.parametrize(("data", "message"), ENCODINGS, ids=[str(data) for data, _ in ENCODINGS])
def test_what_is_no_text_is_refused_with_its_place(
    tmp_path: Path, data: bytes, message: str
) -> None:
    (tmp_path / "x.yaml").write_bytes(data)
    assert refusal("x.yaml", tmp_path).startswith(f"x.yaml:{message}")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no mark", "mark"])
@pytest.mark.parametrize("style", ["^# ", '"^# "  # a comment'], ids=["plain", "parsed"])
def test_line_ends_and_a_mark_change_nothing(
    tmp_path: Path, newline: str, mark: str, style: str
) -> None:
    text = rules(rule(check=f"\n      type: content\n      search: '{style}'".replace("''", "'")))
    if "comment" in style:
        text = rules(rule(check=f"\n      type: content\n      search: {style}"))
    found = load(tmp_path, mark + text.replace("\n", newline)).rules[0]
    assert found.checks[0].params["search"] == "^# "
    assert found.checks[0].place is not None
    assert found.checks[0].place.line == 6


def test_b009_an_empty_set_of_rules_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, "name: x\nrules: []\n") == [
        "rules.yaml: there are no rules (give rules, or a template under extends or criteria)"
    ]


VACUOUS = [
    (rules(*(rule(f"a.x.r{n}", severity="info") for n in range(3))), "no rule carries weight in "),
    (rules(rule(severity="warn", weight=0)), "no rule carries weight in phase A"),
    (
        rules(rule(severity="warn"), head="phases: {A: {threshold: 0}, B: {threshold: 1}}\n"),
        "the threshold of phase A is 0 and no rule is of severity fail",
    ),
    (
        rules(rule("a.x.y", severity="info"), rule("b.x.y")),
        "no rule carries weight in phase A",
    ),
]


@pytest.mark.parametrize(("text", "message"), VACUOUS, ids=[m[:40] for _, m in VACUOUS])
def test_b012_a_set_that_nothing_can_fail_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (problem,) = problems(tmp_path, text)
    assert problem.startswith(f"rules.yaml: {message}")
    assert "give a rule the severity fail" in problem


def test_zero_weights_with_a_blocker_are_no_fault(tmp_path: Path) -> None:
    assert load(tmp_path, rules(rule(weight=0))).rules[0].weight == 0


def test_b007_an_unknown_name_shows_the_paths_tried(tmp_path: Path) -> None:
    message = refusal("documentatoin", tmp_path)
    assert f"tried {stock_folder() / 'documentatoin.yaml'}, documentatoin" in message
    assert "did you mean documentation?" in message


def test_b007_an_unknown_path_shows_what_lies_beside(tmp_path: Path) -> None:
    write(tmp_path, "rules/title.yaml", rules())
    message = refusal("rules/titel.yaml", tmp_path)
    assert message == (
        "there are no criteria 'rules/titel.yaml'; tried rules/titel.yaml "
        "(did you mean title.yaml?)"
    )


def test_a_stock_name_wins_over_a_file_of_that_name(tmp_path: Path) -> None:
    write(tmp_path, "base.yaml", rules())
    write(tmp_path, "base", rules())
    assert find_template("base", relative_to=tmp_path) == stock_folder() / "base.yaml"
    assert find_template("base.yaml", relative_to=tmp_path) == tmp_path / "base.yaml"


@pytest.mark.parametrize("name", ["mine", "mine.yaml", "sub/other", "sub/other.yml"])
def test_a_path_is_found_beside_the_file_that_names_it(tmp_path: Path, name: str) -> None:
    write(tmp_path, "mine.yaml", rules())
    write(tmp_path, "sub/other.yml", rules())
    write(tmp_path, "sub/other", rules())
    assert find_template(name, relative_to=tmp_path).is_file()


def test_the_stock_templates_are_found() -> None:
    assert {"base", "api-spec", "documentation"} <= set(stock_names())


def test_a_message_names_a_file_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "x.yaml", "rules: [\n")
    assert refusal("x.yaml", tmp_path).startswith("x.yaml:2:1: ")


WITHOUT_C = """
import sys
sys.modules["_ruamel_yaml"] = None
from pathlib import Path
import pytest
from tests.criteria import test_yaml_table as table
from pytest_reflex.errors import CriteriaError
for text, expected in table.READ:
    assert table.value(f"k: {text}") == expected, text
for text, *_ in table.REFUSED:
    try:
        table.value(f"k: {text}")
    except CriteriaError as error:
        assert str(error).startswith("k.yaml:"), (text, str(error))
    else:
        raise AssertionError(text)
"""


@pytest.mark.long
def test_it_works_without_the_c_parser() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_C], cwd=root, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
