"""An artifact in a folder, to be judged by the commands of a case."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_reflex.api import make_target
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.model.targets import Target


def criteria_of(commands: Sequence[str | list[str]], **params: Any) -> dict[str, Any]:
    """Return criteria with one blocking rule for each command, as they are written in a file."""
    return {
        "name": "commands",
        "rules": [
            {
                "id": f"a.x.rule-{number}",
                "description": "d",
                "severity": "fail",
                "check": {"type": "executable", "command": command, **params},
            }
            for number, command in enumerate(commands)
        ],
    }


def target_of(folder: Path, commands: Sequence[str | list[str]], **params: Any) -> Target:
    """Return an artifact in `folder` under criteria that are a file there, too."""
    (folder / "draft.md").write_text("some text\n")
    (folder / "words.yaml").write_text(json.dumps(criteria_of(commands, **params)))
    return make_target(
        folder / "draft.md",
        folder / "words.yaml",
        registry=built_in_registry(),
        phase=None,
        threshold=None,
        variables={},
        root=folder,
    )
