"""The configuration files: a person's own, and that of the working directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.errors import UsageError, did_you_mean
from pytest_reflex.settings.table import BY_KEY

OWN_FILE = "pytest-reflex.toml"


def global_path() -> Path:
    """Return where a person's own configuration is looked for; it need not be there."""
    from platformdirs import user_config_path

    return user_config_path("pytest-reflex", appauthor=False) / OWN_FILE


def global_values() -> tuple[Path | None, dict[str, Any]]:
    """Return the file of a person and its values by key; None where there is none."""
    path = global_path()
    if not _is_there(path):
        return None, {}
    found = _flatten(_read_toml(path), path)
    if isinstance(prompts := found.get("loop.prompts"), dict):
        # Paths of a person's own file are relative to it.
        found["loop.prompts"] = {
            step: str(path.parent / name) if isinstance(name, str) and name else name
            for step, name in prompts.items()
        }
    return path, found


def workspace_values(project: Path) -> tuple[Path | None, dict[str, Any]]:
    """Return the file of a project and its values by key; its own file counts before pyproject."""
    own, shared = project / OWN_FILE, project / "pyproject.toml"
    if own.is_file():
        return own, _flatten(_read_toml(own), own)
    tools = _read_toml(shared).get("tool", {}) if shared.is_file() else {}
    if not isinstance(tools, dict) or "pytest-reflex" not in tools:
        return None, {}
    if not isinstance(tools["pytest-reflex"], dict):
        raise UsageError(f"{shared}: tool.pytest-reflex: expected a table", hint="mend the file")
    return shared, _flatten(tools["pytest-reflex"], shared)


def _is_there(path: Path) -> bool:
    """Return whether there is a file; a folder of somebody else has none of ours."""
    try:
        return path.is_file()
    except OSError:
        return False


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: {error}", hint="mend the file") from None


def _flatten(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return dotted keys; an unknown one is refused with the nearest known."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name == "loop":
            if not isinstance(value, dict):
                raise UsageError(f"{path}: loop = {value!r}: expected a table", hint="as in [loop]")
            found |= {f"loop.{key}": inner for key, inner in value.items()}
        else:
            found[name] = value
    for key in found:
        if key not in BY_KEY:
            raise UsageError(f"{path}: unknown key {key!r}", hint=did_you_mean(key, BY_KEY))
    return found
