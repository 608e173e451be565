"""What each aspect of a configuration file finds, and what it leaves alone."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.structure.configuration import ASPECTS
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge, problems

WEB = "services:\n  web:\n    image: a:1\n"
JOB = "on: push\njobs:\n  a:\n    runs-on: x\n"
STEP = JOB + "    steps:\n      - run: "

FOUND = [
    ("required", WEB + "    prots: []\n", 4, "services.web: unknown key 'prots'"),
    ("required", "on: push\njobs:\n  a:\n    steps: [{run: b}]\n", 3, "jobs.a: 'runs-on' is a req"),
    ("required", WEB + "    depends_on: {db: {condition: service_started}}\n", 4, "'db'"),
    ("required", WEB + "    networks: [back]\n", 4, "names the network 'back', which is not"),
    ("required", WEB + "    volumes: [data:/d]\n", 4, "names the volume 'data', which is not"),
    ("required", WEB + "    volumes: [{type: volume, source: d, target: /d}]\n", 4, "'d'"),
    ("required", WEB + "    secrets: [{source: key}]\n", 4, "names the secret 'key', which is"),
    ("required", JOB + "    needs: [b]\n", 5, "jobs.a.needs names the job 'b', which is not"),
    ("required", STEP + "echo ${{ steps.x.outputs.y }}\n", 6, "names the entry of steps 'x'"),
    ("required", STEP + "echo ${{ needs.x.result }}\n", 6, "names the entry of needs 'x'"),
    ("required", "a:\n  b: TODO\n", 2, "b is still a placeholder: 'TODO'"),
    ("variables", WEB + "    environment: {NAME: }\n", 4, "the variable NAME has no default"),
    ("variables", WEB + "    command: a $WORD\n", 4, "the variable WORD has no default"),
    ("variables", "A=${B}\n", 1, "the variable B has no default"),
    ("variables", STEP + "echo ${{ env.A }}\n", 6, "the variable A has no default"),
    ("defaults", WEB, 2, "the service 'web' does not say when it restarts"),
    ("defaults", JOB, 3, "the job 'a' has no timeout-minutes"),
    ("defaults", "a: 1\nb:\n", 2, "b has no value, and no comment says why"),
    ("defaults", "#b: 2\nb:\n", 2, "b has no value"),
    ("comments", "a: 1\n" + "".join(f"b{i}: 1 # x\n" for i in range(60)), 1, "0 comments"),
    ("portability", "a:\n  image: b/c\n", 2, "the image b/c has no tag"),
    ("portability", "image:\n  tag: latest\n", 2, "the image has the tag 'latest', which moves"),
    ("portability", JOB + "    container: a:latest\n", 5, "the image a:latest has a tag that"),
    ("portability", JOB + "    steps: [{uses: a/b}]\n", 5, "the action a/b names no version"),
    ("portability", JOB + "    steps: [{uses: 'docker://a'}]\n", 5, "the image a has no tag"),
    ("portability", "a: x:/Users/ann/y\n", 1, "a holds a path of one person: /Users/ann"),
    ("permissions", "a: {privileged: true}\n", 1, "privileged: true gives the container"),
    ("permissions", WEB + "    network_mode: host\n", 4, "'web' shares the network of the host"),
    ("permissions", WEB + "    cap_add: [SYS_ADMIN]\n", 4, "gets the capability SYS_ADMIN"),
    ("permissions", WEB + "    security_opt: ['seccomp:unconfined']\n", 4, "runs unconfined"),
    ("permissions", "socket_mode: 0777\n", 1, "socket_mode 777 lets everybody write"),
    ("permissions", "mode: 0o666\n", 1, "mode 438 lets everybody write"),
    ("permissions", "run: umask 000\n", 1, "'umask 000' lets everybody write"),
    ("permissions", "run: chmod a+rwx x\n", 1, "lets everybody write"),
    ("permissions", JOB + "    permissions: write-all\n", 5, "the job 'a' has permissions: write-"),
]


@pytest.mark.parametrize(("aspect", "text", "line", "message"), FOUND)
def test_fault_is_found_in_its_line(aspect: str, text: str, line: int, message: str) -> None:
    result = judge(text, {"configuration": aspect})
    assert result.outcome is Outcome.FAIL
    assert message in result.message
    assert result.location
    assert result.location.line == line


LEFT_ALONE = [
    ("required", WEB + "    networks: [default]\n    volumes: ['./d:/d', '/x:/x', '~/a:/a']\n"),
    ("required", WEB + "    depends_on: [b]\ninclude: [other.yaml]\n"),
    ("variables", WEB + "    command: a $$WORD $${OTHER}\n"),
    ("variables", WEB + "    # NAME: who it is\n    environment: [NAME]\n"),
    ("variables", STEP + "echo $A ${B}\n"),
    ("variables", STEP + 'echo "A=1" >> $GITHUB_ENV; echo ${{ env.A }}\n'),
    ("variables", "a: ${lowercase} $UPPER\n"),
    ("defaults", WEB + "    deploy: {restart_policy: {condition: any}}\n"),
    ("defaults", "on: push\njobs: {a: {uses: ./b.yml}}\n"),
    ("defaults", "a: null\nb: ~\nc: # it is not used here\n"),
    ("defaults", '{"a": null, "b": []}'),
    ("portability", WEB + "    build: .\n    container_name: x\n".replace("a:1", "a")),
    ("portability", "a: /home/runner/x /home/node/app\nb: a/home/ann\n"),
    ("portability", "image: a@sha256:" + "0" * 64 + "\n"),
    ("portability", "image: ${IMAGE}\n"),
    ("portability", JOB + "    steps: [{uses: ./a}, {uses: a/b@v1}]\n"),
    ("permissions", '{"defaultMode": 420, "mode": "0644", "run": "chmod 755 x; chmod u+w y"}'),
    ("permissions", JOB + "    permissions: {}\n"),
    ("permissions", "run: umask 022\nmode: fast\n"),
]


@pytest.mark.parametrize(("aspect", "text"), LEFT_ALONE)
def test_what_is_right_is_left_alone(aspect: str, text: str) -> None:
    assert judge(text, {"configuration": aspect}).outcome is Outcome.PASS


def test_example_files_may_hold_placeholders() -> None:
    params = {"configuration": "required"}
    assert judge("HOST=<host>\n", params, ".env.example").outcome is Outcome.PASS
    assert judge("HOST=<host>\n", params, ".env").outcome is Outcome.FAIL


def test_path_that_is_wanted_and_missing_is_named() -> None:
    params = {"configuration": "required", "paths": ["server.port", "server.host"]}
    result = judge("server:\n  port: 1\n", params)
    assert result.message == "server.host is not there"
    assert judge("server: {port: 1, host: a}\n", params).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"configuration": "speed"}, "configuration must be one of syntax, required"),
        ({"configuration": "syntax", "paths": ["a"]}, "paths goes with required, not with syntax"),
        ({"configuration": "required", "paths": ["a["]}, "a["),
        ({"configuration": "comments", "lines_per_comment": 0}, "a whole number above 0, not 0"),
        ({"configuration": "syntax", "lines_per_comment": 9}, "goes with comments, not with syn"),
    ],
)
def test_parameter_that_cannot_be_used_is_refused(params: dict[str, object], message: str) -> None:
    assert message in problems(params)[0].message


def test_schemas_that_are_not_installed_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "check_jsonschema", None)
    result = judge(WEB, {"configuration": "required"})
    assert result.outcome is Outcome.NOT_MEASURED
    assert "pip install 'pytest-reflex[config]'" in result.message
    assert judge("a: 1\n", {"configuration": "required"}).outcome is Outcome.PASS


CLEAR = [
    ("password: hunter2\n", "password is a hard-coded secret"),
    (WEB + "    environment: ['A_PASSWORD=hunter2']\n", "A_PASSWORD is a hard-coded secret"),
    ("# token: ghp_" + "a1B2" * 9 + "\na: 1\n", "looks like a hard-coded secret: GitHub Token"),
    (
        "a: |\n  -----BEGIN RSA PRIVATE KEY-----\n  x\n",
        "looks like a hard-coded secret: Private Key",
    ),
    ("a: postgres://u:hunter2@h/d\n", "looks like a hard-coded secret: Basic Auth Credentials"),
    (
        "a: 3f8a1c9b7d2e6f405a1b8c9d3e7f2a60\n",
        "a looks like a hard-coded secret: Hex High Entropy String",
    ),
    ("A_API_KEY=abcdef123\n", "A_API_KEY is a hard-coded secret"),
]


@pytest.mark.parametrize(("text", "message"), CLEAR)
def test_secret_in_clear_is_found_and_not_repeated(text: str, message: str) -> None:
    result = judge(text, {"configuration": "secrets"})
    assert result.outcome is Outcome.FAIL
    assert result.message == message
    assert "hunter2" not in f"{result.message}{result.evidence}"


@pytest.mark.parametrize(
    "text",
    [
        "password: ${PASSWORD}\nb: '{{ password }}'\n",
        "password: true\nmin_password: 12\npassword_file: a.txt\nsecret_name: web\n",
        "url: postgres://${USER}:${PASSWORD}@h/d\n",
        "sha256: 3f8a1c9b7d2e6f405a1b8c9d3e7f2a60\n",
        "id: 123e4567-e89b-12d3-a456-426614174000\n",
        "jobs:\n  a: {secrets: inherit}\n",
        WEB + "    secrets: [db-password]\n    command: '--password=\"$$(cat /run/a)\"'\n",
    ],
)
def test_way_to_a_secret_is_no_secret(text: str) -> None:
    result = judge(text, {"configuration": "secrets"})
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


def test_secrets_without_their_detector_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "detect_secrets", None)
    result = judge("a: 1\n", {"configuration": "secrets"})
    assert result.outcome is Outcome.NOT_MEASURED
    assert "pip install 'pytest-reflex[secrets]'" in result.message


TEXT = st.text("ab:= \n-[]{}#;$\"'|0\\/.@<>", max_size=60)
TOPS = st.sampled_from(["", WEB, JOB, "services:\n  a:\n    ", "on: x\njobs:\n  a:\n    ", "[a]\n"])


@settings(deadline=None, max_examples=60)
@given(aspect=st.sampled_from(sorted(ASPECTS)), top=TOPS, text=TEXT)
def test_any_text_has_an_outcome(aspect: str, top: str, text: str) -> None:
    try:
        result = judge(top + text, {"configuration": aspect})
    except CriteriaError as error:
        raise AssertionError("a text is not a fault of the criteria") from error
    may = {Outcome.PASS, Outcome.FAIL, Outcome.ERROR}
    assert result.outcome in (may if aspect == "syntax" else may | {Outcome.NOT_MEASURED})
