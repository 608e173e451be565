"""What a session does not read of a folder, and artifacts that lie outside the project."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import Run, write

pytestmark = [pytest.mark.long, pytest.mark.variants]

Make = Callable[[Path], object]
Read = Callable[[str], dict[str, Any]]

SUITE = """\
criteria: {name: folder, version: 1}
artifacts: [docs/]
rules:
  - id: a.x.clean
    description: Nothing is left to do
    severity: fail
    check: {type: content, search: TODO, negate: true, files: '*.md'}
  - id: a.x.there
    description: It says yes
    severity: fail
    check: {type: content, search: yes, files: '*.md'}
"""


@pytest.fixture(autouse=True)
def outside(project: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite over the folder `docs`, and another folder outside of the project."""
    (project.path / "mini.reflex.yaml").unlink()
    write(project, "docs.reflex.yaml", SUITE)
    write(project, "docs/a.md", "yes\n")
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "bad.md").write_text("TODO\n")
    return folder


@pytest.fixture(params=["plain", "two workers"])
def session(request: pytest.FixtureRequest) -> Run:
    name = "run" if request.param == "plain" else "run_workers"
    found: Run = request.getfixturevalue(name)
    return found


def file_link(docs: Path, outside: Path) -> None:
    (docs / "x.md").symlink_to(outside / "bad.md")


def folder_link(docs: Path, outside: Path) -> None:
    (docs / "x.md").symlink_to(outside)


def relative_chain(docs: Path, outside: Path) -> None:
    (docs.parent / "hop").symlink_to(os.path.relpath(outside, docs.parent))
    (docs / "x.md").symlink_to("../hop/bad.md")


def large_file(docs: Path, outside: Path) -> None:
    with (docs / "x.md").open("wb") as file:
        file.truncate(50_000_001)


def pipe(docs: Path, outside: Path) -> None:
    os.mkfifo(docs / "x.md")


@pytest.mark.parametrize("make", [file_link, folder_link, relative_chain, large_file, pipe])
def test_a_rule_over_all_files_fails_where_one_was_left_out(
    project: pytest.Pytester,
    outside: Path,
    session: Run,
    document: Read,
    make: Callable[[Path, Path], None],
) -> None:
    make(project.path / "docs", outside)
    result = session("--reflex-json=out.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "LEFT OUT    x.md (*",
            "FAIL        a.x.clean: check error: not checked: x.md*",
            "GATE        FAILED: docs: failed rules: a.x.clean*",
        ]
    )
    (one,) = document("out.json")["evaluations"]
    assert [row["outcome"] for row in one["rule_results"]] == ["error", "pass"]
    assert [row["path"] for row in one["left_out"]] == ["x.md"]


def test_excluded_names_are_shown_with_v(
    project: pytest.Pytester, outside: Path, session: Run
) -> None:
    for name in (".git", "node_modules", "__pycache__"):
        write(project, f"docs/{name}/bad.md", "TODO\n")
    (project.path / "docs/gone.md").symlink_to(outside / "gone.md")
    (project.path / "docs/.venv").symlink_to(outside)
    result = session()
    assert result.ret == 0
    result.stdout.no_fnmatch_line("LEFT OUT*")
    result = session("-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "LEFT OUT    excluded by name: .git, .venv, __pycache__, node_modules",
            "LEFT OUT    gone.md (a link that leads nowhere)",
        ]
    )


def test_with_v_each_of_several_artifacts_shows_what_was_left_out(
    project: pytest.Pytester, run: Run
) -> None:
    write(project, "docs.reflex.yaml", SUITE.replace("[docs/]", "[docs/, more/]"))
    write(project, "docs/.git/config", "x")
    write(project, "more/a.md", "yes\n")
    run().stdout.no_fnmatch_line("LEFT OUT*")
    result = run("-v")
    result.stdout.fnmatch_lines(["ARTIFACT    docs *", "LEFT OUT    excluded by name: .git"])
    result.stdout.no_fnmatch_line("ARTIFACT    more *")


def test_links_are_followed_where_that_is_asked_for(
    project: pytest.Pytester, outside: Path, session: Run
) -> None:
    file_link(project.path / "docs", outside)
    result = session("--reflex-outside")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAIL        a.x.clean: Nothing is left to do: x.md: pattern found at line 1;*"]
    )
    (outside / "bad.md").write_text("done\n")
    assert session("--reflex-outside").ret == 0


MEANWHILE = """
import os
import pytest
def test_it(pytestconfig):
    os.chdir(pytestconfig.rootpath / "docs")
    {act}
"""
ACTS = {
    "a link appears": ("os.symlink('/etc/hosts', 'x.md')", True),
    "a linked folder appears": ("os.symlink('/etc', 'x')", True),
    "a pipe appears": ("os.mkfifo('x.md')", True),
    "a link goes": ("os.unlink('there.txt')", True),
    "a cache appears": ("os.mkdir('.pytest_cache')", False),
    "a link that leads nowhere appears": ("os.symlink('nowhere', 'x.md')", False),
}


@pytest.mark.parametrize(("act", "changed"), ACTS.values(), ids=ACTS)
def test_what_would_have_to_be_read_and_appears_meanwhile_is_a_change(
    project: pytest.Pytester, run: Run, act: str, changed: bool
) -> None:
    (project.path / "docs/there.txt").symlink_to("/etc/hosts")
    project.makepyfile(test_it=MEANWHILE.replace("{act}", act))
    result = run()
    assert result.ret == (1 if changed else 0)
    if changed:
        result.stdout.fnmatch_lines(["UNSOUND     the artifact changed during the evaluation"])


def named_above(root: Path, outside: Path) -> str:
    return os.path.relpath(outside / "bad.md", root)


def named_absolutely(root: Path, outside: Path) -> str:
    return str(outside / "bad.md")


def linked_file(root: Path, outside: Path) -> str:
    (root / "x.md").symlink_to(outside / "bad.md")
    return "x.md"


def linked_by_a_pattern(root: Path, outside: Path) -> str:
    (root / "texts").mkdir()
    (root / "texts/x.md").symlink_to(os.path.relpath(outside / "bad.md", root / "texts"))
    return "texts/*.md"


def below_a_linked_folder(root: Path, outside: Path) -> str:
    (root / "texts").symlink_to(outside)
    return "texts/b*.md"


def linked_folder(root: Path, outside: Path) -> str:
    (root / "texts").symlink_to(outside)
    return "texts/"


def chained(root: Path, outside: Path) -> str:
    (root / "x.md").symlink_to("y.md")
    (root / "y.md").symlink_to("hop/bad.md")
    (root / "hop").symlink_to(outside)
    return "x.md"


OUTSIDE = [
    *(named_above, named_absolutely, linked_file, linked_by_a_pattern, below_a_linked_folder),
    *(linked_folder, chained),
]


@pytest.mark.parametrize("make", OUTSIDE)
def test_a_suite_needs_an_option_to_leave_the_project(
    project: pytest.Pytester,
    outside: Path,
    run: Run,
    make: Callable[[Path, Path], str],
) -> None:
    pattern = make(project.path, outside)
    write(project, "docs.reflex.yaml", SUITE.replace("docs/", pattern))
    result = run()
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        [f"*docs.reflex.yaml:2:13: '*' leads out of the project, to {outside.resolve()}*(--*"]
    )
    result = run("--reflex-outside")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL        a.x.clean: *pattern found at line 1*"])


@pytest.mark.parametrize("pattern", ["../docs/a.md", "../docs/*.md", "../docs/", "here.md", "own/"])
def test_a_suite_may_name_what_lies_elsewhere_in_the_project(
    project: pytest.Pytester, run: Run, pattern: str
) -> None:
    write(project, "pytest.ini", "[pytest]\n")
    write(project, "sub/docs.reflex.yaml", SUITE.replace("docs/", pattern))
    (project.path / "sub/here.md").symlink_to("../docs/a.md")
    (project.path / "sub/own").symlink_to("../docs")
    assert run("sub").ret == 0


def test_a_suite_outside_the_project_may_name_what_lies_beside_it(
    project: pytest.Pytester, outside: Path, run: Run
) -> None:
    write(project, "pytest.ini", "[pytest]\n")
    (outside / "own.reflex.yaml").write_text(SUITE.replace("docs/", "good.md"))
    (outside / "good.md").write_text("yes\n")
    arguments = ("-c", "pytest.ini", f"--rootdir={project.path}", str(outside / "own.reflex.yaml"))
    assert run(*arguments).ret == 0


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_path_that_was_typed_may_lie_anywhere(
    project: pytest.Pytester, outside: Path, run: Run, kind: str
) -> None:
    (project.path / "docs.reflex.yaml").unlink()
    write(project, "named.yaml", "name: named\n" + SUITE.partition("]\n")[2])
    (outside / "bad.md").write_text("yes\n")
    (project.path / "link.md").symlink_to(outside / "bad.md")
    path = {"file": outside / "bad.md", "folder": outside, "link": "link.md"}[kind]
    assert run("--reflex-criteria=named.yaml", f"--reflex-artifact={path}").ret == 0


def test_a_link_in_a_typed_folder_needs_the_option(
    project: pytest.Pytester, outside: Path, run: Run
) -> None:
    (project.path / "docs.reflex.yaml").unlink()
    write(project, "named.yaml", "name: named\n" + SUITE.partition("]\n")[2])
    file_link(project.path / "docs", outside)
    (outside / "bad.md").write_text("done\n")
    named = ("--reflex-criteria=named.yaml", "--reflex-artifact=docs")
    result = run(*named)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*not checked: x.md (links to *"])
    assert run(*named, "--reflex-outside").ret == 0


def test_workers_and_who_decides_agree_on_what_lies_outside(
    project: pytest.Pytester, outside: Path, run_workers: Run
) -> None:
    write(project, "docs.reflex.yaml", SUITE.replace("docs/", linked_file(project.path, outside)))
    result = run_workers()
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*'x.md' leads out of the project, to *bad.md*"])
    (outside / "bad.md").write_text("yes\n")
    assert run_workers("--reflex-outside").ret == 0
