"""A real client in the loop against our server: recorded, and replayed twice without the client.

``python -m tests.real.show claude`` (or codex); ``--keep FILE`` keeps the recording without the
paths of this machine. Claude Code plays every role of a flow behind it; our Stop hook holds both.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from pytest_reflex.agents.recording import Header, Recording, read_recording
from pytest_reflex.agents.replay import normalize
from pytest_reflex.storage.journal import Journal
from tests.real import flowing, holding
from tests.real.clients import CLAUDE, CLIENTS, Client, bare
from tests.real.play import Played, play
from tests.real.server import ModelServer


def record(client: Client, folder: Path) -> tuple[Played, Path, int]:
    """Run the loop with the client for all steps; return it, its recording, and the requests."""
    recording = folder / "run.jsonl"
    with ModelServer() as server:
        environment = client.environment(folder / "home", server.url)
        flags = ("--agent", client.name, "--record", str(recording))
        played = play(folder / "recorded", environment, *flags)
        return played, recording, len(server.paths)


def replay(recording: Path, folder: Path) -> Played:
    """Replay a recording in a new folder, with no client on the path."""
    folder.mkdir(parents=True, exist_ok=True)
    return play(folder / "project", bare(folder), "--replay", str(recording))


def keep(recording: Recording, path: Path) -> None:
    """Write a recording anew for others to have, without the folder in which it was made."""
    path.unlink(missing_ok=True)
    header = Header(run_id=recording.header.run_id, project="/project")
    with Journal.create(path) as journal:
        journal.append(header.to_json())
        for call in recording.calls:
            wire = call.to_json()
            text = normalize(str(wire), folders=[recording.header.project])
            if "{project}" in text:
                raise SystemExit(f"{call} names {recording.header.project}: it cannot be kept")
            journal.append(wire)


def _version(client: Client) -> str:
    done = subprocess.run(
        [client.program, "--version"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--keep", type=Path, metavar="FILE")
    options = parser.parse_args()
    client = CLIENTS[options.client]
    if not client.program.exists():
        print(f"{client.program} is not installed: make real-{client.name}")
        return 1
    with tempfile.TemporaryDirectory(prefix="real-") as name:
        status = _show(client, Path(name), options.keep)
        flowed = True
        if client is CLAUDE:
            print("\nAnd in both loops of a flow, whose files it writes itself:\n")
            flowed = flowing.show(client, Path(name))
        print("\nAnd held by the Stop hook, where it wants to stop at once:\n")
        held = holding.show(client, Path(name))
        return status if flowed and held else 1


def _show(client: Client, folder: Path, kept: Path | None) -> int:
    print(f"{client.package}, {_version(client)}, against a model server on loopback\n")
    played, path, requests = record(client, folder)
    print(played.told)
    recording = read_recording(path)
    for call in recording.calls:
        price = "unknown" if call.usd is None else f"${call.usd:.4f}"
        print(f"{call}: {call.seconds:.1f} s, {price}, {call.tokens} tokens {call.error}".rstrip())
    print(f"recorded: exit status {played.status}, {requests} requests to the server")
    one, two = (replay(path, folder / name) for name in ("one", "two"))
    equal = one.log == two.log
    print(f"replayed without the client: exit statuses {one.status} and {two.status}")
    print(f"event logs of the replays: {'equal' if equal else 'DIFFERENT'}, {len(one.log)} events")
    as_recorded = one.log[1:] == played.log[1:] and one.artifact == played.artifact
    print(f"and as in the recorded run: {'yes' if as_recorded else 'NO'}")
    if kept:
        keep(recording, kept)
        print(f"kept in {kept}")
    good = not (played.status or one.status or two.status) and equal and as_recorded
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
