"""A folder is evaluated whole, or what was left out of it is named."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pytest_reflex
from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems

BAD = "TODO: write it ![x](y.png)\n"
# A run in which no check at all could judge leaves with another status.
MEASURED = (
    "  - {id: a.x.z, description: other, severity: info, "
    "check: {type: content, search: yes, files: '*'}}\n"
)
Make = Callable[[Path], object]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `docs` with one good file, and a bad file outside of it."""
    monkeypatch.chdir(tmp_path)
    return furnished(tmp_path)


def furnished(root: Path) -> Path:
    for name, text in {"docs/a.md": "yes\n", "out/bad.md": BAD, "out/deep/bad.md": BAD}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def evaluated(root: Path, check: str, *options: str) -> int:
    (root / "rules.yaml").write_text(
        "name: rules\nrules:\n"
        f"  - {{id: a.x.y, description: it holds, severity: fail, check: {check}}}\n{MEASURED}"
    )
    return main(["evaluate", "docs", "--criteria", "rules.yaml", *options])


def link(name: str, target: str, *, absolute: bool = False) -> Make:
    def make(root: Path) -> None:
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(root / target if absolute else target)

    return make


def chain(root: Path) -> None:
    (root / "docs/x.md").symlink_to("second")
    (root / "docs/second").symlink_to("../third")
    (root / "third").symlink_to("out/bad.md")


def through_a_folder(root: Path) -> None:
    (root / "hop").symlink_to("out")
    (root / "docs/x.md").symlink_to("../hop/deep/bad.md")


def large(name: str, size: int) -> Make:
    def make(root: Path) -> None:
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.truncate(size)

    return make


def pipe(name: str) -> Make:
    def make(root: Path) -> None:
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)

    return make


LINKS = {
    "a file, absolute": (link("x.md", "out/bad.md", absolute=True), "x.md"),
    "a file, relative": (link("x.md", "../out/bad.md"), "x.md"),
    "a file, from deep inside": (link("p/q/x.md", "../../../out/bad.md"), "p/q/x.md"),
    "a folder, absolute": (link("sub", "out", absolute=True), "sub"),
    "a folder, relative": (link("sub", "../out"), "sub"),
    "the folder above": (link("up", ".."), "up"),
    "a chain": (chain, "x.md"),
    "by a linked folder": (through_a_folder, "x.md"),
}
LEFT_OUT = {
    **LINKS,
    "a pipe": (pipe("x.md"), "x.md"),
    "a pipe below": (pipe("p/x.md"), "p/x.md"),
    "too large": (large("x.md", 50_000_001), "x.md"),
    "too large, below": (large("p/x.md", 60_000_000), "p/x.md"),
    "far too large": (large("x.md", 5_000_000_000), "x.md"),
}
made = pytest.mark.parametrize(("make", "name"), LEFT_OUT.values(), ids=LEFT_OUT)

NEGATIVE = "{type: content, search: TODO, negate: true, files: '*.md'}"
EVERY = {
    "negate": NEGATIVE,
    "negate, all files": "{type: content, search: TODO, negate: true}",
    "max_count": "{type: content, search: TODO, max_count: 0, files: '*.md'}",
    "some are allowed": "{type: content, search: TODO, max_count: 3, files: '*.md'}",
    "each": "{type: content, search: yes, files: '*.md', each: true}",
    "each, all files": "{type: content, search: yes, each: true}",
    "placeholders": "{type: structure, prose: {placeholders: false}, files: '*.md'}",
    "count": "{type: structure, count: {images: 0}, files: '*.md'}",
    "structure, each": "{type: structure, prose: {min_words: 1}, files: '*.md', each: true}",
}


@made
def test_what_was_left_out_may_hold_what_must_not_be_there(
    project: Path, make: Make, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make(project)
    assert evaluated(project, NEGATIVE) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"check error: not checked: {name} (" in told
    assert f"LEFT OUT {name} (" in told


@pytest.mark.parametrize("check", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("kind", ["a file, relative", "a folder, absolute", "a chain", "a pipe"])
def test_every_check_of_all_files_needs_all_files(
    project: Path, check: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluated(project, check) == 0
    make, name = LEFT_OUT[kind]
    make(project)
    capsys.readouterr()
    assert evaluated(project, check) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"{name} (" in told.partition("check error: not checked: ")[2]


@made
def test_what_is_there_is_there_whatever_was_left_out(project: Path, make: Make, name: str) -> None:
    make(project)
    assert evaluated(project, "{type: content, search: yes, files: '*.md'}") == 0


@made
def test_what_was_not_found_is_told_with_what_was_left_out(
    project: Path, make: Make, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make(project)
    assert evaluated(project, "{type: content, search: absent, files: '*.md'}") == 1
    told = " ".join(capsys.readouterr().out.split())
    row = told.partition("FAIL a.x.y: it holds: ")[2]
    assert f"pattern not found; not checked: {name} (" in row
    assert "check error" not in told


def test_a_fault_that_was_found_stays_a_fault(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "docs/b.md").write_text(BAD)
    link("x.md", "../out/bad.md")(project)
    assert evaluated(project, NEGATIVE) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "FAIL a.x.y: it holds: b.md: pattern found at line 1; it must not be there" in told


def test_a_folder_with_nothing_but_a_link_could_not_be_judged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "docs/a.md").unlink()
    link("x.md", "../out/bad.md")(project)
    for check in (NEGATIVE, EVERY["each"]):
        assert evaluated(project, check) == 1
        told = " ".join(capsys.readouterr().out.split())
        assert "not checked: x.md (links to " in told.partition("a.x.y: check error: ")[2]


def sock(root: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("docs/x.md")


def tool_folders(root: Path) -> None:
    for name in (".git", "p/node_modules", ".venv", "__pycache__", ".mypy_cache", "p/.tox"):
        (root / "docs" / name).mkdir(parents=True)
        (root / "docs" / name / "x.md").write_text(BAD)
    (root / "docs/.pytest_cache").symlink_to(root / "out")


def linked_tool_folder(root: Path) -> None:
    tool_folders(root)
    (root / "docs/lib").symlink_to("p/node_modules")


def inner_links(root: Path) -> None:
    (root / "docs/p").mkdir()
    (root / "docs/p/b.md").write_text("yes\n")
    (root / "docs/x.md").symlink_to("a.md")
    (root / "docs/latest").symlink_to("p")
    (root / "docs/p/loop").symlink_to("..")


HARMLESS = {
    "a dangling link": (link("x.md", "nowhere.md"), "x.md (a link that leads nowhere)"),
    "a dangling link outside": (link("x.md", "../gone/x.md"), "x.md (a link that leads nowhere)"),
    "a link to itself": (link("x.md", "x.md"), "x.md (a link that leads nowhere)"),
    "a socket": (sock, "x.md (a socket, which holds no text)"),
    "a device": (link("x.md", os.devnull), "x.md (a device, which holds no text)"),
    "folders of tools": (tool_folders, "excluded by name: .git, .mypy_cache, .pytest_cache"),
    "a link to one": (linked_tool_folder, "lib, p/.tox, p/node_modules"),
    "links inside": (inner_links, "latest (links to p, which is checked there)"),
    "a link of another kind": (link("x.png", "../out/bad.md"), "x.png (links to "),
    "a pipe of another kind": (pipe("x.sock"), "x.sock (cannot be read: a named pipe)"),
    "a large file of another kind": (large("x.bin", 60_000_000), "x.bin (too large: 60.0 MB, "),
}


@pytest.mark.parametrize(("make", "told"), HARMLESS.values(), ids=HARMLESS)
def test_what_holds_none_of_the_files_is_shown_and_no_error(
    project: Path, make: Make, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make(project)
    for check in (NEGATIVE, EVERY["each"], EVERY["placeholders"]):
        assert evaluated(project, check, "-v") == 0
        assert told in " ".join(capsys.readouterr().out.split())


def test_folders_of_tools_are_shown_with_v_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool_folders(project)
    assert evaluated(project, NEGATIVE) == 0
    assert "LEFT OUT" not in capsys.readouterr().out


@pytest.mark.parametrize("files", ["p/*.md", "[p-q]/*", "?/x.md"])
def test_a_linked_folder_counts_where_the_globs_lead_through_it(
    project: Path, files: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "docs/p").mkdir()
    (project / "docs/p/b.md").write_text("yes\n")
    link("q", "../out")(project)
    link("other", "../out")(project)
    check = f"{{type: content, search: TODO, negate: true, files: '{files}'}}"
    expected = 0 if files == "p/*.md" else 1
    assert evaluated(project, check) == expected
    assert "not checked: other" not in capsys.readouterr().out


def straight(root: Path) -> None:
    (root / "docs/src/bad.md").write_text(BAD)
    (root / "docs/guide/latest").symlink_to("../src")


def by_another_link(root: Path) -> None:
    (root / "docs/more").mkdir()
    (root / "docs/more/bad.md").write_text(BAD)
    (root / "docs/src/sub").symlink_to("../more")
    (root / "docs/guide/latest").symlink_to("../src")


def to_a_link_outside(root: Path) -> None:
    (root / "docs/src/x.md").symlink_to("../../out/bad.md")
    (root / "docs/guide/latest").symlink_to("../src")


def to_a_folder_outside(root: Path) -> None:
    (root / "docs/src/sub").symlink_to("../../out")
    (root / "docs/guide/latest").symlink_to("../src")


ONLY_THROUGH = [straight, by_another_link, to_a_link_outside, to_a_folder_outside]


@pytest.mark.parametrize("make", ONLY_THROUGH)
def test_a_link_inside_counts_where_the_globs_look_only_through_it(
    project: Path, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("guide", "src"):
        (project / "docs" / name).mkdir()
        (project / "docs" / name / "b.md").write_text("yes\n")
    check = "{type: content, search: TODO, negate: true, files: ['guide/b.md', GLOB]}"
    only_through = check.replace("GLOB", "'guide/latest/[xsb][a-z.]*'")
    assert evaluated(project, only_through) == 0
    make(project)
    capsys.readouterr()
    assert evaluated(project, only_through) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "not checked: guide/latest (links to src, " in told
    assert evaluated(project, check.replace("GLOB", "'guide/la[!t]*'")) == 0


def test_links_in_a_circle_come_to_an_end(project: Path) -> None:
    for name in ("p", "q", "r"):
        (project / "docs" / name).mkdir()
        for other in ("p", "q", "r"):
            (project / "docs" / name / other).symlink_to(f"../{other}")
        (project / "docs" / name / "up").symlink_to("..")
    check = "{type: content, search: TODO, negate: true, files: ['a.md', 'p/q/*.md']}"
    assert evaluated(project, check) == 0


def test_a_link_into_a_folder_that_cannot_be_listed_counts(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (user / "docs/p/q").mkdir(parents=True)
    (user / "docs/p/q/bad.md").write_text(BAD)
    (user / "docs/link").symlink_to("p/q")
    (user / "docs/p").chmod(0o100)
    check = "{type: content, search: TODO, negate: true, files: [./a.md, 'link/*.md']}"
    try:
        assert evaluated(user, check) == 1
        told = " ".join(capsys.readouterr().out.split())
        assert "not checked: link (links to p/q, " in told
    finally:
        (user / "docs/p").chmod(0o700)


def test_an_excluded_folder_counts_where_a_glob_names_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool_folders(project)
    files = "['*.md', 'p/node_modules/*.md']"
    assert evaluated(project, f"{{type: content, search: TODO, negate: true, files: {files}}}") == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "not checked: p/node_modules (excluded by name)" in told


@pytest.mark.parametrize(("make", "name"), LINKS.values(), ids=LINKS)
def test_outside_follows_links(
    project: Path, make: Make, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make(project)
    evaluated(project, NEGATIVE)
    told = " ".join(capsys.readouterr().out.split())
    assert "to follow links: --outside, in pytest --reflex-outside" in told
    assert evaluated(project, NEGATIVE, "--outside") == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"a.x.y: it holds: {name}" in told
    assert "pattern found at line 1; it must not be there" in told


def test_outside_follows_a_folder_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "out/bad.md").write_text("yes\n")
    (project / "out/deep/bad.md").write_text("yes\n")
    (project / "out/deep/round").symlink_to("..")
    link("one", "../out")(project)
    link("two", "../out")(project)
    assert evaluated(project, NEGATIVE, "--outside", "-v") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "3 of 3 files checked" in told
    assert "LEFT OUT one/deep/round (links to one, which is checked there)" in told


def test_a_typed_path_may_lie_anywhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "elsewhere").mkdir()
    (project / "linked").symlink_to("docs")
    (project / "linked.md").symlink_to("docs/a.md")
    assert evaluated(project, NEGATIVE) == 0
    monkeypatch.chdir(project / "elsewhere")
    for path in ("../docs", "../linked", "../linked.md", str(project / "docs/a.md")):
        assert main(["evaluate", path, "--criteria", "../rules.yaml"]) == 0


def test_json_lists_what_was_left_out(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool_folders(project)
    link("x.md", "../out/bad.md")(project)
    link("gone", "nowhere")(project)
    assert evaluated(project, NEGATIVE, "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert problems("report", document) == []
    (one,) = document["evaluations"]
    found = {row["path"]: row for row in one["left_out"]}
    target = os.path.realpath("out/bad.md")
    assert found["x.md"] == {"path": "x.md", "reason": "link_outside", "detail": target}
    assert found[".git"] == {"path": ".git", "reason": "excluded"}
    assert found["gone"]["reason"] == "dangling_link"
    assert one["rule_results"][0]["outcome"] == "error"


NAMES = {
    "a line": (b"x\n::error::y.md", r"x\n\x3a:error::y.md"),
    "an escape": (b"x\x1b[2Jy.md", r"x\x1b[2Jy.md"),
    "not UTF-8": (b"x\xff.md", "x"),
    "very long": (b"x" * 200 + b".md", "x" * 100),
}


@pytest.mark.parametrize(("name", "told"), NAMES.values(), ids=NAMES)
def test_names_of_others_are_shown_safely(
    project: Path, name: bytes, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    os.symlink(b"../out/bad.md", b"docs/" + name)
    assert evaluated(project, NEGATIVE, "-v") == 1
    out = capsys.readouterr().out
    assert told[:60] in out.replace("\n            ", "")
    assert "\x1b" not in out
    assert "\n::error" not in out
    assert evaluated(project, NEGATIVE, "--json") == 1
    (one,) = json.loads(capsys.readouterr().out)["evaluations"]
    assert os.fsencode(one["left_out"][0]["path"]) == name


def test_one_file_has_nothing_left_out(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluated(project, NEGATIVE)
    link("x.md", "../out/bad.md")(project)
    capsys.readouterr()
    assert main(["evaluate", "docs/a.md", "--criteria", "rules.yaml", "-v", "--json"]) == 0
    assert "left_out" not in capsys.readouterr().out


@pytest.mark.parametrize(("make", "name"), LINKS.values(), ids=LINKS)
def test_the_python_interface_says_the_same(project: Path, make: Make, name: str) -> None:
    make(project)
    evaluated(project, NEGATIVE)
    one = pytest_reflex.evaluate("docs", "rules.yaml")
    assert (one.passed, one.results[0].outcome) == (False, "error")
    assert name in [left.path for left in one.left_out]
    followed = pytest_reflex.evaluate("docs", "rules.yaml", outside=True)
    assert (followed.results[0].outcome, followed.left_out) in [
        ("fail", ()),
        ("fail", followed.left_out[:1]),  # the folder above has this one in it
    ]


SOURCES = {
    "compiles": "{type: code, aspect: compiles}",
    "pattern": "{type: structure, files: '*.py', "
    "code: {language: python, pattern: 'print($$$)', negate: true}}",
    "secrets": "{type: structure, files: '*.py', configuration: secrets}",
}


@pytest.mark.parametrize("check", [SOURCES["compiles"], SOURCES["pattern"]])
@pytest.mark.parametrize("name", ["x.py", "p/x.py", "folder"])
def test_checks_of_code_look_at_all_of_it(
    project: Path, check: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "docs/a.py").write_text("x = 1\n")
    (project / "out/bad.py").write_text("print(1\n")
    assert evaluated(project, check) == 0
    capsys.readouterr()
    target = project / "out" if name == "folder" else project / "out/bad.py"
    link(name, str(target))(project)
    assert evaluated(project, check) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"check error: not checked: {name} (" in told


def test_code_of_which_none_was_read_could_not_be_judged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "out/bad.py").write_text("print(1\n")
    link("x.py", "../out/bad.py")(project)
    assert evaluated(project, SOURCES["compiles"]) == 1
    assert "not checked: x.py (" in " ".join(capsys.readouterr().out.split())


DATA = {
    "path": "{type: structure, path: debug, exists: false, files: '*.yaml'}",
    "secrets": "{type: structure, configuration: secrets, files: '*.yaml'}",
}


@pytest.mark.parametrize("check", DATA.values(), ids=DATA)
@pytest.mark.parametrize("where", ["there", "linked"])
def test_what_must_not_be_in_data_is_in_none_of_the_files(
    project: Path, check: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "docs/a.yaml").write_text("port: 1\n")
    (project / "docs/z.yaml").write_text("port: 2\n")
    assert evaluated(project, check) == 0
    bad = "debug: true\npassword: hunter2plain\n"
    (project / "out/bad.yaml").write_text(bad)
    if where == "there":
        (project / "docs/z.yaml").write_text(bad)
    else:
        link("x.yaml", "../out/bad.yaml")(project)
    capsys.readouterr()
    assert evaluated(project, check) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert ("not checked: x.yaml" if where == "linked" else "a.x.y: z.yaml: ") in told


STRUCTURES = {
    "placeholders": "{type: structure, prose: {placeholders: false}, files: '*.md'}",
    "count": "{type: structure, count: {images: 0}, files: '*.md'}",
    "count, at most": "{type: structure, count: {images: {max: 0}}, files: '*.md'}",
    "code": "{type: structure, files: '*.md', "
    "code: {language: python, pattern: 'print($$$)', negate: true}}",
    "code, at most": "{type: structure, files: '*.md', "
    "code: {language: python, pattern: 'print($$$)', max_count: 0}}",
}


@pytest.mark.parametrize("check", STRUCTURES.values(), ids=STRUCTURES)
def test_what_must_not_be_there_is_in_none_of_the_files(project: Path, check: str) -> None:
    good = "yes\n\n```python\nx = 1\n```\n"
    (project / "docs/a.md").write_text(good)
    (project / "docs/b.md").write_text(good)
    assert evaluated(project, check) == 0
    (project / "docs/b.md").write_text(BAD + "\n```python\nprint(1)\n```\n")
    assert evaluated(project, check) == 1


@pytest.fixture
def user(as_user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(as_user)
    return furnished(as_user)


def no_file(root: Path) -> None:
    (root / "docs/x.md").write_text(BAD)
    (root / "docs/x.md").chmod(0)


def no_folder(root: Path) -> None:
    (root / "docs/p").mkdir()
    (root / "docs/p/x.md").write_text(BAD)
    (root / "docs/p").chmod(0)


def no_entry(root: Path) -> None:
    no_folder(root)
    (root / "docs/p").chmod(0o400)


def no_list(root: Path) -> None:
    no_folder(root)
    (root / "docs/p").chmod(0o100)


def linked(root: Path) -> None:
    (root / "out").chmod(0)
    (root / "docs/x.md").symlink_to("../out/bad.md")


DENIED = {
    "a file": (no_file, "x.md (cannot be read: Permission denied)"),
    "a folder": (no_folder, "p (cannot be read: Permission denied)"),
    "a folder that can only be listed": (no_entry, "p/x.md (cannot be read: Permission denied)"),
    "a folder that cannot be listed": (no_list, "p (cannot be read: Permission denied)"),
    "behind a link": (linked, "x.md (links to "),
}


@pytest.mark.parametrize(("make", "told"), DENIED.values(), ids=DENIED)
def test_what_may_not_be_read_may_hold_anything(
    user: Path, make: Make, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make(user)
    try:
        assert evaluated(user, NEGATIVE) == 1
        assert f"not checked: {told}" in " ".join(capsys.readouterr().out.split())
        assert evaluated(user, EVERY["each"]) == 1
        assert evaluated(user, "{type: content, search: yes, files: '*.md'}") == 0
        assert evaluated(user, "{type: content, search: yes, files: './a*', each: true}") == 0
    finally:
        for path in (user / "docs/p", user / "out"):
            if path.exists():
                path.chmod(0o700)


def failing(call: Callable[..., Any], name: str, code: int) -> Callable[..., Any]:
    """Return a function of the system that fails for one path."""

    def call_or_fail(path: Any, *rest: Any, **named: Any) -> Any:
        if os.fspath(path).endswith(name):
            raise OSError(code, os.strerror(code), path)
        return call(path, *rest, **named)

    return call_or_fail


@pytest.mark.parametrize("code", [errno.EIO, errno.ESTALE, errno.EACCES])
@pytest.mark.parametrize(("function", "name"), [("open", "docs/p/x.md"), ("scandir", "docs/p")])
def test_what_the_disk_does_not_give_is_left_out(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    function: str,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (project / "docs/p").mkdir()
    (project / "docs/p/x.md").write_text("yes\n")
    assert evaluated(project, NEGATIVE) == 0
    monkeypatch.setattr(os, function, failing(getattr(os, function), name, code))
    capsys.readouterr()
    assert evaluated(project, NEGATIVE) == 1
    told = " ".join(capsys.readouterr().out.split())
    path = name.removeprefix("docs/")
    assert f"not checked: {path} (cannot be read: {os.strerror(code)})" in told


def test_no_room_for_a_file_of_ours_is_no_verdict(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "open", failing(os.open, "docs/a.md", errno.EMFILE))
    assert evaluated(project, "{type: content, search: yes, files: '*.md'}") == 12
    assert "docs/a.md cannot be read: Too many open files" in capsys.readouterr().err
