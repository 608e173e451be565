"""Faults of configuration files that must not pass, each in several forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.checks.structure.configuration import ASPECTS
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

WEB = "services:\n  web:\n    image: a:1\n"
RUN = "jobs: {a: {runs-on: x, steps: [{run: make}]}}\n"


def outcome(aspect: str, text: str, name: str = "a.yaml", base: Path | None = None) -> Outcome:
    return judge(text, {"configuration": aspect}, name, base).outcome


@pytest.mark.parametrize("name", ["docker-compose.yml", "compose.yaml", "copy.yaml", "artifact.md"])
@pytest.mark.parametrize(
    "text",
    [
        "services:\n",
        "version: '3'\nservices: {}\n",
        "volumes: {db: }\nservices:\n",
        "web: {image: a:1, ports: ['80:80']}\ndb:\n  image: b:2\n",
        "web:\n  build: .\n  image: a:1\nvolumes: {data: }\n",
        "volumes: {db: }\n",
        "networks:\n  back:\n    driver: bridge\nvolumes:\n  db:\n    external: true\n",
        "name: shop\nvolumes: {db: {driver: local}}\nx-a: 1\n",
    ],
)
def test_compose_file_without_services_lacks_them(name: str, text: str) -> None:
    result = judge(text, {"configuration": "required"}, name)
    assert result.outcome is Outcome.FAIL
    assert "services is missing" in result.message


@pytest.mark.parametrize("aspect", sorted(set(ASPECTS) - {"syntax", "required"}))
@pytest.mark.parametrize(
    "text", ["volumes: {db: }\n", "services:\nvolumes: {db: }\n", "on: push\n"]
)
def test_what_lost_its_main_part_passes_nothing_for_that(aspect: str, text: str) -> None:
    result = judge(text, {"configuration": aspect}, "copy.yaml")
    assert result.outcome is Outcome.NOT_MEASURED
    assert result.message.endswith(" is missing: there is nothing to look at")


EMPTY_ENTRIES = [
    ("services: {web: }\n", "services.web"),
    ("services:\n  web: {image: nginx}\n  db:\n", "services.db"),
    ("on: push\njobs:\n  test:\n", "jobs.test"),
    ("on: push\njobs: {a: {runs-on: x, steps: [{run: make}]}, b: [1]}\n", "jobs.b"),
    ("name: CI\non: push\njobs:\n", "jobs"),
]


@pytest.mark.parametrize("aspect", sorted(set(ASPECTS) - {"syntax", "required"}))
@pytest.mark.parametrize(("text", "part"), EMPTY_ENTRIES)
def test_entry_with_nothing_in_it_passes_nothing_for_that(
    aspect: str, text: str, part: str
) -> None:
    result = judge(text, {"configuration": aspect}, "copy.yaml")
    assert result.outcome is Outcome.NOT_MEASURED
    assert result.message == f"{part} is missing: there is nothing to look at"
    assert outcome("required", text, "copy.yaml") is Outcome.FAIL


@pytest.mark.parametrize(
    "text",
    [
        WEB + "volums: {data: }\n",
        WEB + "servces: {db: {image: b:1}}\n",
        WEB + "password: hunter2plain\n",
        WEB + "    restart: always\ndebug: true\n",
        "services:\n  web:\n    imgae: a:1\n",
        "services:\n  web: {xbuild: ., command: run}\n",
        "on: push\npasword: a\n" + RUN,
        "on: push\nenvs: {A: b}\n" + RUN,
        "on: push\ntodo: a\njobs: {a: {steps: [{run: make}]}}\n",
    ],
)
def test_fault_does_not_make_another_kind_of_file_of_it(text: str) -> None:
    result = judge(text, {"configuration": "required"}, "copy.yaml")
    assert result.outcome is Outcome.FAIL
    assert "(read as a " in result.message


@pytest.mark.parametrize(
    "text",
    [
        "services: {web: {image: a, cors: x}}\nrate: 5\n",
        "services: {web: {image: a:1}}\nsteps: {test: {image: b:2, commands: [make]}}\n",
        "services: {mail: {host: a, port: 25}}\nlevel: info\n",
        "web: {image: a:1, replicas: 2}\n",
        "web: {image: a:1}\ndb: {image: b:2}\n",
        "name: app\nservices:\n",
    ],
)
def test_file_of_another_kind_stays_one(text: str) -> None:
    assert "reads as YAML" in judge(text, {"configuration": "syntax"}, "a.yaml").message


def test_compose_file_may_include_others() -> None:
    assert outcome("required", "include: [a.yaml]\n", "compose.yaml") is Outcome.PASS


@pytest.mark.parametrize(
    "text",
    [
        "on: {push: , pull_request: }\n",
        "name: CI\non: [push, workflow_dispatch]\nenv: {A: b}\n",
        "on: release\npermissions: {}\n",
        "on:\n  schedule: [{cron: '0 4 * * *'}]\n",
    ],
)
def test_workflow_without_jobs_lacks_them(text: str) -> None:
    result = judge(text, {"configuration": "required"}, "copy.yml")
    assert "'jobs' is a required property (read as a GitHub workflow)" in result.message


@pytest.mark.parametrize("jobs", [RUN, "jobs: {a: {uses: ./b.yml}}\n"])
def test_workflow_without_events_lacks_them(jobs: str) -> None:
    result = judge("name: CI\n" + jobs, {"configuration": "required"}, "copy.yml")
    assert "'on' is a required property" in result.message


SECRETS = [
    "env: [{name: DB_PASSWORD, value: hunter2plain}]\n",
    "containerDefinitions: [{environment: [{name: API_KEY, value: 9f8e7d6c5b4a}]}]\n",
    "controller:\n  set:\n    - name: auth.adminPassword\n      value: hunter2plain\n",
    "Parameters: [{ParameterKey: DbPassword, ParameterValue: hunter2plain}]\n",
    "password: |\n  hunter2plain\n",
    "password: >-\n  hunter2plain\n",
    "db:\n  passphrase: |\n    correct horse\n    battery staple\n",
    "POSTGRES_PASSWORD: 123456\n",
    "db: {passwd: 20241}\n",
    "redisPassword: 4711.5\n",
    WEB + "    command: [serve, --password=hunter2plain]\n",
    "access_token: 8f3kd92kd02kf83j\n",
    "db_password_prod: hunter2plain\n",
    "secret_key_base: 8f3kd92kd02kf83j\n",
    "password: correct horse battery staple\n",
    "dbpassword: wordpress\n",
    "password: $ecret123!x\n",
]


@pytest.mark.parametrize("text", SECRETS)
def test_secret_is_found_however_it_is_written(text: str) -> None:
    result = judge(text, {"configuration": "secrets"}, "a.yaml")
    assert result.outcome is Outcome.FAIL
    assert "is a hard-coded secret" in result.message


@pytest.mark.parametrize("name", [".env.example", "config.example.yaml"])
@pytest.mark.parametrize("value", ["hunter2plain9", "s3cr3t-9fK2", "Zq8/kd02kf83jX9"])
def test_example_file_may_not_hold_a_real_secret(name: str, value: str) -> None:
    text = f"DB_PASSWORD={value}\n" if name.startswith(".env") else f"db_password: {value}\n"
    assert outcome("secrets", text, name) is Outcome.FAIL


@pytest.mark.parametrize(
    "text",
    [
        WEB + "    environment:\n      POSTGRES_USER: ${POSTGRES_USER}\n",
        WEB + "    environment: ['POSTGRES_USER=${POSTGRES_USER}']\n",
        WEB + "    environment:\n      A: ${B}\n      B: c\n",
        WEB + "    command: run $TAG\n",
    ],
)
def test_compose_does_not_define_what_it_puts_in(text: str) -> None:
    assert outcome("variables", text, "compose.yaml") is Outcome.FAIL


@pytest.mark.parametrize(("text", "name"), [("A=${A}\n", ".env"), ("A: ${A}\n", "a.yaml")])
def test_variable_is_not_its_own_definition(text: str, name: str) -> None:
    assert outcome("variables", text, name) is Outcome.FAIL


MOVING = """
    nextcloud:apache redis:alpine mariadb:lts nginx:mainline node:lts-alpine3.20 app:prod
    postgres:bookworm ghcr.io/a/b:main python:slim a:stable-alpine3.19
"""


@pytest.mark.parametrize("image", MOVING.split())
def test_tag_without_a_version_moves(image: str) -> None:
    for text in (f"services:\n  web:\n    image: {image}\n", f"spec: {{image: '{image}'}}\n"):
        assert outcome("portability", text) is Outcome.FAIL
    tag = image.rpartition(":")[2]
    assert outcome("portability", f"image: {{repository: a, tag: {tag}}}\n") is Outcome.FAIL


@pytest.mark.parametrize("image", ["redis:7-alpine", "debian:bookworm-slim", "a:v2", "a:${TAG}"])
def test_tag_with_a_version_is_fixed(image: str) -> None:
    assert outcome("portability", f"spec: {{image: '{image}'}}\n") is Outcome.PASS
