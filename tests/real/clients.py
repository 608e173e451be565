"""The real command-line clients: where they are installed, and how each is led to our server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / ".real" / "npm" / "node_modules" / ".bin"
_KEY = "sk-dummy-0123456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client by the name of its preset; `lead` prepares a home and returns its variables."""

    name: str
    package: str
    lead: Callable[[Path, str], Mapping[str, str]]

    @property
    def program(self) -> Path:
        return INSTALLED / self.name

    def environment(self, home: Path, url: str) -> dict[str, str]:
        """Return the whole environment of a run whose client talks to the server at `url`."""
        home.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join((str(INSTALLED), os.environ["PATH"]))
        return {**bare(home), "PATH": path, **self.lead(home, url)}


def bare(home: Path) -> dict[str, str]:
    """Return an environment in which no client is installed."""
    path = os.pathsep.join((str(Path(sys.executable).parent), "/usr/bin", "/bin"))
    return {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}


def _claude(home: Path, url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def _codex(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        f"""\
model = "local"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "CODEX_API_KEY"
"""
    )
    return {"CODEX_API_KEY": _KEY}


CLAUDE = Client(name="claude", package="@anthropic-ai/claude-code", lead=_claude)
CODEX = Client(name="codex", package="@openai/codex", lead=_codex)
CLIENTS = {client.name: client for client in (CLAUDE, CODEX)}
