"""Conventions of tools for their configuration files, and faults that look like them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.checks.structure.configuration import ASPECTS
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

RUN = "jobs: {a: {runs-on: x, steps: [{run: make}]}}\n"


def outcome(aspect: str, text: str, name: str = "a.yaml") -> Outcome:
    return judge(text, {"configuration": aspect}, name).outcome


@pytest.mark.parametrize(
    "text",
    [
        "on: pushh\n" + RUN,
        "on: push\njobs: {a: {runs-on: x, steps: make}}\n",
        "on: {schedule: daily}\n" + RUN,
        "on: push\njobs: {a: {runs-on: x, steps: [{run: make}], strategy: {matrix: all}}}\n",
    ],
)
def test_a_text_stands_for_a_list_only_where_a_runner_takes_it(text: str) -> None:
    assert outcome("required", text, "ci.yml") is Outcome.FAIL


@pytest.mark.parametrize(
    "text",
    [
        "on: {push: {branches: main, tags-ignore: v*}}\n" + RUN,
        "on: {workflow_run: {workflows: CI, types: completed}}\n" + RUN,
        "on: {workflow_call: {inputs: {n: {type: string, default: }}}}\n" + RUN,
        "on: push\njobs: {a: {runs-on: x, steps: [{run: m}]}, b: {needs: a, uses: ./c.yml}}\n",
    ],
)
def test_workflow_that_runs_is_valid(text: str) -> None:
    result = judge(text, {"configuration": "required"}, "ci.yml")
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("service: {web: {image: a:1, ports: ['80:80']}}\nvolumes: {db: }\n", "Compose file"),
        ("servces:\n  web: {build: .}\n", "Compose file"),
        ("on: push\njob: {a: {runs-on: x, steps: [{run: make}]}}\n", "GitHub workflow"),
        (
            "name: CI\non: [push]\njobss: {a: {runs-on: x, steps: [{run: make}]}}\n",
            "GitHub workflow",
        ),
    ],
)
def test_misspelt_main_part_does_not_hide_what_the_file_is(text: str, read_as: str) -> None:
    result = judge(text, {"configuration": "required"}, "copy.yml")
    assert result.outcome is Outcome.FAIL
    assert read_as in result.message


def test_service_at_the_top_of_another_kind_stays_what_it_is() -> None:
    for text in ("service: {name: a, port: 1}\n", "service: {}\nprovider: {name: aws}\n"):
        assert "reads as YAML" in judge(text, {"configuration": "syntax"}, "a.yaml").message


MEANT = [
    "site_name: TODO MVC\n",
    "title: TODO list of the team\n",
    "help: 'todo: shows what is to do'\npattern: 'todo: write .*'\n",
    "keywords: [TODO, FIXME, XXX]\n",
    "search: <version>\nreplace: <new>\n",
    "permissions: [<all_urls>]\n",
    "quit: <c-c>\nback: <esc>\nnext: <C-S-Tab>\nrun: <leader>f\n",
    "when: <none>\ninput: <stdin>\n",
    "wrap: <section>\nlogo: <svg>\n",
    "your: [mine]\n",
]


@pytest.mark.parametrize("text", MEANT)
def test_value_that_is_meant_is_no_placeholder(text: str) -> None:
    result = judge(text, {"configuration": "required"}, "a.yaml")
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


OPEN = """
    you@your-domain.com https://your-domain.com/path https://your_host:8080 your-host <all-hosts>
"""


@pytest.mark.parametrize(
    "value",
    [
        *OPEN.split(),
        *("[your host]", "TODO add the host", "TODO - Set it", "FIXME: a", "XXX"),
        "todo: write this",
    ],
)
def test_value_that_is_to_be_filled_in_is_found(value: str) -> None:
    result = judge(f"a: '{value}'\n", {"configuration": "required"}, "a.yaml")
    assert result.message == f"a is still a placeholder: {value!r}"


JSONC = """
    .markdownlint.json .luarc.json keybindings.json .mocharc.json appsettings.json global.json
    appsettings.Development.json launchSettings.json angular.json project.json
"""


@pytest.mark.parametrize("name", JSONC.split())
def test_json_of_a_tool_that_reads_comments(name: str) -> None:
    text = '{\n  // what it is for\n  "a": 1\n}\n'
    assert judge(text, {"configuration": "syntax"}, name).message == "reads as JSON with comments"
    assert outcome("syntax", '{"a" 1} // b', name) is Outcome.FAIL


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("php.ini", "memory_limit = 1G\n[opcache]\nopcache.enable=1\n"),
        ("wg0.conf", "[Interface]\nPrivateKey = /k\n[Peer]\nPublicKey=a\n[Peer]\nPublicKey=b\n"),
        ("uwsgi.ini", "[uwsgi]\nmodule = a\nenv = A=1\nenv = B=2\n"),
        ("my.cnf", "port = 1\n[mysqld]\nskip-name-resolve\n"),
    ],
)
def test_ini_file_is_read_as_its_tool_reads_it(name: str, text: str) -> None:
    assert judge(text, {"configuration": "syntax"}, name).message == "reads as INI"
    assert outcome("syntax", text, "a.ini") is Outcome.FAIL


@pytest.mark.parametrize("name", ["a.nix", "a.cue", "a.py", "Makefile", "Dockerfile", "a.gradle"])
def test_program_is_not_taken_for_settings(name: str) -> None:
    text = "a: 1\n"
    assert "in no format that is read" in judge(text, {"configuration": "syntax"}, name).message
    others = {outcome(aspect, text, name) for aspect in set(ASPECTS) - {"syntax"}}
    assert others == {Outcome.NOT_MEASURED}


def test_dot_file_of_an_own_format_is_not_read_as_yaml() -> None:
    message = judge('registry "https://a"\n', {"configuration": "syntax"}, ".yarnrc").message
    assert ".yarnrc is in no format that is read" in message


@pytest.mark.parametrize("image", ["cover.png", "scratch", "img/a.webp"])
def test_picture_is_no_image_of_a_container(image: str) -> None:
    assert outcome("portability", f"title: A\nimage: {image}\n") is Outcome.PASS


def test_entry_of_a_list_may_have_no_settings() -> None:
    assert outcome("defaults", "plugins: [search, tags: ]\n") is Outcome.PASS
    assert outcome("defaults", "plugins:\n- tags:\n- blog:\n") is Outcome.PASS
    assert outcome("defaults", "plugins:\n- name: a\n  value:\n") is Outcome.FAIL
    assert outcome("defaults", "index: !!python/name:emoji.to_svg\n") is Outcome.PASS
    assert outcome("defaults", "index: !x a\nb: # !x\nc:\n") is Outcome.FAIL


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_file_beside_compose_may_begin_with_a_mark(tmp_path: Path, start: bytes) -> None:
    (tmp_path / ".env").write_bytes(start + b"PG_USER=shop\r\n")
    text = "services: {a: {image: a:1, environment: {U: '${PG_USER}'}}}\n"
    result = judge(text, {"configuration": "variables"}, "compose.yaml", tmp_path)
    assert result.outcome is Outcome.PASS
