"""Protected files of gates over a whole run: what restores them, what gates do to each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.gates import Gates
from pytest_reflex.drivers.iterate.model import GateResult, IterationGate
from pytest_reflex.host import open_host

PYTHON = sys.executable


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.sh", "b.sh"):
        (folder / name).write_text("exit 0\n")
    monkeypatch.chdir(folder)
    return folder


def gates(project: Path, *given: IterationGate) -> Gates:
    return Gates(given, project=project, registry=open_host().registry)


def summaries(results: tuple[GateResult, ...]) -> dict[str, str]:
    return {result.gate.name: result.summary for result in results}


def test_a_gate_fails_until_the_file_is_as_it_was(project: Path) -> None:
    one = gates(project, IterationGate(name="it", command=("sh", "a.sh")))
    outcomes = []
    for text in ("exit 0\n", "exit 0 \n", "", "exit 0\n"):
        (project / "a.sh").write_text(text)
        outcomes += [(result.outcome, result.summary) for result in one.run(1)]
    modified = ("fail", "modified during the run: a.sh")
    assert outcomes == [
        ("pass", "exit status 0"), modified, modified, ("pass", "exit status 0"),
    ]  # fmt: skip


def test_a_modified_script_is_not_run(project: Path) -> None:
    one = gates(project, IterationGate(name="it", command=("sh", "a.sh")))
    (project / "a.sh").write_text("touch ran\n")
    assert not one.run(1)[0].passed
    assert not (project / "ran").exists()


def test_only_the_gates_that_rely_on_a_file_fail(project: Path) -> None:
    both = gates(
        project,
        IterationGate(name="a", command=("sh", "a.sh")),
        IterationGate(name="b", command=("sh", "b.sh")),
        IterationGate(name="optional", command=("sh", "a.sh"), required=False),
    )
    (project / "a.sh").write_text("exit 0 # other\n")
    assert summaries(both.run(1)) == {
        "a": "modified during the run: a.sh",
        "b": "exit status 0",
        "optional": "modified during the run: a.sh",
    }


def test_a_gate_cannot_change_what_the_next_one_runs(project: Path) -> None:
    both = gates(
        project,
        IterationGate(
            name="a", command=(PYTHON, "-c", "open('b.sh', 'w').write('exit 0 # other')")
        ),
        IterationGate(name="b", command=("sh", "b.sh")),
    )
    assert summaries(both.run(1))["b"] == "modified during the run: b.sh"


def test_a_gate_does_not_pass_that_changes_its_own_files(project: Path) -> None:
    (project / "a.sh").write_text("echo >> a.sh; exit 0\n")
    (result,) = gates(project, IterationGate(name="it", command=("sh", "a.sh"))).run(1)
    assert (result.outcome, result.summary) == ("fail", "modified during the run: a.sh")


def test_many_modified_files_are_counted(project: Path) -> None:
    one = gates(project, IterationGate(name="it", command=("true",), protect=("golden",)))
    (project / "golden").mkdir()
    for number in range(5):
        (project / f"golden/{number}").write_text("")
    (result,) = one.run(1)
    assert result.summary == (
        "modified during the run: golden/0, golden/1, golden/2 and 2 more"
    )  # fmt: skip
    assert result.output.splitlines()[-1] == "golden/4"


def test_a_link_that_leads_to_itself_hides_nothing(project: Path) -> None:
    one = gates(project, IterationGate(name="it", command=("true",), protect=("golden/**",)))
    (project / "golden").mkdir()
    for name in "abcdefgh":
        os.symlink(name, project / "golden" / name)
    (project / "golden/new").write_text("")
    (project / "loop").symlink_to("loop")
    (project / "conftest.py").write_text("")
    output = one.run(1)[0].output.splitlines()
    assert {"golden/new", "conftest.py"} <= set(output)


def test_a_file_too_large_to_be_read_is_held_by_its_stamp(project: Path) -> None:
    large = project / "large.bin"
    large.write_bytes(b"")
    os.truncate(large, 20_000_000)
    one = gates(project, IterationGate(name="it", command=("true",), protect=("large.bin",)))
    assert one.run(1)[0].passed
    status = large.stat()
    with large.open("r+b") as file:
        file.write(b"x")
    os.utime(large, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert one.run(1)[0].summary == "modified during the run: large.bin"


@pytest.mark.parametrize("name", ["judge", "helper"])
def test_bytecode_that_a_tool_left_is_not_run(project: Path, name: str) -> None:
    (project / "judge.py").write_text("import helper\nhelper.check()\n")
    (project / "helper.py").write_text("def check():\n    assert 0, 'no'\n")
    one = gates(project, IterationGate(name="it", command=(PYTHON, "-m", "judge")))
    source = project / f"{name}.py"
    status, text = source.stat(), source.read_text()
    source.write_text("def check():\n    pass\n".ljust(len(text)))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    compile_it = "import py_compile, sys; py_compile.compile(sys.argv[1])"
    assert os.spawnl(os.P_WAIT, PYTHON, PYTHON, "-c", compile_it, source.name) == 0
    source.write_text(text)
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert one.run(1)[0].outcome == "fail"


def test_gates_of_one_iteration_share_private_caches(project: Path) -> None:
    show = "import os; print(os.environ['PYTHONPYCACHEPREFIX']); raise SystemExit(1)"
    both = gates(
        project,
        IterationGate(name="a", command=(PYTHON, "-c", show)),
        IterationGate(name="b", command=(PYTHON, "-c", show)),
    )
    first, second = ({result.output for result in both.run(number)} for number in (1, 2))
    assert (len(first), len(second), len(first | second)) == (1, 1, 2)
    assert not any(Path(folder).parent.exists() for folder in first | second)


AGENT = """\
case $(cat plan) in
tamper) echo "exit 0" > a.sh; rm -f golden/x ;;
interrupt) echo "exit 0" > a.sh; rm -f golden/x; kill -INT $PPID; sleep 60 ;;
esac
echo done
"""


@pytest.fixture
def tampered(project: Path) -> Path:
    """Return a project whose run was left after its script was modified."""
    (project / "golden").mkdir()
    (project / "golden/x").write_text("")
    (project / "a.sh").write_text("exit 1\n")
    (project / "agent.sh").write_text(AGENT)
    (project / "plan").write_text("tamper")
    (project / "pytest-reflex.toml").write_text(
        "[iterate]\nagent = 'tool'\nfailure_threshold = 1\n"
        "[agents.tool]\ncommand = ['sh', 'agent.sh']\ngrace = 0.2\n"
        "[iterate.gates.check]\ncommand = ['sh', 'a.sh']\nprotect = ['golden/**']\n"
    )
    return project


def resumed(
    project: Path, capsys: pytest.CaptureFixture[str], *more: str, limit: str = "2"
) -> tuple[int, str]:
    (project / "plan").write_text("work")
    capsys.readouterr()
    status = main(["iterate", "resume", "build", "-n", limit, *more])
    return status, capsys.readouterr().err


def test_a_resume_knows_what_was_left_modified(
    tampered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["iterate", "run", "build", "-n", "2"]) == 16
    status, told = resumed(tampered, capsys, "--reset-failures")
    assert "check: modified during the run: a.sh, golden/x" in told
    assert status == 16
    (tampered / "golden/x").write_text("")
    status, told = resumed(tampered, capsys, "--reset-failures", limit="3")
    assert "check: modified during the run: a.sh\n" in told
    assert status == 16


def test_failures_are_not_reset_where_no_iteration_is_left(
    tampered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["iterate", "run", "build", "-n", "1"]) == 16
    status, told = resumed(tampered, capsys, "--reset-failures", limit="1")
    assert "build has no iteration left of 1, and the last one failed" in told
    assert status == 4


@pytest.mark.long
def test_an_interrupted_iteration_hides_no_modified_file(
    tampered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tampered / "plan").write_text("interrupt")
    run = [PYTHON, "-m", "pytest_reflex", "iterate", "run", "build", "-n", "2"]
    assert subprocess.run(run, check=False, capture_output=True).returncode == 130
    status, told = resumed(tampered, capsys)
    assert "check: modified during the run: a.sh, golden/x" in told
    assert status == 16


def test_a_file_that_a_person_edits_between_two_sittings_is_taken_as_it_is(
    tampered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["iterate", "run", "build", "-n", "2"]) == 16
    (tampered / "a.sh").write_text("exit 0 # corrected\n")
    (tampered / "golden/x").write_text("")
    status, told = resumed(tampered, capsys, "--reset-failures")
    assert (status, "modified" in told) == (0, False)


def test_a_gate_that_is_declared_otherwise_forgets_what_it_does_not_rely_on(
    tampered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["iterate", "run", "build", "-n", "2"]) == 16
    config = tampered / "pytest-reflex.toml"
    declared = config.read_text().replace("'sh', 'a.sh'", "'sh', 'b.sh'")
    config.write_text(declared.replace("protect = ['golden/**']\n", ""))
    status, told = resumed(tampered, capsys, "--reset-failures")
    assert (status, "modified" in told) == (0, False)


def test_a_new_run_takes_the_files_as_they_are(
    tampered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["iterate", "run", "build", "-n", "2"]) == 16
    (tampered / "plan").write_text("work")
    assert main(["iterate", "run", "build", "-n", "1", "--fresh"]) == 0


CONFIG = """\
[iterate]
agent = "tool"
[agents.tool]
command = ["sh", "-c", "true"]
[iterate.gates.check]
command = ["sh", "a.sh"]
protect = ["golden/**"]
[iterate.gates.scope]
max_files = 3
deny = ["golden/**"]
"""


def test_a_dry_run_shows_what_is_protected_and_writes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "golden").mkdir()
    (project / "golden/x").write_text("")
    (project / "pytest-reflex.toml").write_text(CONFIG)
    before = sorted(project.rglob("*"))
    assert main(["iterate", "run", "build", "--dry-run"]) == 0
    told = capsys.readouterr().out
    files = "a.sh, golden/x, programs and what they read at their start"
    assert f"[DRY RUN] Gate check protects: {files}\n" in told
    assert "[DRY RUN] Gate scope: diff of at most 3 files, none of golden/**\n" in told
    assert "Gate scope protects" not in told
    assert sorted(project.rglob("*")) == before


def test_info_shows_protected_files_and_limits(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pytest-reflex.toml").write_text(CONFIG)
    assert main(["iterate", "info", "build"]) == 0
    told = capsys.readouterr().out
    assert "check: sh a.sh  (required, protects golden/**, " in told
    assert "scope: diff of at most 3 files, none of golden/**  (required, " in told
    assert main(["iterate", "info", "build", "--json"]) == 0
    check, scope = json.loads(capsys.readouterr().out)["gates"]
    assert (check["kind"], check["protect"]) == ("command", ["golden/**"])
    assert (scope["kind"], scope["max_files"], scope["max_lines"], scope["deny"]) == (
        "diff", 3, None, ["golden/**"],
    )  # fmt: skip
