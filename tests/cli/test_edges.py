"""Odd surroundings and odd input: told for what they are, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

pytestmark = pytest.mark.variants

ODD = "{a} {{b}} %s %(x)s $HOME"


def rule(**check: object) -> dict[str, object]:
    return {"id": "a.x.r", "description": "d", "severity": "fail", "check": check}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("c.yaml", rule(type="content", search="alpha"))
    (tmp_path / "a.md").write_text("alpha\n")
    return tmp_path


def write(name: str, *rules: dict[str, object]) -> None:
    text = json.dumps({"name": "c", "rules": rules}, ensure_ascii=False)
    Path(name).write_text(text, encoding="utf-8")


def run(*words: str | bytes, **env: str) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-m", "pytest_reflex", *words]
    return subprocess.run(argv, capture_output=True, env={**os.environ, **env})


SURROGATES = {
    "in YAML": ("s.yaml", b'name: c\nrules:\n  - {id: a.x.r, description: "d\\ud800"}\n'),
    "in JSON": ("s.json", b'{"name": "c\\ud800", "rules": []}'),
    "as bytes": ("s.yaml", b"name: \xed\xa0\x80\n"),
}


@pytest.mark.parametrize(("name", "data"), SURROGATES.values(), ids=SURROGATES)
def test_a_half_surrogate_is_the_fault_of_its_file(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes
) -> None:
    (project / name).write_bytes(data)
    assert main(["evaluate", "a.md", "--criteria", name]) == 4
    assert name in capsys.readouterr().err


VERBS = {
    "evaluate": ["evaluate", b"b\xff.md", "--criteria", "c.yaml", "--json"],
    "criteria": ["evaluate", "a.md", "--criteria", b"c\xff.yaml"],
    "fix": ["criteria", "fix", b"b\xff.md", "--criteria", "c.yaml"],
    "loop": ["loop", "new", "t", "--criteria", b"c\xff.yaml", "--input", b"b\xff.md", "--yes"],
    "missing": ["evaluate", b"no\xff.md", "--criteria", "c.yaml"],
}


@pytest.mark.long
@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS)
def test_names_that_are_not_utf8_end_in_no_traceback(
    project: Path, words: list[str | bytes]
) -> None:
    try:
        (project / os.fsdecode(b"b\xff.md")).write_text("alpha\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    data = (project / "c.yaml").read_bytes()
    (project / os.fsdecode(b"c\xff.yaml")).write_bytes(data)
    done = run(*words)
    assert done.returncode == (4 if b"no\xff.md" in words else 0), done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_a_utf8_task_is_taken_whatever_the_locale(project: Path, locale: str) -> None:
    task = "schreibe Größe ✓ 文"
    done = run(
        "loop", "new", task, "--alias", "one", "--criteria", "c.yaml", "--yes", LC_ALL=locale
    )
    assert done.returncode != 4, done.stderr
    history = project / ".ai-factory/evolution/one/history.jsonl"
    assert json.loads(history.read_bytes().splitlines()[0])["payload"]["task"]["prompt"] == task


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["gbk", "ascii", "cp1252", "latin-1"])
@pytest.mark.parametrize("search", ["alpha", "² ✓ 文"], ids=["passes", "fails"])
def test_b061_a_narrow_output_changes_no_verdict(project: Path, encoding: str, search: str) -> None:
    check = {"type": "content", "search": search}
    write("u.yaml", {**rule(**check), "description": "größe ✓ ² 文 ═"})
    words = ["evaluate", "a.md", "--criteria", "u.yaml", "-v"]
    done = run(*words, PYTHONIOENCODING=encoding)
    assert done.returncode == run(*words).returncode == (0 if search == "alpha" else 1)
    assert b"Traceback" not in done.stderr
    assert b"a.x.r" in done.stdout


def test_b025_braces_percents_and_dollars_are_shown_and_matched_as_they_are(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [
        {**rule(type="content", search=ODD, literal=True, expected=ODD), "description": ODD},
        {
            **rule(type="executable", command=["echo", ODD], expect_output="{a} {{b}} %s"),
            "id": "a.x.s",
        },
    ]
    write("b.yaml", *rules)
    assert main(["evaluate", "a.md", "--criteria", "b.yaml"]) == 1
    assert capsys.readouterr().out.count(ODD) >= 2
    (project / "a.md").write_text(f"{ODD}\n")
    assert main(["evaluate", "a.md", "--criteria", "b.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


BLANKS = {" Paris": " Paris", "Paris ": "Paris ", "\tParis": "\tParis"}


@pytest.mark.parametrize("literal", BLANKS.values(), ids=map(repr, BLANKS))
def test_b031_blanks_at_the_ends_of_a_literal_count(
    project: Path, capsys: pytest.CaptureFixture[str], literal: str
) -> None:
    write("p.yaml", rule(type="content", search=literal, literal=True))
    (project / "a.md").write_text("xParisx\n")
    assert main(["evaluate", "a.md", "--criteria", "p.yaml"]) == 1
    (project / "a.md").write_text(f"x{literal}x\n")
    assert main(["evaluate", "a.md", "--criteria", "p.yaml"]) == 0
    main(["criteria", "lint", "p.yaml"])
    assert f"[edge-blanks]: rule a.x.r: {literal!r} is found with" in capsys.readouterr().out


@pytest.mark.parametrize(("iteration", "limit"), [(9, 5), (6, 5), (2, 1)])
def test_a_state_beyond_its_limit_is_reported(
    project: Path, capsys: pytest.CaptureFixture[str], iteration: int, limit: int
) -> None:
    (project / "pytest-reflex.toml").write_text('[agents.own]\ncommand = ["false"]\n')
    words = ["iterate", "run", "build", "--agent", "own", "--failure-threshold", "1"]
    main([*words, "--max-iterations", str(limit + 1)])
    file = project / ".rooda/state/build.json"
    state = json.loads(file.read_text())
    file.write_text(json.dumps({**state, "iteration": iteration, "max_iterations": limit}))
    capsys.readouterr()
    beyond = f"iteration {iteration} is above max_iterations {limit}"
    assert main(["iterate", "status", "build"]) == 0
    assert beyond in capsys.readouterr().out
    main(["iterate", "resume", "build", "--reset-failures"])
    assert beyond in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("name", ["json", "click", "argparse"])
def test_a_module_of_the_project_does_not_run_in_ours(project: Path, name: str) -> None:
    (project / f"{name}.py").write_text("import sys; sys.exit(0)\n")
    words = ["evaluate", "no such file.md", "--criteria", "base"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest_reflex", *words], cwd=project, capture_output=True, text=True
    )
    assert done.returncode == 4
    assert "no such file.md" in done.stderr
