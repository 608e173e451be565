"""The stock templates on documents that strangers wrote: the verdicts that a reader would give.

A reader went through each document by hand; what is listed is what he found missing in it, and
everything else he found there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reflex.model.enums import Level, Outcome
from tests.templates.evaluating import evaluated

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA = Path(os.environ.get("PYTEST_REFLEX_TEST_DATA") or BESIDE)

MISSING: dict[str, dict[str, str]] = {
    "api/museum.yaml": {},
    "api/petstore-expanded.yaml": {
        "a.completeness.examples": "GET /pets: the JSON response 200 shows no example (and 3 more)",
        "b.style.naming": "operationId 'find pet by id' is not an identifier",
        "b.completeness.pagination": "GET /pets returns a list and takes no position",
        "b.completeness.auth": "components.securitySchemes defines no scheme",
        "b.quality.descriptions": "a description holds placeholder text: pseudo-Latin",
    },
    "api/tictactoe.yaml": {
        "a.completeness.errors": "GET /board documents no error response",
        "b.style.naming": "the operationId 'markOperationCallback' is not kebab-case",
    },
    "config/compose-nginx-flask-mysql.yaml": {},
    "config/compose-prometheus-grafana.yaml": {
        "a.security.no-secrets": "GF_SECURITY_ADMIN_PASSWORD is a hard-coded secret",
        "b.completeness.comments": "0 comments of at least three words, 1 are wanted",
        "b.quality.portability": "the image prom/prometheus has no tag (and 1 more)",
    },
    "config/compose-wordpress-mysql.yaml": {
        "a.security.no-secrets": "MYSQL_ROOT_PASSWORD is a hard-coded secret (and 2 more)",
        "b.quality.portability": "the image wordpress:latest has a tag that moves",
    },
    "config/github-python-package.yml": {
        "b.quality.defaults": "the job 'build' has no timeout-minutes",
        "b.security.permissions": "the job 'build' does not say which permissions its token",
    },
    "docs/museum-README.md": {},
    "docs/httpx-README.md": {
        "b.quality.structure": "there is no title: no heading of level 1",
        "b.completeness.cross-refs": "the image 'docs/img/httpx-help.png' does not exist",
    },
    "docs/nox-README.md": {
        "b.completeness.cross-refs": "the link target 'CONTRIBUTING.md' does not exist",
    },
}
PASSED: dict[tuple[str, Level], bool] = {
    ("api/museum.yaml", Level.A): True,
    ("api/museum.yaml", Level.B): True,
    ("api/petstore-expanded.yaml", Level.A): False,
    ("api/petstore-expanded.yaml", Level.B): False,
    ("api/tictactoe.yaml", Level.A): True,
    ("api/tictactoe.yaml", Level.B): False,
    ("config/compose-nginx-flask-mysql.yaml", Level.A): True,
    ("config/compose-nginx-flask-mysql.yaml", Level.B): True,
    ("config/compose-prometheus-grafana.yaml", Level.A): False,
    ("config/compose-prometheus-grafana.yaml", Level.B): False,
    ("config/compose-wordpress-mysql.yaml", Level.A): False,
    ("config/compose-wordpress-mysql.yaml", Level.B): False,
    ("config/github-python-package.yml", Level.A): True,
    ("config/github-python-package.yml", Level.B): False,
    ("docs/museum-README.md", Level.A): True,
    ("docs/museum-README.md", Level.B): True,
    ("docs/httpx-README.md", Level.A): True,
    ("docs/httpx-README.md", Level.B): False,
    ("docs/nox-README.md", Level.A): True,
    ("docs/nox-README.md", Level.B): True,
}


TEMPLATES = {"api": "api-spec", "config": "configuration", "docs": "documentation"}


def template_for(document: str) -> str:
    return TEMPLATES[document.split("/")[0]]


def found(document: str) -> Path:
    if not (DATA / document).is_file():
        pytest.skip(f"{document} is not in {DATA}; PYTEST_REFLEX_TEST_DATA may name the folder")
    return DATA / document


@pytest.mark.long
@pytest.mark.parametrize("document", MISSING)
def test_verdict_is_that_of_a_reader_rule_by_rule(document: str) -> None:
    evaluation = evaluated(template_for(document), found(document))
    failed = {r.rule.id: r.message for r in evaluation.results if r.outcome is Outcome.FAIL}
    assert failed.keys() == MISSING[document].keys()
    assert all(failed[rule].startswith(text) for rule, text in MISSING[document].items())
    others = {r.outcome for r in evaluation.results if r.rule.id not in failed}
    assert others == {Outcome.PASS}


@pytest.mark.long
@pytest.mark.parametrize(("document", "level"), PASSED, ids=[f"{d} {p}" for d, p in PASSED])
def test_gate_decides_as_a_reader_would(document: str, level: Level) -> None:
    evaluation = evaluated(template_for(document), found(document), level)
    assert evaluation.passed is PASSED[document, level]


@pytest.mark.parametrize("document", [name for name in MISSING if name.startswith("api/")])
def test_api_in_a_fenced_block_is_judged_like_the_file(document: str, tmp_path: Path) -> None:
    wrapped = tmp_path / "artifact.md"
    text = found(document).read_text("utf-8")
    wrapped.write_text(f"# API\n\n```yaml\n{text}\n```\n\nNotes.\n", "utf-8")
    evaluation = evaluated("api-spec", wrapped)
    failed = {r.rule.id for r in evaluation.results if r.outcome is not Outcome.PASS}
    assert failed == MISSING[document].keys()


def test_api_as_json_is_judged_like_the_yaml(tmp_path: Path) -> None:
    import json

    from pytest_reflex.text.data import read_data

    document = "api/petstore-expanded.yaml"
    value = read_data(found(document).read_text("utf-8"), "yaml")[0].value
    (tmp_path / "api.json").write_text(json.dumps(value))
    evaluation = evaluated("api-spec", tmp_path / "api.json")
    failed = {r.rule.id for r in evaluation.results if r.outcome is not Outcome.PASS}
    assert failed == MISSING[document].keys()
