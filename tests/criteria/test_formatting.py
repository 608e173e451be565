"""Formatters as real programs: what they do to a text, and what becomes of those that fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.formatting import Formatting
from pytest_reflex.fixes import FixError
from tests.criteria.writing import load, problems, rule, rules, write

PROGRAM = """\
import os, pathlib, shutil, subprocess, sys, time
what, *files = sys.argv[1:]
exec({
    "in place": "p = pathlib.Path(files[0]); p.write_text(p.read_text().upper())",
    "to stdout": "print(pathlib.Path(files[0]).read_text().upper(), end='')",
    "from stdin": "print(sys.stdin.read().upper(), end='')",
    "name": "pathlib.Path(files[0]).write_text(os.path.basename(files[0]))",
    "folder": "pathlib.Path(files[0]).write_text(os.getcwd())",
    "nothing": "",
    "argument": "pathlib.Path(files[0]).write_text(files[1])",
    "crash": "print('line 1'); print('a; b\\\\nit is broken', file=sys.stderr); sys.exit(3)",
    "complains": "sys.exit(f'{files[0]}:3: no')",
    "killed": "os.kill(os.getpid(), 9)",
    "slow": "time.sleep(60)",
    "empty": "pathlib.Path(files[0]).write_text(' \\\\n')",
    "latin": "pathlib.Path(files[0]).write_bytes(b'caf\\\\xe9')",
    "binary": "pathlib.Path(files[0]).write_bytes(b'a\\\\0b')",
    "removed": "os.remove(files[0])",
    "link": "os.remove(files[0]); os.symlink('/etc/hosts', files[0])",
    "folder link": "d = os.path.dirname(files[0]); shutil.rmtree(d); os.symlink(files[1], d)",
    "pipe": "os.remove(files[0]); os.mkfifo(files[0])",
    "endless": "while True: print('x' * 1000000)",
    "secret": "pathlib.Path(files[0]).write_text(os.environ['MY_API_KEY'])",
    "tells": "sys.exit('no ' + os.environ['MY_API_KEY'])",
    "child": "c = subprocess.Popen(['sleep', '60'], start_new_session=True); "
             "pathlib.Path(files[0]).write_text(str(c.pid))",
}[what])
"""
SECRET = "sk-0123456789abcdef"


@pytest.fixture
def made(tmp_path: Path) -> Any:
    """Return what a program makes of a text in a folder whose name has a space."""
    root = tmp_path / "my project"
    root.mkdir()
    write(root, "tools/tidy.py", PROGRAM)

    def make(what: str, text: str = "some text\n", name: str = "page.md", **keys: Any) -> str:
        output = keys.pop("output", "file")
        args = keys.pop("args", {})
        file = [] if what == "from stdin" else ["{file}"]
        argv = [sys.executable, "tools/tidy.py", what, *file, *(f"{{{arg}}}" for arg in args)]
        tidy = {"argv": argv, "args": ["file", *args], **keys}
        formatting = Formatting(commands={"tidy": tidy}, name=f"docs/{name}", root=root)
        return formatting({"command": "tidy", "output": output, "args": args}, text)

    return make


@pytest.mark.parametrize(
    ("what", "output"), [("in place", "file"), ("to stdout", "stdout"), ("from stdin", "stdout")]
)
def test_new_text_is_taken_from_where_the_fix_says(made: Any, what: str, output: str) -> None:
    assert made(what, "ä text\n", output=output) == "Ä TEXT\n"


def test_formatter_without_anything_to_do_leaves_the_text(made: Any) -> None:
    assert made("nothing") == "some text\n"


@pytest.mark.parametrize("name", ["page.md", "my page; rm -rf.py", "-x.yaml", "ü {file}.json"])
def test_copy_has_the_name_of_the_artifact(made: Any, name: str) -> None:
    assert made("name", name=name) == name


def test_command_runs_in_the_folder_of_the_project(made: Any, tmp_path: Path) -> None:
    assert made("folder") == str(tmp_path / "my project")


def test_argument_arrives_as_it_is_written(made: Any) -> None:
    assert made("argument", args={"width": "$HOME `x` {file}"}) == "$HOME `x` {file}"


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("crash", "exit status 3: it is broken"),
        ("complains", "exit status 1: page.md:3: no"),
        ("killed", "it was ended by SIGKILL"),
        ("empty", "its result is empty"),
        ("latin", "its result is not UTF-8: byte 0xe9"),
        ("binary", "its result is binary: a NUL byte at offset 1"),
        ("removed", "it removed the file"),
        ("link", "afterwards the file is a symbolic link"),
        ("pipe", "afterwards the file is not a regular file"),
    ],
    ids=str,
)
def test_formatter_that_fails_gives_no_text(made: Any, what: str, reason: str) -> None:
    with pytest.raises(FixError) as caught:
        made(what)
    assert str(caught.value) == f"format: tidy: {reason}"


def test_link_in_place_of_the_private_folder_is_not_followed(made: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, "page.md", "# Not yours\n")
    elsewhere.chmod(0o750)
    with pytest.raises(FixError) as caught:
        made("folder link", args={"to": str(elsewhere)})
    assert str(caught.value) == "format: tidy: it removed the file"
    assert elsewhere.stat().st_mode & 0o777 == 0o750
    assert (elsewhere / "page.md").read_text() == "# Not yours\n"


def test_slow_formatter_is_stopped(made: Any) -> None:
    with pytest.raises(FixError, match=r"tidy: it ran longer than 0\.5 s and was stopped"):
        made("slow", timeout=0.5)


def test_formatter_that_never_stops_writing_is_stopped(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_reflex.criteria.author.formatting.MOST_BYTES", 2_000_000)
    with pytest.raises(FixError, match="tidy: it wrote too much and was stopped"):
        made("endless", output="stdout")


@pytest.mark.parametrize("output", ["file", "stdout"])
def test_result_that_is_too_large_is_refused(
    made: Any, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_reflex.criteria.author.formatting.MOST_BYTES", 10)
    with pytest.raises(FixError, match=r"larger than 10 bytes|too large: 15 bytes"):
        made("in place" if output == "file" else "to stdout", "x" * 15, output=output)


def test_missing_program_is_told(tmp_path: Path) -> None:
    commands = {"tidy": {"argv": ["no-such-program", "{file}"], "args": ["file"]}}
    with pytest.raises(FixError, match=r"format: tidy: .*no-such-program"):
        Formatting(commands=commands, name="a.md", root=tmp_path)({"command": "tidy"}, "x")


def test_what_a_formatter_leaves_behind_is_ended(made: Any) -> None:
    pid = int(made("child"))
    status = Path(f"/proc/{pid}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_secret_of_the_environment_does_not_come_into_the_text(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    with pytest.raises(FixError) as caught:
        made("secret")
    assert str(caught.value) == "format: tidy put the value of $MY_API_KEY into the text"
    assert made("secret", f"key: {SECRET}") == SECRET  # it was there before


def test_secret_of_the_environment_is_not_told(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    with pytest.raises(FixError) as caught:
        made("tells")
    assert str(caught.value) == "format: tidy: exit status 1: no $MY_API_KEY"


def test_no_copy_is_left(made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    made("in place")
    for what in ("crash", "folder link"):
        with pytest.raises(FixError):
            made(what, args={"to": str(tmp_path)})
    assert list(folder.iterdir()) == []


HEAD = (
    "commands: {tidy: {argv: [tidy, '{file}', '{width}'], args: [file, width]}, "
    "cat: {argv: [cat]}}\n"
)


def named(fix: str) -> str:
    return rules(rule(fix=fix), head=HEAD)


def test_formatter_is_unsafe_unless_it_is_called_safe(tmp_path: Path) -> None:
    tidy = "format: {command: tidy, args: {width: '80'}}"
    for given, safe in (("", False), (", safe: false", False), (", safe: true", True)):
        ((fix,),) = (one.fixes for one in load(tmp_path, named(f"{{{tidy}{given}}}")).rules)
        assert fix.safe is safe


def test_variable_is_an_argument(tmp_path: Path) -> None:
    text = named("{format: {command: tidy, args: {width: {var: wide}}}}")
    (one,) = load(tmp_path, "vars: {wide: '80'}\n" + text).rules
    assert one.fixes[0].params["args"] == {"width": "80"}


@pytest.mark.parametrize(
    ("args", "expected"), [("file", ["file"]), ("", []), ("[file]", ["file"])], ids=str
)
def test_declared_arguments_are_a_list_however_they_are_written(
    tmp_path: Path, args: str, expected: list[str]
) -> None:
    criteria = load(tmp_path, rules(head=f"commands:\n  t:\n    argv: [t]\n    args: {args}\n"))
    assert criteria.commands["t"]["args"] == expected


def test_command_of_an_inherited_file_can_be_named(tmp_path: Path) -> None:
    write(tmp_path, "base.yaml", rules(head=HEAD))
    fix = "{format: {command: tidy, args: {width: '80'}}, safe: true}"
    own = rules(rule("a.docs.tidy", fix=fix), head="extends: base.yaml\n")
    assert load(tmp_path, own).rules[-1].fixes[0].safe


@pytest.mark.parametrize(
    ("fix", "told"),
    [
        (
            "{format: {command: tydi}}",
            (
                "rules.yaml:7:29: rule a.docs.title: format: there is no command 'tydi' "
                "(did you mean tidy?)"
            ),
        ),
        (
            "{format: {command: tidy}}",
            (
                "rules.yaml:7:11: rule a.docs.title: format: the command tidy needs the "
                "argument width "
                "(args: {width: ...})"
            ),
        ),
        (
            "{format: {command: tidy, args: {widht: '1', width: '2'}}}",
            (
                "rules.yaml:7:41: rule a.docs.title: format: the command tidy has no "
                "argument 'widht' "
                "(did you mean width?)"
            ),
        ),
        (
            "{format: {command: tidy, args: {file: x, width: '2'}}}",
            (
                "rules.yaml:7:41: rule a.docs.title: format: file is the copy of the artifact, "
                "and not given"
            ),
        ),
        (
            "{format: {command: cat}}",
            (
                "rules.yaml:7:29: rule a.docs.title: format: the command cat is not given the "
                "file to "
                'change ("{file}" in its argv and file in its args, or output: stdout)'
            ),
        ),
    ],
    ids=str,
)
def test_fix_that_cannot_call_its_command_is_told_at_its_place(
    tmp_path: Path, fix: str, told: str
) -> None:
    assert problems(tmp_path, named(fix)) == [told]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("{argv: true, args: file}", "command tidy needs argv, a list of texts"),
        ("{argv: [tidy, '{file}'], args: true}", "args must be a list, not the boolean true"),
        (
            "{argv: [tidy, '{file}'], args: [file, {a: b}]}",
            "an item of args must be a text, not a mapping",
        ),
    ],
    ids=["argv", "args", "a mapping in args"],
)
def test_malformed_command_of_a_fix_is_told_as_one(tmp_path: Path, command: str, told: str) -> None:
    text = rules(rule(fix="{format: {command: tidy}}"), head=f"commands: {{tidy: {command}}}\n")
    assert any(told in problem for problem in problems(tmp_path, text))


def test_command_of_a_formatter_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fix = "{format: {command: cat, output: stdout}}"
    main(["criteria", "lint", str(write(tmp_path, "rules.yaml", named(fix)))])
    assert "nothing calls these commands" not in capsys.readouterr().out
    main(["criteria", "lint", str(write(tmp_path, "rules.yaml", named("{append: {text: x}}")))])
    assert "nothing calls these commands" in capsys.readouterr().out


def test_unknown_command_is_told_by_the_lint_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "rules.yaml", named("{format: {command: tydi}}"))
    assert main(["criteria", "lint", str(path), "--json"]) != 0
    (error,) = (row for row in json.loads(capsys.readouterr().out)["remarks"] if not row["code"])
    assert (error["line"], error["column"], error["hint"]) == (7, 29, "did you mean tidy?")


def test_formatter_is_not_offered_to_agents(tmp_path: Path) -> None:
    criteria = load(tmp_path, named("{format: {command: tidy, args: {width: '80'}}}"))
    assert list(criteria.commands_for_agents) == ["cat"]
