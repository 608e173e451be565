"""The entry in Claude Code's settings: put in beside everything else, and taken out again."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hook.desk import RECORDED, Desk, goal

OTHERS = {"type": "command", "command": "say done", "timeout": 5}


def settings(desk: Desk) -> Path:
    return desk.project / ".claude" / "settings.json"


PLACES = {
    ("claude", "--project"): ".claude/settings.json",
    ("claude", "--user"): "../claude/settings.json",
    ("codex", "--project"): ".codex/hooks.json",
    ("codex", "--user"): "../codex/hooks.json",
}


def stop_hooks(path: Path) -> list[dict[str, Any]]:
    groups = json.loads(path.read_text())["hooks"]["Stop"]
    return [one for group in groups for one in group["hooks"]]


def test_the_clients_are_those_that_can_be_named() -> None:
    from pytest_reflex.cli.hook_manage import install
    from pytest_reflex.drivers.goal.hook_settings import CLIENTS

    (option,) = [one for one in install.params if one.name == "name"]
    assert list(getattr(option.type, "choices", ())) == list(CLIENTS)


@pytest.mark.long
@pytest.mark.parametrize(("client", "where"), PLACES)
def test_the_entry_starts_this_program_from_any_folder(desk: Desk, client: str, where: str) -> None:
    """As a client does it: by a shell, in a folder whose name has to be quoted."""
    status, out = desk.run("install", "--client", client, where)
    assert status == 0
    path = (desk.project / PLACES[client, where]).resolve()
    assert str(path) in out
    assert ("/hooks" in out) is (client == "codex")
    assert desk.run("install", "--undo", "--client", client, where)[0] == 0
    assert not path.exists()
    assert desk.run("install", "--client", client, where)[0] == 0
    installed = json.loads(desk.run("status", "--json")[1])["installed"]
    assert [(one["client"], one["where"]) for one in installed] == [(client, where[2:])]
    (entry,) = stop_hooks(path)
    assert (entry["type"], entry["timeout"]) == ("command", 60)
    desk.write(goal({"a": False}))
    done = subprocess.run(
        ["/bin/sh", "-c", entry["command"]],
        input=json.dumps({**RECORDED, "cwd": str(desk.project)}),
        env={"PATH": "/usr/bin:/bin", "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]},
        cwd=desk.project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["decision"] == "block"


@pytest.mark.parametrize("text", [
    None,
    "{}",
    "{}\n",
    '{"model": "opus", "hooks": {}}',
    '{\n    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}]},\n    "z": 1.0\n}\n',
    '{"hooks": {"Stop": []}, "env": {"A": "\\u00fc"}}',
    json.dumps({"hooks": {"Stop": [{"hooks": [OTHERS]}]}}, indent=4) + "\n",
    json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [OTHERS, OTHERS]}]}}),
    '\t{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"Done? {ok, reason}"}]}]}}',
])  # fmt: skip
def test_everything_else_stays_and_undoing_gives_the_very_bytes_back(
    desk: Desk, text: str | None
) -> None:
    if text is not None:
        settings(desk).parent.mkdir()
        settings(desk).write_text(text)
    assert desk.run("install")[0] == 0
    before = json.loads(text) if text else {}
    after = json.loads(settings(desk).read_text())
    others = before.get("hooks", {}).get("Stop", [])
    assert after["hooks"]["Stop"][:-1] == others
    assert {**after, "hooks": {**after["hooks"], "Stop": others}} == {
        **before, "hooks": {**before.get("hooks", {}), "Stop": others}
    }  # fmt: skip
    installed = settings(desk).read_bytes()
    assert "Already installed" in desk.run("install")[1]
    assert settings(desk).read_bytes() == installed
    assert desk.run("install", "--timeout", "90")[0] == 0
    assert stop_hooks(settings(desk))[-1]["timeout"] == 90
    assert len(stop_hooks(settings(desk))) == 1 + sum(len(one["hooks"]) for one in others)
    assert "Removed" in desk.run("install", "--undo")[1]
    if text is None:
        assert not settings(desk).parent.exists()
    else:
        assert settings(desk).read_text() == text
    assert "Not installed" in desk.run("install", "--undo")[1]


@pytest.mark.parametrize("how", ["by hand meanwhile", "on another machine", "nothing is kept"])
def test_undoing_takes_out_the_entry_alone_where_the_file_has_changed(desk: Desk, how: str) -> None:
    if how == "nothing is kept":
        desk.monkeypatch.setenv("XDG_STATE_HOME", os.devnull)
    settings(desk).parent.mkdir()
    settings(desk).write_text(json.dumps({"hooks": {"Stop": [{"hooks": [OTHERS]}]}}, indent=2))
    desk.run("install")
    wire = json.loads(settings(desk).read_text())
    if how == "by hand meanwhile":
        wire["model"] = "opus"
        wire["hooks"]["Stop"][-1]["hooks"].append(OTHERS)
    elif how == "on another machine":
        wire["hooks"]["Stop"][-1]["hooks"][0]["command"] = "/opt/bin/pytest-reflex hook stop"
    settings(desk).write_text(json.dumps(wire))
    assert "Removed" in desk.run("install", "--undo")[1]
    kept = json.loads(settings(desk).read_text())
    assert stop_hooks(settings(desk)) == [OTHERS] * (2 if how == "by hand meanwhile" else 1)
    assert kept.get("model") == wire.get("model")


def test_undoing_leaves_no_empty_shell_of_ours(desk: Desk) -> None:
    settings(desk).parent.mkdir()
    command = "python -m pytest_reflex hook stop --timeout 60"
    group = {"matcher": "", "hooks": [{"type": "command", "command": command}]}
    settings(desk).write_text(json.dumps({"a": 1, "hooks": {"Stop": [group, group]}, "b": 2}))
    desk.run("install", "--undo")
    assert settings(desk).read_text() == '{"a": 1, "b": 2}'


@pytest.mark.parametrize("text", [
    "{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '// a remark\n{}', b"\xff",
    '{"hooks": null}',
])  # fmt: skip
def test_settings_that_cannot_be_edited_are_refused_and_stay(desk: Desk, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    settings(desk).parent.mkdir()
    settings(desk).write_bytes(data)
    for words in (["install"], ["install", "--undo"]):
        assert desk.run(*words)[0] == 4
        assert "settings.json" in desk.told
        assert settings(desk).read_bytes() == data


@pytest.mark.parametrize("what", ["a link to itself", "a pipe", "a folder", "a link to a pipe"])
def test_settings_that_are_no_regular_file_are_refused_and_stay(desk: Desk, what: str) -> None:
    settings(desk).parent.mkdir()
    place = settings(desk) if "link" not in what else settings(desk).with_name("other")
    if "pipe" in what:
        os.mkfifo(place)
    elif what == "a folder":
        place.mkdir()
    if "link" in what:
        settings(desk).symlink_to(place if place.exists() else settings(desk))
    before = os.lstat(settings(desk))
    for words in (["install"], ["install", "--undo"]):
        assert desk.run(*words)[0] == 4
        assert "settings.json is not a regular file" in desk.told
    status, out = desk.run("status")
    assert status == 0
    assert "settings.json is not a regular file" in out
    assert os.path.samestat(os.lstat(settings(desk)), before)


def test_settings_behind_a_link_are_written_where_they_lie(desk: Desk) -> None:
    real = desk.project / "dotfiles.json"
    real.write_text('{"model": "opus"}')
    settings(desk).parent.mkdir()
    settings(desk).symlink_to(real)
    desk.run("install")
    assert settings(desk).is_symlink()
    assert len(stop_hooks(real)) == 1
    desk.run("install", "--undo")
    assert real.read_text() == '{"model": "opus"}'


def test_commands_are_shown_and_approved_by_a_person(desk: Desk) -> None:
    desk.write(goal({"a": {"met": False, "command": "touch \x1b[2Jran"}}))
    assert desk.run("install")[0] == 4
    assert "The hook will run: touch \\x1b[2Jran" in desk.told
    assert "add --yes" in desk.told
    assert not settings(desk).exists()
    assert "Approved: 1 command" in desk.run("install", "--yes")[1]
    assert "Approved" not in desk.run("install")[1]
    assert not list(desk.project.glob("*ran"))


def test_criteria_and_limits_become_options_of_the_entry(desk: Desk) -> None:
    (desk.project / "my words.yaml").write_text(
        "name: w\nversion: 1\nrules:\n  - {id: a.x.y, description: d, severity: fail, "
        "check: {type: content, search: alpha}}\n"
    )
    words = ("--criteria", "my words.yaml", "--artifact", "it's.md", "--max-blocks", "3")
    assert desk.run("install", *words)[0] == 0
    (entry,) = stop_hooks(settings(desk))
    given = shlex.split(entry["command"])
    assert given[given.index("stop") :] == [
        "stop", "--timeout", "60", "--max-blocks", "3", "--criteria", "my words.yaml",
        "--artifact", "it's.md",
    ]  # fmt: skip
    assert desk.run("install", "--user", *words)[0] == 4
    assert desk.run("install", "--criteria", "none.yaml", "--artifact", "a.md")[0] == 4
    assert "none.yaml" in desk.told


def test_the_status_says_what_the_hook_waits_for(desk: Desk) -> None:
    assert "Installed: nowhere" in desk.run("status")[1]
    assert "every session may stop" in desk.run("status")[1]
    must_not = [{"text": "no", "command": "false"}, "prose"]
    state = goal({"a": {"met": True, "command": "true"}, "b": False}, mustNot=must_not)
    desk.write(state)
    out = desk.run("status")[1]
    assert "- a: claimed, not approved, so not run: true" in out
    assert "- b: not claimed, not verified by the program" in out
    assert "- must not: prose: not checked: it has no command" in out
    desk.approve()
    desk.stop()
    _, out = desk.run("status", "--json")
    found = json.loads(out)
    assert [one["where"] for one in found["installed"]] == ["project"]
    assert found["goal"]["criteria"][0]["not_approved"] == []
    assert (found["goal"]["held"], found["goal"]["session"]) == (1, RECORDED["session_id"])
    assert found["goal"]["last"]["decision"] == "block"
    assert "- a: claimed, verified by: true" in desk.run("status")[1]
    desk.write("{")
    assert "cannot be read, so every session may stop" in desk.run("status")[1]


def test_a_try_shows_the_answer_and_counts_nothing(desk: Desk) -> None:
    desk.write(goal({"a": False}))
    before = desk.state_file.read_bytes()
    for _ in range(12):
        status, out = desk.run("test")
        assert (status, json.loads(out)["decision"]) == (0, "block")
    assert desk.state_file.read_bytes() == before
    payload = json.dumps({**RECORDED, "cwd": "/nowhere"}).encode()
    assert json.loads(desk.run("test", "--payload", "-", stdin=payload)[1]) == {}
    (desk.project / "payload.json").write_bytes(payload.replace(b"Stop", b"Start"))
    assert json.loads(desk.run("test", "--payload", "payload.json")[1]) == {}
    assert desk.run("test", "--payload", "none.json")[0] == 4
    assert desk.run("test", "--criteria", "x")[0] == 4
    desk.stop()
    assert json.loads(desk.run("test")[1])["decision"] == "block"
