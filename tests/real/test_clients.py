"""The real clients, where they are installed: in a loop and in rounds, against our server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.clients import CLIENTS, Client
from tests.real.play import iterate, play
from tests.real.server import ModelServer


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_real_client_plans_and_produces(client: Client, tmp_path: Path) -> None:
    if not client.program.exists():
        pytest.skip(f"{client.package} is not installed: make real-{client.name}")
    with ModelServer() as server:
        environment = client.environment(tmp_path / "home", server.url)
        steps = [f"--agent={step}={client.name}" for step in ("plan", "produce")]
        played = play(tmp_path / "project", environment, *steps, "--max-iterations=1")
    assert played.status == 6, played.told
    assert played.artifact == "# A README for tidy\n"
    assert played.run["plan"][0] == "See to a.completeness.title"
    assert played.run["spend"]["tokens"] > 100
    assert server.paths


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_real_client_works_in_rounds_until_it_says_that_all_is_done(
    client: Client, tmp_path: Path
) -> None:
    if not client.program.exists():
        pytest.skip(f"{client.package} is not installed: make real-{client.name}")
    with ModelServer() as server:
        environment = client.environment(tmp_path / "home", server.url)
        done = iterate(tmp_path / "project", environment, "--agent", client.name)
    assert done.returncode == 0, done.stdout
    assert "Iteration 1/4 completed in " in done.stdout
    assert "Iteration 2/4 completed in " in done.stdout
    assert "Iteration 3/4" not in done.stdout
    assert server.paths
