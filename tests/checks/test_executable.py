"""Checks of type executable."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.executable import ExecutableCheck
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.targets import CheckContext
from tests.checks.building import executable, execute

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR


@pytest.mark.parametrize(
    ("command", "params", "outcome", "message"),
    [
        pytest.param("true", {}, PASS, "exit status 0", id="0"),
        pytest.param("exit 1", {}, FAIL, "exit status 1, expected 0", id="1"),
        pytest.param(
            "echo first >&2; echo 'no tag: v1' >&2; echo >&2; exit 1",
            {},
            FAIL,
            "exit status 1, expected 0: no tag: v1$",
            id="1 with a reason",
        ),
        pytest.param(
            "printf '%0200d' 0 >&2; exit 1",
            {},
            FAIL,
            "expected 0: 0{100,119}…$",
            id="a long reason",
        ),
        pytest.param("exit 2", {"expect_exit": 2}, PASS, "exit status 2", id="expected 2"),
        pytest.param("true", {"expect_exit": 2}, FAIL, "status 0, expected 2", id="unexpected 0"),
        pytest.param("exit 125", {}, FAIL, "exit status 125", id="125"),
        pytest.param("exit 126", {}, ERROR, "126: a command could not be executed", id="126"),
        pytest.param("/etc/passwd", {}, ERROR, "126: a command could not", id="126 for real"),
        pytest.param("exit 127", {}, ERROR, "127: a command was not found", id="127"),
        pytest.param("exit 127", {"expect_exit": 127}, PASS, "status 127", id="expected 127"),
        pytest.param("exit 128", {}, FAIL, "exit status 128", id="128"),
        pytest.param("exit 137", {}, ERROR, "137: .* ended by SIGKILL", id="137"),
        pytest.param("exit 143", {}, ERROR, "143: .* ended by SIGTERM", id="143"),
        pytest.param("exit 255", {}, FAIL, "exit status 255", id="255"),
        pytest.param("kill -ABRT $$", {}, ERROR, "ended by SIGABRT", id="signal"),
        pytest.param(["sh", "-c", "exit 137"], {}, FAIL, "exit status 137", id="argv 137"),
        pytest.param("false | true", {}, PASS, "exit status 0", id="pipeline"),
        pytest.param(
            "false | true", {"shell": "bash -o pipefail"}, FAIL, "status 1", id="strict pipeline"
        ),
        pytest.param(
            "false | true", {"shell": "bash-strict"}, FAIL, "status 1", id="f24 bash-strict"
        ),
        pytest.param("false; true", {"shell": "bash-strict"}, FAIL, "status 1", id="f24 first"),
        pytest.param("echo $NONE", {"shell": "bash-strict"}, FAIL, "status 1", id="f24 unset"),
        pytest.param("test -z $BASH_VERSION", {"shell": "sh"}, PASS, "status 0", id="own shell"),
    ],
)
def test_status_decides(
    tmp_path: Path, command: str | list[str], params: dict[str, Any], outcome: Outcome, message: str
) -> None:
    result = execute(command, tmp_path, **params)
    assert result.outcome is outcome
    assert re.search(message, result.message)


@pytest.mark.parametrize("command", ["nosuchtool --x", ["nosuchtool", "--x"]], ids=["sh", "argv"])
def test_b016_missing_command_could_not_judge(tmp_path: Path, command: str | list[str]) -> None:
    result = execute(command, tmp_path)
    assert result.outcome is ERROR
    assert "nosuchtool" in result.message
    assert "not found" in result.message


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "pattern", "outcome"),
    [
        pytest.param("echo false", "^false$", PASS, id="b032 false"),
        pytest.param("echo 0", "^0$", PASS, id="b032 zero"),
        pytest.param("true", "^$", PASS, id="b032 empty"),
        pytest.param("true", "x", FAIL, id="nothing written"),
        pytest.param("printf 'a\\r\\nb\\r\\n'", "^a$", PASS, id="CRLF"),
        pytest.param("echo no", "yes", FAIL, id="something else"),
        pytest.param("echo yes >&2", "yes", FAIL, id="only stderr"),
        pytest.param("echo yes; exit 1", "yes", FAIL, id="right words, wrong status"),
        pytest.param("printf '\\377\\376'", "xff", PASS, id="no text"),
        pytest.param(f"echo {'a' * 40}b", r"(a+)+\1$", ERROR, id="runaway"),
    ],
)
def test_output_decides_where_it_is_expected(
    tmp_path: Path, command: str, pattern: str, outcome: Outcome
) -> None:
    path = tmp_path / "a.md"
    path.touch()
    check = ExecutableCheck().compile(executable(command, expect_output=pattern), {})
    context = CheckContext(root=tmp_path, pattern_seconds=0.3)
    assert check(Artifact(path=path, name="a.md"), context).outcome is outcome


def test_output_too_long_to_look_at_is_an_error(tmp_path: Path) -> None:
    command = "head -c 3000000 /dev/zero | tr '\\0' x"
    result = execute(command, tmp_path, expect_output="needle")
    assert result.outcome is ERROR
    assert result.message == "its output is too long to search: 3000000 bytes"
    assert execute(command, tmp_path).outcome is PASS


def test_b106_time_out_shows_the_output_so_far(tmp_path: Path) -> None:
    result = execute("echo step1; sleep 60", tmp_path, timeout=2)
    assert result.outcome is ERROR
    assert result.message.startswith("it ran longer than 2 s and was stopped (echo step1; sleep")
    assert result.evidence == "step1"


def test_b099_leftovers_are_noted(tmp_path: Path) -> None:
    result = execute("sleep 60 & exit 0", tmp_path)
    assert result.outcome is PASS
    assert result.notes[0].startswith("left children: ")


def test_nothing_is_pasted_into_a_command(tmp_path: Path) -> None:
    text = "{artifact} {{x}} %s %(a)d $${y} ${HOME:+set} \\n"
    command = f"cat <<'END'\n{text}\nEND\n"
    assert execute(command, tmp_path).evidence == text


def test_arguments_of_a_list_are_kept_byte_for_byte(tmp_path: Path) -> None:
    words = ["{x}", "%s", "$HOME", "a b", "*", "'", '"', "--", "ü"]
    result = execute(["printf", "%s\\n", *words], tmp_path)
    assert result.evidence.split("\n") == words


@pytest.mark.parametrize("name", ["My Proj $(touch x) 'q'", "-n", "a\nb", ";touch x;", "ü *"])
def test_b095_paths_of_any_shape_reach_the_command(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    (root / "a.md").write_text("found")
    result = execute('cat "$PYTEST_REFLEX_ARTIFACT" && pwd >&2', root)
    assert (result.outcome, result.evidence.split("\n")[1]) == (PASS, "found")
    assert sorted(path.name for path in root.iterdir()) == ["a.md"]


def test_variables_of_the_context_reach_the_command(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.touch()
    check = ExecutableCheck().compile(executable(["env"]), {})
    context = CheckContext(root=tmp_path, environment={"PYTEST_REFLEX_ITERATION": "3"})
    lines = check(Artifact(path=path, name="a.md"), context).evidence.split("\n")
    assert "PYTEST_REFLEX_ITERATION=3" in lines


def test_session_of_the_user_is_not_inherited(tmp_path: Path) -> None:
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert execute("env | grep -c ^PYTEST_CURRENT_TEST", tmp_path).outcome is FAIL


def test_command_is_asked_nothing(tmp_path: Path) -> None:
    result = execute("read x || echo closed; echo $GIT_TERMINAL_PROMPT", tmp_path)
    assert result.evidence == "closed\n0"


def test_blocks_are_files_while_the_command_runs(tmp_path: Path) -> None:
    text = "# T\n```python\nprint(1)\n```\n\n~~~yaml\na: ü\n~~~\n```\nplain\n```\n"
    (tmp_path / "a.md").write_text(text)
    command = 'cd "$PYTEST_REFLEX_BLOCKS" && pwd && stat -c %a . 001* && head -c 99 *'
    lines = execute(command, tmp_path).evidence.split("\n")
    assert lines[1:] == [
        "500", "400",
        "==> 001-line-3.py <==", "print(1)", "",
        "==> 002-line-7.yaml <==", "a: ü", "",
        "==> 003-line-10.txt <==", "plain",
    ]  # fmt: skip
    assert not Path(lines[0]).exists()


@pytest.mark.parametrize("data", [b"", b"no fence", b"\xff```", b"``` \0", b"```sh\nopen"])
def test_blocks_folder_is_there_for_any_artifact(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.md").write_bytes(data)
    assert execute('test -d "$PYTEST_REFLEX_BLOCKS"', tmp_path).outcome is PASS


def test_retries_end_with_the_first_pass_and_are_all_told(tmp_path: Path) -> None:
    command = "echo x >> tries; test $(wc -l < tries) -ge 3"
    result = execute(command, tmp_path, retries=5)
    assert result.outcome is PASS
    assert result.notes == (
        "attempt 1: fail: exit status 1, expected 0",
        "attempt 2: fail: exit status 1, expected 0",
        "attempt 3: pass: exit status 0",
    )


def test_flaky_command_that_never_passes_fails(tmp_path: Path) -> None:
    result = execute("false", tmp_path, retries=1)
    assert (result.outcome, len(result.notes)) == (FAIL, 2)


def test_b054_control_characters_are_shown_escaped(tmp_path: Path) -> None:
    result = execute(r"printf '\001\033[31m\355\240\200\0x'; exit 1", tmp_path)
    assert result.evidence == r"\x01\x1b[31m\xed\xa0\x80\x00x"
    json.dumps(result.to_json()).encode("utf-8")


def test_b112_long_line_is_cut_between_characters(tmp_path: Path) -> None:
    result = execute("printf '😀%.0s' $(seq 90000); exit 1", tmp_path)
    assert set(result.evidence) == {"😀", "…"}
    json.dumps(result.to_json(), ensure_ascii=False).encode("utf-8")


def test_evidence_is_the_end_of_both_streams(tmp_path: Path) -> None:
    result = execute("seq 100; seq 201 300 >&2; exit 1", tmp_path)
    lines = result.evidence.split("\n")
    assert lines == ["stdout:", *map(str, range(91, 101)), "stderr:", *map(str, range(291, 301))]


def test_missing_root_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    check = ExecutableCheck().compile(executable("true"), {})
    artifact = Artifact(path=tmp_path / "a.md", name="a.md")
    result = check(artifact, CheckContext(root=tmp_path / "gone"))
    assert result.outcome is ERROR
    assert "gone cannot be used: No such file or directory" in result.message


@pytest.mark.parametrize(
    ("params", "message"),
    [
        pytest.param({"command": ""}, "command must be a command .* not ''", id="empty"),
        pytest.param({"command": "  "}, "command must be", id="blank"),
        pytest.param({"command": []}, r"command must be .* not \[\]", id="empty list"),
        pytest.param({"command": ["a", 1]}, r"command must be .* not \[a, 1\]", id="number"),
        pytest.param({"command": ["", "a"]}, "command must be", id="no program"),
        pytest.param({"command": "a\0b"}, r"command must be .* not 'a.*x00b'", id="nul"),
        pytest.param({"command": "a", "timeout": 0}, "timeout must .* not 0", id="no time"),
        pytest.param({"command": "a", "timeout": float("nan")}, "timeout .* not nan", id="nan"),
        pytest.param({"command": "a", "timeout": "5s"}, "timeout .* not '5s'", id="unit"),
        pytest.param({"command": "a", "retries": 99}, "retries .* 0 to 20, not 99", id="many"),
        pytest.param({"command": "a", "expect_exit": 256}, "expect_exit .* not 256", id="256"),
        pytest.param({"command": "a", "shell": "'"}, "shell must be a program", id="open quote"),
        pytest.param({"command": ["a"], "shell": "sh"}, "shell goes with a command", id="list"),
        pytest.param({"command": "a", "cmd": "b"}, "'cmd' is not a key", id="unknown"),
        pytest.param({}, "needs the key 'command'", id="none"),
    ],
)
def test_wrong_parameters_are_problems_and_not_compiled(
    params: dict[str, Any], message: str
) -> None:
    spec = executable("true")
    object.__setattr__(spec, "params", params)
    (problem,) = ExecutableCheck().problems(spec)
    with pytest.raises(CriteriaError, match=message) as caught:
        ExecutableCheck().compile(spec, {})
    assert str(problem) == str(caught.value)


def test_invalid_output_pattern_is_refused() -> None:
    with pytest.raises(CriteriaError, match=r"expect_output is not a valid pattern: .*: \(x$"):
        ExecutableCheck().compile(executable("true", expect_output="(x"), {})


@pytest.mark.long
@pytest.mark.parametrize("command", ["python -c 'import a'", "python -m b", "python -m pytest -q"])
def test_command_runs_the_text_as_it_is_and_no_byte_code_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Python knows a text by its size and the second in which it was written."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    path = tmp_path / "a.py"
    (tmp_path / "b.py").write_text("import a\n")
    (tmp_path / "test_a.py").write_text("import a\n\ndef test_a(): pass\n")
    found = []
    for text in ("assert 1\n", "assert 0\n", "assert 1\n"):
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        artifact = Artifact(path=path, name="a.py", data=path.read_bytes())
        check = ExecutableCheck().compile(executable(command), {})
        found.append(check(artifact, CheckContext(root=tmp_path)).outcome)
    assert found == [PASS, FAIL, PASS]
