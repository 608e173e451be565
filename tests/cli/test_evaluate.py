"""``pytest-reflex evaluate`` through the door that users use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex import __version__
from pytest_reflex.cli.main import main

CRITERIA = """\
name: words
rules:
  - {id: a.x.must, description: must, severity: fail, check: {type: content, search: MUST-HAVE}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "good.md").write_text("MUST-HAVE\n")
    (tmp_path / "bad.md").write_text("nothing {0} {!r} %d\n")
    return tmp_path


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pytest-reflex {__version__}\n"


@pytest.mark.parametrize("name", ["big.md", "big.yaml", "big.json"])
def test_an_artifact_that_is_too_large_is_refused_in_one_line(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path(name).open("wb") as file:
        file.truncate(60_000_000)
    assert main(["evaluate", name, "--criteria", "words.yaml"]) == 5
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"pytest-reflex: {name} is too large: 60.0 MB, the limit is 50.0 MB "
        "(split it, or check a part of it)\n"
    )


@pytest.mark.parametrize(("limit", "status"), [("1", 5), ("2", 0)])
def test_how_large_an_artifact_may_be_is_configured(
    limit: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("big.md").write_text("MUST-HAVE\n" * 150_000)
    monkeypatch.setenv("PYTEST_REFLEX_ARTIFACT_LIMIT", limit)
    assert main(["evaluate", "big.md", "--criteria", "words.yaml"]) == status


def test_a_draft_that_is_too_large_starts_no_loop(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("big.md").open("wb") as file:
        file.truncate(60_000_000)
    start = ["loop", "new", "task", "--criteria", "words.yaml", "--input", "big.md", "--yes"]
    assert main(start) == 4
    assert "big.md is too large: 60.0 MB" in capsys.readouterr().err


def test_python_m_is_the_same_command() -> None:
    command = [sys.executable, "-m", "pytest_reflex", "--version"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(
        b"pytest-reflex "
    )


EXITS = {
    "passed": (["good.md", "--criteria", "words.yaml"], 0, ""),
    "b001 gate failed": (["bad.md", "--criteria", "words.yaml"], 1, ""),
    "one of several failed": (["good.md", "bad.md", "--criteria", "words.yaml"], 1, ""),
    "no artifact": (["--criteria", "words.yaml"], 4, "no artifact was named"),
    "b009 no criteria": (
        ["good.md"],
        4,
        "no criteria were named (--criteria FILE, or one of: adr, api-spec",
    ),
    "b007 criteria that are not there": (["good.md", "--criteria", "wrods.yaml"], 4, "wrods.yaml"),
    "an artifact that is not there": (["gone.md", "--criteria", "words.yaml"], 4, "'gone.md'"),
    "an unknown phase": (["good.md", "--criteria", "words.yaml", "--phase", "C"], 4, "'C'"),
    "a phase without rules is fine": (
        ["good.md", "--criteria", "words.yaml", "--phase", "B"],
        0,
        "",
    ),
    "a threshold above 1": (["good.md", "--criteria", "words.yaml", "--threshold", "2"], 4, "'2'"),
    "a threshold that is NaN": (
        ["good.md", "--criteria", "words.yaml", "--threshold", "nan"],
        4,
        "nan",
    ),
    "a variable without a value": (["good.md", "--criteria", "words.yaml", "--var", "x"], 4, "'x'"),
    "a variable nobody declares": (
        ["good.md", "--criteria", "words.yaml", "--var", "x=1"],
        4,
        "'x'",
    ),
    "an unknown reporter": (["good.md", "--criteria", "words.yaml", "--format", "xml"], 4, "'xml'"),
    "an unknown option": (["good.md", "--bogus"], 4, "--bogus"),
}


@pytest.mark.parametrize(("argv", "status", "message"), EXITS.values(), ids=EXITS.keys())
def test_exit_status_and_message(
    argv: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *argv]) == status
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told
    assert bool(told) == (status == 4)


def test_b026_braces_in_an_artifact_do_not_break_the_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evaluate", "bad.md", "--criteria", "words.yaml"]) == 1
    assert "FAIL        a.x.must" in capsys.readouterr().out


def test_json_is_one_document_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "good.md", "bad.md", "--criteria", "words.yaml", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [e["passed"] for e in document["evaluations"]] == [True, False]
    assert document["gate"]["passed"] is False


def test_nothing_measured_is_its_own_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "{id: a.x.p, description: d, severity: fail, check: somebody has to judge this}"
    (tmp_path / "prose.yaml").write_text(f"name: p\nrules:\n  - {rule}\n")
    assert main(["evaluate", "good.md", "--criteria", "prose.yaml"]) == 5
    assert "NOT MEASURED" in capsys.readouterr().out


def test_b005_an_invalid_pattern_is_a_criteria_error_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = CRITERIA.replace("MUST-HAVE", "'('")
    (tmp_path / "words.yaml").write_text(text)
    assert main(["evaluate", "good.md", "--criteria", "words.yaml"]) == 4
    told = capsys.readouterr().err
    assert told.startswith("pytest-reflex: words.yaml:3:")
    assert "a.x.must" in told
    assert "literal: true" in told


def test_a_mistyped_verb_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evalute"]) == 4
    assert "did you mean evaluate?" in capsys.readouterr().err


def test_without_arguments_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "Commands:" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(("artifact", "status"), [("good.md", 0), ("bad.md", 1), ("gone.md", 4)])
def test_f12_a_full_disk_at_stdout_changes_no_verdict(artifact: str, status: int) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    verb = ["evaluate", artifact, "--criteria", "words.yaml"]
    command = [sys.executable, "-m", "pytest_reflex", *verb]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    told = b"standard output could not be written: No space left on device"
    assert (told in done.stderr) is (status != 4)


@pytest.mark.long
def test_b003_a_failed_gate_stops_a_shell_chain(tmp_path: Path) -> None:
    line = f"{sys.executable} -m pytest_reflex evaluate bad.md --criteria words.yaml && echo GREEN"
    done = subprocess.run(["sh", "-c", line], capture_output=True)
    assert (done.returncode, b"GREEN" in done.stdout) == (1, False)


def test_verbose_shows_what_passed_with_its_evidence(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["evaluate", "good.md", "--criteria", "words.yaml"])
    assert "a.x.must" not in capsys.readouterr().out
    main(["evaluate", "good.md", "--template", "words.yaml", "-v"])
    out = capsys.readouterr().out
    assert "PASS        a.x.must: " in out
    assert "            1 | MUST-HAVE\n" in out


def test_verbose_leaves_no_row_out(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        f"  - {{id: a.x.r{n}, description: d, severity: warn, check: {{type: content, search: q}}}}"
        for n in range(30)
    ]
    (project / "many.yaml").write_text(CRITERIA + "\n".join(rows) + "\n")
    main(["evaluate", "good.md", "--criteria", "many.yaml"])
    assert "and 5 more" in capsys.readouterr().out
    main(["evaluate", "good.md", "--criteria", "many.yaml", "-v"])
    assert capsys.readouterr().out.count("WARNING ") == 30


def test_an_artifact_named_twice_is_judged_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "same.md").symlink_to("good.md")
    argv = ["evaluate", "good.md", "./good.md", "same.md", "--criteria", "words.yaml", "--json"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert len(json.loads(out)["evaluations"]) == 1
    assert err == (
        "good.md is named twice; it is evaluated once\n"
        "good.md is named twice (also as same.md); it is evaluated once\n"
    )


def test_b099_what_a_passing_command_left_running_is_told(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = "{type: executable, command: 'sleep 60 & exit 0'}"
    (project / "words.yaml").write_text(
        CRITERIA.replace("{type: content, search: MUST-HAVE}", check)
    )
    assert main(["evaluate", "--criteria", "words.yaml", "good.md"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "NOTE a.x.must: left children: processes that it started were still running" in told
