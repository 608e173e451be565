"""Agent files are taken as the clients take them for which they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.drivers.flow.prompts import read_agent_file
from pytest_reflex.errors import FlowError
from tests.drivers.flow.projects import NODE, make_project, problems_of

COLON = "Use this agent when: code was written. Examples: <example>user: 'look at it'</example>"
LINES = 'Use it for reviews.\\n\\n<example>\\nuser: "Look: here"\\n</example>'
ACCEPTED = {
    "colons": (f"name: reviewer\ndescription: {COLON}\ntools: Read, Grep\nmodel: inherit", COLON),
    "escapes": (f"name: reviewer\ndescription: {LINES}\nmodel: sonnet\ncolor: green", LINES),
    "quotes": ('name: reviewer\ndescription: "Looks: at it"', "Looks: at it"),
    "folded": ("name: reviewer\ndescription: >-\n  Looks:\n  at it\n", "Looks: at it"),
    "star": (
        "name: reviewer\ndescription: *PROACTIVELY* looks\ntools: *",
        "*PROACTIVELY* looks",
    ),
    "backtick": ("name: reviewer\ndescription: `ruff`: run it", "`ruff`: run it"),
    "hash": ("name: reviewer\ndescription: Issue: see #3, and more", "Issue: see #3, and more"),
    "empty values": ("name: reviewer\ndescription:\nmodel:\ntools:", ""),
    "other keys": ("name: reviewer\nskills: [a, b]\npermissionMode: plan\nhooks: {a: 1}", ""),
}


@pytest.mark.parametrize(("front", "description"), ACCEPTED.values(), ids=ACCEPTED)
def test_an_agent_file_of_a_client_is_accepted(
    tmp_path: Path, front: str, description: str
) -> None:
    path = tmp_path / "reviewer.md"
    path.write_text(f"---\n{front}\n---\n\nLook at {{input-path}}.\n", encoding="utf-8")
    found = read_agent_file(path)
    assert (found.name, found.description) == ("reviewer", description)
    assert found.text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tools: Read, Edit , Grep", ("Read", "Edit", "Grep")),
        ("tools: [Read, Edit]", ("Read", "Edit")),
        ("tools:\n  - Read\n  - Bash(git log:*)", ("Read", "Bash(git log:*)")),
        ("tools: ''", ()),
    ],
    ids=["text", "flow", "block", "empty"],
)
def test_tools_are_a_text_or_a_list(tmp_path: Path, line: str, words: tuple[str, ...]) -> None:
    (tmp_path / "a.md").write_text(f"---\nname: a\n{line}\n---\nDo it.\n")
    assert read_agent_file(tmp_path / "a.md").tools == words


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_line_ends_and_a_byte_order_mark_change_nothing(
    tmp_path: Path, ending: str, mark: str
) -> None:
    text = mark + "---\nname: a\ndescription: b\n---\nDo it.\n".replace("\n", ending)
    (tmp_path / "a.md").write_bytes(text.encode())
    assert read_agent_file(tmp_path / "a.md").name == "a"


REFUSED = {
    "no front matter": ("Do it.\n", 1, "the agent file has no front matter"),
    "an open one": ("---\nname: a\nDo it.\n", 1, "the agent file has no front matter"),
    "no name": ("---\ndescription: a\n---\nDo it.\n", 2, "agent file: name is missing"),
    "an empty one": ("---\n---\nDo it.\n", 0, "agent file: the file is empty"),
    "no instructions": ("---\nname: a\n---\n\n", 1, "the agent file has no instructions"),
    "a list": ("---\n- name\n---\nDo it.\n", 1, "agent file: the file must be a mapping"),
    "a mapping as description": (
        "---\nname: a\ndescription: {a: 1}\n---\nDo it.\n",
        3,
        "description must be a text, not a mapping",
    ),
    "an open bracket": (
        "---\nname: a\ntools: [Read\n---\nDo it.\n",
        4,
        "agent file: this is not valid YAML",
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_no_agent_is_reported_with_its_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    (tmp_path / "a.md").write_text(text)
    with pytest.raises(FlowError) as caught:
        read_agent_file(tmp_path / "a.md")
    (problem,) = caught.value.problems
    assert message.removeprefix("agent file: ") in problem.message
    assert problem.place is not None
    assert problem.place.line == line


def test_a_file_that_is_no_text_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"---\nname: \xff\n---\n")
    with pytest.raises(FlowError, match=r"not UTF-8 text"):
        read_agent_file(tmp_path / "a.md")


def test_the_name_of_an_agent_that_is_no_sensor_may_be_any_text(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (project / "plan.md").write_text("---\nname: Code Reviewer (v2)\n---\nDo it.\n")
    assert problems_of(project) == []


def test_the_name_of_a_sensor_s_file_names_its_output(tmp_path: Path) -> None:
    project = make_project(tmp_path, NODE.replace("{name: tests, command: make test}", "look.md"))
    (project / "look.md").write_text("---\nname: Code Reviewer\n---\nDo it.\n")
    (problem,) = problems_of(project)
    assert problem.message.startswith("name 'Code Reviewer' of a sensor has letters")


def test_places_of_a_run_s_own_are_filled_in_and_others_are_left(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nname: a\n---\n{node-path} {output-path} {other} {a-b}\n")
    text = read_agent_file(tmp_path / "a.md").fill({"node-path": "{output-path}", "a-b": ""})
    assert text.endswith("{output-path} {output-path} {other} \n")
