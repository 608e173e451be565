"""P10: a large OpenAPI description through `api-spec`, against reading it and its schema alone."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

OPERATIONS = 1_200
_PROPERTIES = 25
_OURS = "import sys, pytest_reflex; pytest_reflex.evaluate(sys.argv[1], 'api-spec')"
_BASE = """
import sys, yaml
from openapi_spec_validator.shortcuts import get_validator_cls
document = yaml.load(open(sys.argv[1]), Loader=yaml.CSafeLoader)
assert not list(get_validator_cls(document).schema_validator.iter_errors(document))
"""


def run(rounds: int = 3) -> list[dict[str, object]]:
    """Return the ratio of processor time, and the peak memory in units of 250 MB, by format."""
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for form in ("json", "yaml"):
            path = Path(folder) / f"api.{form}"
            path.write_text(_written(form))
            pairs = [(_seconds(_OURS, path), _seconds(_BASE, path)) for _ in range(rounds)]
            ratio = min(ours for ours, _ in pairs) / min(base for _, base in pairs)
            what = f"api-spec of {path.stat().st_size / 1e6:.1f} MB of {form}"
            rows.append({"id": "P10", "what": f"{what} / read and pass", "goal": 3, "ratio": ratio})
            peak = _peak(path) / 250
            rows.append({"id": "P10", "what": f"{what}: 250 MB", "goal": 1, "ratio": peak})
    return rows


def _written(form: str) -> str:
    if form == "json":
        return json.dumps(description(), indent=2)
    import yaml

    return str(yaml.dump(description(), Dumper=yaml.CSafeDumper, sort_keys=False))


def description() -> dict[str, Any]:
    """Return a description whose operations share half of their schemas."""
    schemas = {f"Thing{number}": _schema(number) for number in range(OPERATIONS // 2)}
    paths = {f"/things-{number}/{{id}}": {"get": _get(number)} for number in range(OPERATIONS)}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Things", "version": "1"},
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        },
    }


def _get(number: int) -> dict[str, Any]:
    parts = {"thing": {"$ref": _ref(number)}, "own": _schema(number)}
    media = {"application/json": {"schema": {"type": "object", "properties": parts}}}
    limit = {"type": "integer", "default": 30, "minimum": 1}
    return {
        "operationId": f"getThing{number}",
        "summary": "One thing",
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
            {"name": "limit", "in": "query", "description": "At most", "schema": limit},
        ],
        "responses": {
            "200": {"description": "The thing", "content": media},
            "404": {"description": "There is none"},
        },
    }


def _ref(number: int) -> str:
    return f"#/components/schemas/Thing{number % (OPERATIONS // 2)}"


def _schema(number: int) -> dict[str, Any]:
    names = [f"field_{number}_{each}" for each in range(_PROPERTIES)]
    properties = {
        name: {"type": "string", "description": f"What {name} is for its owners", "example": "x"}
        for name in names
    }
    return {"type": "object", "required": names[:3], "properties": properties}


def _seconds(program: str, path: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _peak(path: Path) -> float:
    """Return the peak memory of one evaluation in MB."""
    told = "; import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    command = [sys.executable, "-c", _OURS + told, str(path)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1024
