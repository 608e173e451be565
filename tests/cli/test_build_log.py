"""Nothing that we print is a command for the build log that it lands in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.model.plain import escape_control, visible_json

pytestmark = pytest.mark.variants

LIVE = re.compile(r"(?m)^\s*::|##\[|##vso\[|##teamcity\[", re.IGNORECASE)
COMMANDS = [
    "::error::x",
    "  ::add-mask::x",
    "\t::set-env name=A::b",
    "\u00a0::debug::x",
    "\u2003::group::x",
    "::stop-commands::7",
    "::7::",
    "a\n::error file=a.md,line=1::x",
    "a\r\n::endgroup::",
    "a\u2028::error::x",
    "##[error]x",
    "all ##[group]x",
    "##vso[task.setvariable variable=A]b",
    "x ##VSO[task.complete]",
    "##teamcity[buildStatus status='SUCCESS']",
    ":::error::x",
]


@pytest.mark.parametrize("text", COMMANDS)
def test_b058_a_command_is_neutralised(text: str) -> None:
    shown = escape_control(text)
    assert not LIVE.search(shown)
    assert escape_control(shown) == shown
    assert not LIVE.search(visible_json([text], indent=2))
    assert json.loads(visible_json([text])) == [text]


@pytest.mark.parametrize("text", ["a.yaml::rule::0", "std::vector", "## [a](b)", "# #[a]", "a: :b"])
def test_b058_what_is_no_command_stays(text: str) -> None:
    assert escape_control(text) == text
    assert escape_control(f"in {text}") == f"in {text}"


SAYS = "printf '{}\\n' '::error::x' '  ::add-mask::y' 'all ##[group]z' '##vso[task.complete]'"
WORDS = "see it there " * 6 + "::error::wrapped"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.chdir(tmp_path)
    said = "\n".join([*COMMANDS, WORDS])
    (tmp_path / "said").write_text(said, encoding="utf-8")
    rules = [
        {
            "id": "a.x.says",
            "description": WORDS,
            "severity": "fail",
            "hint": "##[error]do it\n::error::really",
            "check": {"type": "executable", "command": "cat said; cat said >&2; exit 1"},
        },
        {
            "id": "a.x.finds",
            "description": "::error::d",
            "severity": "fail",
            "check": {"search": "::error|##", "max_count": 0, "type": "content"},
        },
    ]
    (tmp_path / "c.yaml").write_text(json.dumps({"name": "c", "rules": rules}), encoding="utf-8")
    (tmp_path / "a.md").write_text(said, encoding="utf-8")
    suite = {"criteria": {"name": "c"}, "artifacts": ["a.md"], "rules": rules}
    (tmp_path / "s.reflex.yaml").write_text(json.dumps(suite), encoding="utf-8")
    return tmp_path


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env={**os.environ, **env}
    )


SPOKEN = {
    "evaluate": ["pytest_reflex", "evaluate", "a.md", "--criteria", "c.yaml"],
    "evaluate -v": ["pytest_reflex", "evaluate", "a.md", "--criteria", "c.yaml", "-v"],
    "evaluate --json": ["pytest_reflex", "evaluate", "a.md", "--criteria", "c.yaml", "--json"],
    "critique": ["pytest_reflex", "critique", "a.md", "--criteria", "c.yaml"],
    "a file that is not there": [
        "pytest_reflex",
        "evaluate",
        "::error::no",
        "--criteria",
        "c.yaml",
    ],
    "criteria that are not there": ["pytest_reflex", "evaluate", "a.md", "--criteria", "##[error]"],
    "a session": ["pytest", "-p", "no:randomly", "s.reflex.yaml"],
    "a session -v": ["pytest", "-p", "no:randomly", "-vv", "-rA", "s.reflex.yaml"],
    "workers": ["pytest", "-p", "no:randomly", "-n", "2", "s.reflex.yaml"],
}


@pytest.mark.long
@pytest.mark.parametrize("words", SPOKEN.values(), ids=SPOKEN)
def test_b058_no_line_of_ours_is_a_command(project: Path, words: list[str]) -> None:
    done = run(*words)
    assert "a.x.finds" in done.stdout + done.stderr or done.returncode == 4
    for text in (done.stdout, done.stderr):
        assert LIVE.findall(text) == []


@pytest.mark.long
def test_b058_no_line_of_iterate_is_a_command(project: Path) -> None:
    (project / "pytest-reflex.toml").write_text(
        '[agents.own]\ncommand = ["sh", "-c", "cat said; cat said >&2; echo >> x; exit 1"]\n'
    )
    done = run(
        "pytest_reflex", "iterate", "run", "build", "--agent", "own", "--max-iterations", "2", "-v"
    )
    assert "::" in done.stdout + done.stderr
    assert LIVE.findall(done.stdout + done.stderr) == []


BETWEEN = re.compile(rb"\A::stop-commands::(\w{20,})\n(.*)::\1::\n\Z", re.DOTALL)


@pytest.mark.long
@pytest.mark.parametrize("last", ["", "\n"], ids=["without an end of line", "with one"])
def test_b058_the_artifact_stands_where_commands_are_off(project: Path, last: str) -> None:
    text = "::error::x\n##[group]\n" + "# T" + last
    (project / "in.md").write_text(text)
    rule = {"id": "a.x.t", "description": "d", "severity": "fail"}
    rule["check"] = {"type": "content", "search": "T"}  # type: ignore[assignment]
    (project / "d.yaml").write_text(json.dumps({"name": "d", "rules": [rule]}))
    words = ["refine", "in.md", "--criteria", "d.yaml"]
    argv = [sys.executable, "-m", "pytest_reflex", *words]
    piped = subprocess.run(argv, capture_output=True)
    found = BETWEEN.match(piped.stdout)
    assert found, piped
    assert found[2] == text.encode() + b"\n" * (not last)
    assert BETWEEN.match(subprocess.run(argv, capture_output=True).stdout)[1] != found[1]  # type: ignore[index]
    with (project / "out").open("wb") as file:
        subprocess.run(argv, stdout=file, stderr=subprocess.DEVNULL)
    assert (project / "out").read_bytes() == text.encode()
    elsewhere = subprocess.run(argv, capture_output=True, env={**os.environ, "GITHUB_ACTIONS": ""})
    assert elsewhere.stdout == text.encode()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "workers"),
    [
        ("a\x1b]2;x\x07b", []),
        ("a\u202eb", []),
        ("a\x85b", []),
        ("a\u2066b\u200b", []),
        ("a\u202eb", ["-n", "2"]),
    ],
)
def test_b057_node_ids_carry_nothing_that_a_terminal_acts_on(
    project: Path, name: str, workers: list[str]
) -> None:
    suite = json.loads((project / "s.reflex.yaml").read_text())
    (project / "s.reflex.yaml").unlink()
    (project / f"{name}.reflex.yaml").write_text(json.dumps(suite))
    done = run("pytest", "-p", "no:randomly", "-vv", "-rA", "--junitxml=junit.xml", ".", *workers)
    assert "a.x.finds" in done.stdout
    told = done.stdout + done.stderr + (project / "junit.xml").read_text()
    assert [one for one in "\x1b\x07\u202e\x85\u2066\u200b" if one in told] == []
