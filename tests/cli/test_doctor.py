"""``pytest-reflex doctor`` and ``config``: what is there, what is in force and why."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.probe import look
from pytest_reflex.cli.main import main
from pytest_reflex.settings import global_path
from pytest_reflex.storage.files import is_remote, kind_of, nearest_folder, why_no_lock

pytestmark = pytest.mark.variants

SECRET = "planted-0123456789"
PLAN = '{"plan": ["a", "b", "c"]}'


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return folder


def program(project: Path, name: str, body: str) -> None:
    folder = project.parent / "bin"
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(f"#!{sys.executable}\n{body}")
    script.chmod(0o755)


def configure(project: Path, text: str) -> None:
    (project / "pytest-reflex.toml").write_text(text)


def document(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_without_a_configuration_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "every value is the default" in out
    assert "offline: plan, produce, prepare, critique, refine" in out
    assert "not installed: claude, codex, gemini" in out
    assert out.endswith("\nNo problems.\n")


SHOWN = {
    "codex": '  to change files: ["codex", "exec", "--skip-git-repo-check", "--json"',
    "llm": "  it cannot change files",
}


@pytest.mark.parametrize("name", SHOWN)
def test_how_an_agent_changes_files_is_shown(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    program(project, name, "")
    configure(project, f'agent = "{name}"\n')
    main(["doctor"])
    out = capsys.readouterr().out
    assert SHOWN[name] in out
    assert "{options}" not in out


def test_nothing_is_written(project: Path) -> None:
    main(["doctor"])
    assert list(project.iterdir()) == []


def test_a_tool_is_shown_with_its_version_and_place(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(project, "claude", "print('2.1.0 (Claude Code)')")
    program(project, "codex", "import sys; sys.exit(3)")
    tools = {one["program"]: one for one in document(capsys, "doctor")["tools"]}
    assert tools["claude"]["version"] == "2.1.0 (Claude Code)"
    assert tools["claude"]["path"] == str(project.parent / "bin" / "claude")
    assert tools["codex"]["problem"] == "codex --version left with exit status 3"


def test_a_tool_that_tells_no_version_in_time_is_ended(project: Path) -> None:
    program(project, "slow", "import time; time.sleep(60)")
    (tool,) = look(["slow"], seconds=0.3)
    assert tool.problem == "slow --version did not end within 0.3 s"


BAD: dict[str, tuple[str, str]] = {
    "a configuration that cannot be read": ("[loop", "pytest-reflex.toml:1: this is not TOML"),
    "an unknown key": ("agnet = 1", "unknown key 'agnet' is ignored (did you mean agent?)"),
    "an agent that is not installed": ('agent = "gemini"', "there is no program 'gemini'"),
    "an agent that there is not": ('agent = "x"', "no agent named 'x'"),
    "a table that is wrong": (
        'agent = "w"\n[agents.w]\ncommand = "t"\nanswer = "xml"',
        "pytest-reflex.toml:4:10: agents.w.answer must be stdout or",
    ),
    "an agent that is not in use and not installed": (
        '[agents.spare]\ncommand = "no-such-tool"',
        "agent 'spare': there is no program 'no-such-tool'",
    ),
    "a plugin that cannot be imported": (
        'plugins = ["no_such_plugin"]',
        "plugin 'no_such_plugin' could not be imported",
    ),
    "a prompt that is missing": (
        '[loop]\nprompts = {plan = "plan.md"}',
        "plan.md: the prompt of plan is not there (fix loop.prompts",
    ),
    "a procedure without a file of its own": (
        "[iterate.procedures.build]\nact = [{path = 'act.md'}]",
        "act.md: build: the prompt of act, named in ",
    ),
    "a gate without anything to run": (
        "[iterate.gates.lint]\ntimeout = 5",
        "pytest-reflex.toml:1:1: gate 'lint' has neither a command nor criteria",
    ),
    "a variable that is not set": (
        f'agent = "w"\n[agents.w]\ncommand = ["{sys.executable}", "$NO_SUCH_KEY"]',
        "agent 'w': the command names $NO_SUCH_KEY, which is not set (set it in the environment)",
    ),
}


@pytest.mark.parametrize(("text", "problem"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_told_with_what_to_do(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    configure(project, text)
    assert main(["doctor"]) == 4
    _, _, problems = capsys.readouterr().out.partition("\nProblems\n")
    assert problem in problems


def test_a_folder_that_is_not_writable_is_told(
    as_user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(as_user)
    as_user.chmod(0o500)
    found = document(capsys, "doctor", status=4)
    assert found["state"]["writable"] is False
    assert f"no run can be kept there: {as_user} is not writable" in found["problems"][0]


def test_values_are_shown_with_tier_and_file(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = global_path()
    own.parent.mkdir(parents=True)
    own.write_text("[loop]\nbudget = {usd = 5}\n")
    configure(project, "[loop]\nmax_iterations = 7\n")
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_PRODUCE", "first")
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"  loop.budget.usd = 5  (global: {own})\n" in out
    assert f"  loop.max_iterations = 7  (workspace: {project / 'pytest-reflex.toml'})\n" in out
    assert '  loop.produce = "first"  (environment)\n' in out


PROBED = {
    "that answers": (f"print('{PLAN}')", 0, "probe: it answers ("),
    "that does not": ("print('hello')", 4, "agent 'w' did not answer as it should: the answer"),
    "that fails": ("raise SystemExit('no key')", 4, "did not answer as it should: it left with"),
}


@pytest.mark.parametrize(("body", "status", "told"), PROBED.values(), ids=PROBED.keys())
def test_a_probe_asks_an_agent(
    project: Path, capsys: pytest.CaptureFixture[str], body: str, status: int, told: str
) -> None:
    program(project, "tool", f"import sys; sys.stdin.read(); {body}")
    configure(project, '[agents.w]\ncommand = "tool"\n')
    assert main(["doctor", "--probe", "w"]) == status
    assert told in capsys.readouterr().out


# Doctor waits longer for a version than these tests want to.
TELLS_ITS_VERSION = "if '--version' in sys.argv: sys.exit(print('tool 1.0'))\n"
SLOW = {
    "hangs": "time.sleep(600)",
    "ignores signals": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
    "tries again and again": (
        "print(json.dumps({'subtype': 'api_retry', 'error_status': 401, 'error': 'bad key'}), "
        "flush=True); time.sleep(600)"
    ),
}


@pytest.mark.parametrize("body", SLOW.values(), ids=SLOW)
def test_a_probe_does_not_wait_for_a_client_that_never_ends(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr("pytest_reflex.cli.doctor.PROBE_SECONDS", 2.0)
    program(project, "tool", f"import json, signal, sys, time\n{TELLS_ITS_VERSION}{body}")
    configure(project, '[agents.w]\npreset = "claude"\ncommand = "tool"\n')
    assert main(["doctor", "--probe", "w"]) == 4
    out = " ".join(capsys.readouterr().out.split())
    assert "no answer within 2 s (a probe does not wait longer)" in out
    assert ("kept trying by itself (401 bad key)" in out) is ("api_retry" in body)
    assert "it said" not in out


def test_a_probe_keeps_to_a_shorter_time_of_the_agent(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(project, "tool", f"import sys, time\n{TELLS_ITS_VERSION}time.sleep(600)")
    configure(project, '[agents.w]\ncommand = "tool"\ntimeout = 1\n')
    assert main(["doctor", "--probe", "w"]) == 4
    assert "no answer within 1 s (the timeout of agents.w)" in capsys.readouterr().out


def test_several_agents_are_probed_side_by_side(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(project, "tool", f"import sys; sys.stdin.read(); print('{PLAN}')")
    configure(project, '[agents.v]\ncommand = "tool"\n[agents.w]\ncommand = "tool"\n')
    assert main(["doctor", "--probe", "v", "--probe", "w"]) == 0
    assert capsys.readouterr().out.count("probe: it answers (") == 2


def test_no_agent_is_asked_without_a_probe(project: Path) -> None:
    program(project, "tool", "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('asked')")
    configure(project, 'agent = "w"\n[agents.w]\ncommand = "tool asked.txt"\n')
    assert main(["doctor"]) == 0
    assert not (project / "asked.txt").exists()


@pytest.mark.parametrize("command", [["doctor"], ["config"], ["doctor", "--json"]])
def test_b120_secrets_are_shown_by_name_only(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    program(project, "tool", f"print('version {SECRET}')")
    table = f'command = ["tool", "--key", "$MY_API_KEY", "--token={SECRET}-2"]'
    configure(project, f'agent = "w"\n[agents.w]\nenv = ["MY_API_KEY"]\n{table}\n')
    assert main(command) == 0
    out = capsys.readouterr().out
    assert SECRET not in out
    assert "MY_API_KEY" in out


def test_config_shows_one_value_or_a_table(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(project, "[loop]\nbudget = {usd = 5, calls = 9}\n")
    file = str(project / "pytest-reflex.toml")
    rows = document(capsys, "config", "loop.budget")
    assert rows == [
        {"key": "loop.budget.usd", "value": 5, "tier": "workspace", "file": file},
        {"key": "loop.budget.calls", "value": 9, "tier": "workspace", "file": file},
    ]
    assert main(["config", "loop.budget.usd"]) == 0
    assert capsys.readouterr().out == f"loop.budget.usd = 5  (workspace: {file})\n"


def test_config_of_a_key_that_there_is_not_names_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["config", "loop.budgte"]) == 4
    assert "no setting 'loop.budgte' (did you mean loop.budget?)" in capsys.readouterr().err


def test_config_lists_every_key_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "nosuch"]) == 4
    told = capsys.readouterr().err.partition("known: ")[2].rstrip(")\n").split(", ")
    assert len(told) == len(set(told)) > 10


MOUNTS = """\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:40 / /home rw - nfs4 server:/home rw
31 30 0:41 / /home/me/my\\040stuff rw - fuse.sshfs host:/ rw
32 22 8:2 / /homework rw - xfs /dev/sdb rw
bad line
"""
PLACES = {
    "/etc": ("ext4", False),
    "/home/me": ("nfs4", True),
    "/home/me/my stuff/deep": ("fuse.sshfs", True),
    "/homework/x": ("xfs", False),
}


@pytest.mark.parametrize("place", PLACES)
def test_l4_the_kind_of_a_file_system_is_known(place: str) -> None:
    kind = kind_of(Path(place), MOUNTS)
    assert (kind, is_remote(kind)) == PLACES[place]


def test_locks_are_tried_without_leaving_a_file(project: Path) -> None:
    assert why_no_lock(project) == ""
    assert list(project.iterdir()) == []
    assert why_no_lock(project / "nowhere") == os.strerror(2)


def test_the_nearest_folder_is_what_is_there_of_a_path(project: Path) -> None:
    (project / "file").touch()
    assert nearest_folder(project / "file" / "a") == project


SWITCHED_OFF = {
    "pytest.ini": ("[pytest]\naddopts = -q -p no:reflex\n", "no:reflex"),
    ".pytest.ini": ("[pytest]\naddopts = -p no:pytest_reflex\n", "no:pytest_reflex"),
    "tox.ini": ("[pytest]\naddopts =\n    -ra\n    -pno:reflex\n", "no:reflex"),
    "setup.cfg": ("[tool:pytest]\naddopts = -p no:reflex\n", "no:reflex"),
    "pyproject.toml": ('[tool.pytest.ini_options]\naddopts = "-p no:reflex"\n', "no:reflex"),
    "pytest.toml": ('[pytest]\naddopts = ["-p", "no:pytest_reflex"]\n', "no:pytest_reflex"),
}


@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_a_configuration_that_switches_the_plugin_off_is_named(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text, option = SWITCHED_OFF[name]
    (project / name).write_text(text)
    (problem,) = document(capsys, "doctor", status=4)["problems"]
    assert problem.startswith(f"{project / name}: -p {option} keeps the plugin out of pytest")


def test_so_is_the_variable_that_does_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-x -p no:pytest_reflex")
    (problem,) = document(capsys, "doctor", status=4)["problems"]
    assert problem.startswith("PYTEST_ADDOPTS: -p no:pytest_reflex keeps")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider -p reflex -k 'no:reflex'\n"),
        ("pytest.ini", "[other]\naddopts = -p no:reflex\n"),
        ("pyproject.toml", "[tool.other]\naddopts = '-p no:reflex'\n"),
        ("pytest.ini", "no section\n"),
        ("pytest.ini", '[pytest]\naddopts = -k "unclosed\n'),
    ],
)
def test_other_options_of_pytest_are_no_concern(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (project / name).write_text(text)
    assert document(capsys, "doctor")["problems"] == []


def test_only_the_file_that_pytest_takes_counts(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "setup.cfg").write_text("[tool:pytest]\naddopts = -p no:reflex\n")
    assert document(capsys, "doctor")["problems"] == []
