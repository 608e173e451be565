"""Which values are secrets, and that they stand in nothing we print or keep but the artifact."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.process.environment import own_secrets, redact, secrets

SECRETS = {
    "a vendor nobody knows": ("FOO_TOKEN", "tvly-abc", "got tvly-abc", "got $FOO_TOKEN"),
    "four characters": ("DB_PASSWORD", "hx9!", "in:hx9!x", "in:$DB_PASSWORDx"),
    "five, in base64": ("DB_PASS", "a7Qz_", "YTdRel8=", "$DB_PASS8="),
    "a name in one word": ("PGPASSWORD", "hx9!q", "hx9!q", "$PGPASSWORD"),
    "a name in small letters": ("npm_config_token", "hx9!q", "hx9!q", "$npm_config_token"),
    "a short one by its name": ("MY_KEY", "q7", "MY_KEY=q7, q7", "MY_KEY=$MY_KEY, q7"),
    "a short one in JSON": ("MY_KEY", "q7", '{"MY_KEY": "q7"}', '{"MY_KEY": "$MY_KEY"}'),
    "a short one as a part": ("MY_KEY", "q7", "MY_KEY=q7x", "MY_KEY=q7x"),
    "a password in a URL": (
        "DB",
        "postgres://ann:s3cr3t@h/d",
        "postgres://ann:s3cr3t@h/d and s3cr3t",
        "postgres://ann:[password of $DB]@h/d and [password of $DB]",
    ),
    "a short password in a URL": (
        "DB_URL",
        "redis://:pw@h",
        "redis://:pw@h",
        "redis://:[hidden]@h",
    ),
    "a password that is encoded": (
        "PROXY",
        "http://u:a%40bcd@h",
        "it is a@bcd",
        "it is [password of $PROXY]",
    ),
    "a URL of nobody's variable": ("X", "", "ftp://me:hush@h/", "ftp://me:[hidden]@h/"),
    "a beginning that was cut": (
        "A_TOKEN",
        "tvly-0123456789",
        "says tvly-0123… and",
        "says $A_TOKEN… and",
    ),
    "an end that was cut": ("A_TOKEN", "tvly-0123456789", "...56789 it was", "...$A_TOKEN it was"),
}
NO_SECRETS = {
    "an author": ("GIT_AUTHOR_NAME", "Anna", "Anna wrote it"),
    "a keyboard": ("KEYBOARD_LAYOUT", "qwerty", "qwerty"),
    "a switch": ("USE_TOKEN", "true", "it is true"),
    "a file of a token": ("TOKEN_FILE", "a.txt", "see a.txt"),
    "the working folder": ("PWD", "/tmp", "in /tmp"),
    "a URL without a password": ("DB_URL", "http://h:8080/x", "http://h:8080/x a@b.c"),
    "a reference in a URL": ("U", "", "postgres://ann:${PASSWORD}@h/d"),
    "words about passwords": ("DB_PASSWORD", "passw0rd!", "all tests pass"),
}


@pytest.mark.parametrize(("name", "value", "text", "hidden"), SECRETS.values(), ids=SECRETS)
def test_b121_a_secret_is_hidden(name: str, value: str, text: str, hidden: str) -> None:
    found = redact(text, secrets({name: value}, [name], ()))
    assert found == hidden
    assert redact(found, secrets({name: value}, [name], ())) == hidden


@pytest.mark.parametrize(("name", "value", "text"), NO_SECRETS.values(), ids=NO_SECRETS)
def test_b121_what_is_no_secret_stays(name: str, value: str, text: str) -> None:
    assert redact(text, secrets({name: value}, [name], ())) == text


TOKEN, PASSWORD = "tvly-a7Q", "hu5h"
FINDS = "It has {0} and postgres://u:{1}@h/d in it.\n"
CRITERIA = {
    "name": "c",
    "rules": [
        {
            "id": "a.x.says",
            "description": "a command that says it",
            "severity": "fail",
            "check": {
                "type": "executable",
                "command": "env; printf '%0290d' 0; env | tr '\\n' ' '; env >&2; exit 1",
            },
        },
        {
            "id": "a.x.finds",
            "description": "an artifact without it",
            "severity": "fail",
            "check": {"type": "content", "search": "tvly-|postgres://", "max_count": 0},
        },
    ],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOO_TOKEN", TOKEN)
    monkeypatch.setenv("DB_URL", f"postgres://u:{PASSWORD}@h/d")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(json.dumps(CRITERIA))
    (tmp_path / "a.md").write_text(FINDS.format(TOKEN, PASSWORD))
    suite = CRITERIA | {"criteria": {"name": "c"}, "artifacts": ["a.md"]}
    del suite["name"]
    (tmp_path / "s.reflex.yaml").write_text(json.dumps(suite))
    return tmp_path


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    return done.stdout + done.stderr


def in_clear(text: str) -> list[str]:
    return [one for one in (TOKEN, PASSWORD) if one in text]


@pytest.mark.long
@pytest.mark.parametrize("form", [[], ["--json"], ["-v"]], ids=["terminal", "json", "verbose"])
def test_b121_evaluate_shows_no_secret(project: Path, form: list[str]) -> None:
    said = run("pytest_reflex", "evaluate", "a.md", "--criteria", "c.yaml", *form)
    assert "a.x.finds" in said
    assert in_clear(said) == []


@pytest.mark.long
@pytest.mark.variants
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["plain", "workers"])
def test_b121_a_session_shows_no_secret(project: Path, workers: list[str]) -> None:
    files = ["--junitxml=junit.xml", "--reflex-json=out.json"]
    said = run("pytest", "-p", "no:randomly", "s.reflex.yaml", *files, *workers)
    assert "a.x.finds" in said
    texts = [said, *((project / name).read_text() for name in ("junit.xml", "out.json"))]
    assert [in_clear(text) for text in texts] == [[], [], []]


AGENT = """\
import os, sys
step = os.environ["PYTEST_REFLEX_STEP"]
print("it is", os.environ["FOO_TOKEN"], os.environ["DB_URL"], file=sys.stderr)
if step == "PLAN":
    print('{"plan": ["say ' + os.environ["FOO_TOKEN"] + '", "b", "c"]}')
elif step in ("PRODUCE", "REFINE"):
    print("It has", os.environ["FOO_TOKEN"], "and", os.environ["DB_URL"], "in it.", step)
else:
    print("no JSON but", os.environ["DB_URL"], "x" * 1950, os.environ["FOO_TOKEN"])
"""


@pytest.mark.long
def test_b121_a_loop_keeps_it_in_the_artifact_alone(project: Path) -> None:
    (project / "agent.py").write_text(AGENT)
    (project / "pytest-reflex.toml").write_text(
        f'[agents.own]\ncommand = ["{sys.executable}", "agent.py"]\nenv = ["FOO_TOKEN", "DB_URL"]\n'
    )
    words = ["loop", "new", "say it", "--alias", "run", "--criteria", "c.yaml", "--yes"]
    words += ["--agent", "own"]
    said = run("pytest_reflex", *words, "--max-iterations", "2", "--record", "tape.jsonl")
    folder = project / ".ai-factory" / "evolution" / "run"
    artifact = (folder / "artifact.md").read_text()
    assert in_clear(artifact) == [TOKEN, PASSWORD], said
    events = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    deltas = [event["payload"].pop("delta", "") for event in events]
    assert any(TOKEN in json.dumps(delta) for delta in deltas)
    kept = {"terminal": said.replace(artifact, ""), "run.json": (folder / "run.json").read_text()}
    kept |= {"history": json.dumps(events), "tape": (project / "tape.jsonl").read_text()}
    assert {name: in_clear(text) for name, text in kept.items()} == {name: [] for name in kept}


def test_own_secrets_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "q7Zk")
    assert own_secrets()["q7Zk"] == "$A_TOKEN"
