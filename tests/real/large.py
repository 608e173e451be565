"""Large answers of a real client, again and again: ``python -m tests.real.large claude 20``.

Prints for each size how many answers arrived whole, and how long one took.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from pytest_reflex.agents.configure import agent_from_table
from pytest_reflex.model.steps import Question
from tests.real.clients import CLIENTS
from tests.real.faulty import FaultyServer, text_of

SIZES = (180, 500)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("tries", type=int, nargs="?", default=20)
    options = parser.parse_args()
    client, whole = CLIENTS[options.client], 0
    with FaultyServer() as server, tempfile.TemporaryDirectory(prefix="large-") as name:
        for size in SIZES:
            mode, arrived, began = f"large-{size}", 0, time.monotonic()
            os.environ |= client.environment(Path(name) / "home", server.url(mode))
            agent = agent_from_table(client.name, {"tries": 1})
            for _ in range(options.tries):
                reply = agent.ask(Question(prompt="Plan.", verbatim=True))
                arrived += reply.text.strip() == text_of(mode).strip() and not reply.error
            seconds = (time.monotonic() - began) / options.tries
            print(
                f"{client.name}, {size} KB: {arrived}/{options.tries} whole, {seconds:.1f} s each"
            )
            whole += arrived
    return 0 if whole == options.tries * len(SIZES) else 1


if __name__ == "__main__":
    raise SystemExit(main())
