"""Extras: doctor lists each, and what needs a part that is missing is not measured and says so."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.model.extras import EXTRAS, install_hint

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
# Extra and part: a check that needs it, and an artifact that it is asked about.
NEEDED: dict[tuple[str, str], tuple[dict[str, Any], str, str]] = {
    ("code", "ruff"): ({"type": "code", "aspect": "bugs"}, "a.py", "x = 1\n"),
    ("code", "mypy"): ({"type": "code", "aspect": "types"}, "a.py", "x = 1\n"),
    ("code", "ast-grep-py"): (
        {"type": "structure", "code": {"language": "python", "pattern": "x"}}, "a.py", "x = 1\n",
    ),
    ("config", "check-jsonschema"): (
        {"type": "structure", "configuration": "required"}, "compose.yaml",
        "services:\n  web:\n    image: nginx\n",
    ),
    ("config", "python-dotenv"): (
        {"type": "structure", "configuration": "syntax"}, ".env", "A=1\n",
    ),
    ("openapi", "openapi-spec-validator"): (
        {"type": "structure", "openapi": "valid"}, "api.yaml",
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {}\n",
    ),
    ("secrets", "detect-secrets"): (
        {"type": "structure", "configuration": "secrets"}, "a.yaml", "a: 1\n",
    ),
}  # fmt: skip
IN_ANOTHER_WAY = {"parallel", "re2", "ui"}
BLOCKED = """\
import json, sys
from pathlib import Path

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{name} is blocked")

BLOCKED = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Blocked())
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.cli.doctor import examine
from pytest_reflex.model.rules import CheckSpec
from tests.checks.building import rule, target

found = {"extras": examine(Path.cwd())["extras"], "results": []}
for wire, name, text in json.loads(sys.argv[2]):
    Path(name).write_text(text)
    one = target(Path(name), rule("a.x.y", CheckSpec.from_json(wire)))
    result = evaluate(one, built_in_registry()).results[0].checks[0]
    found["results"].append([result.outcome.value, result.message])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What doctor and checks say in a process where no part of any extra can be imported."""
    modules = [module for extra in EXTRAS for module in extra.parts]
    argv = [sys.executable, "-c", BLOCKED, json.dumps(modules), json.dumps([*NEEDED.values()])]
    done = subprocess.run(
        argv,
        cwd=tmp_path_factory.mktemp("blocked"),
        env={"PYTHONPATH": str(PYPROJECT.parent), "PATH": "/usr/bin:/bin", "HOME": "/nowhere"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: extra.name)
def test_doctor_says_what_is_missing_and_how_it_is_installed(
    blocked: dict[str, Any], extra: Any
) -> None:
    (row,) = (row for row in blocked["extras"] if row["name"] == extra.name)
    assert row["installed"] is False
    assert row["missing"] == list(extra.parts.values())
    assert row["install"] == f"pip install 'pytest-reflex[{extra.name}]'"
    assert row["without"] == extra.without


@pytest.mark.long
@pytest.mark.parametrize("needed", NEEDED, ids="-".join)
def test_what_needs_a_missing_part_is_not_measured(
    blocked: dict[str, Any], needed: tuple[str, str]
) -> None:
    extra, part = needed
    (row,) = (row for row in blocked["extras"] if row["name"] == extra)
    outcome, message = blocked["results"][list(NEEDED).index(needed)]
    assert (outcome, message) == (
        "not_measured", f"{part} is not installed: {row['install']}"
    )  # fmt: skip


def test_every_extra_of_the_package_and_every_part_is_known() -> None:
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    declared = {
        name: {part.partition(">=")[0] for part in parts}
        for name, parts in project["optional-dependencies"].items()
        if name != "all"
    }
    assert {extra.name: {*extra.parts.values()} for extra in EXTRAS} == declared
    tried = {(extra.name, part) for extra in EXTRAS for part in extra.parts.values()}
    assert {one for one in tried if one[0] not in IN_ANOTHER_WAY} == NEEDED.keys()


def test_a_part_that_is_here_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    assert install_hint("rich") == "rich is not installed: pip install 'pytest-reflex[ui]'"
    monkeypatch.undo()
    assert install_hint("xdist") == ""
