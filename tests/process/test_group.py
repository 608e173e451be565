"""Signals reach a whole group, not its leader alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Event, Thread

from pytest_reflex.process.run import run

# The leader is deaf; what it started says that it was asked to end.
SCRIPT = """\
sh -c 'trap "echo asked > asked; exit" TERM; echo > ready; while :; do sleep 0.05; done' &
trap '' TERM
while [ ! -e asked ]; do sleep 0.05; done
"""


def test_f19_every_process_of_the_group_is_asked_to_end(tmp_path: Path) -> None:
    env, cancel = {"PATH": os.environ["PATH"]}, Event()

    def when_ready() -> None:
        while not (tmp_path / "ready").exists():
            time.sleep(0.02)
        cancel.set()

    Thread(target=when_ready, daemon=True).start()
    done = run(["sh", "-c", SCRIPT], cwd=tmp_path, env=env, timeout=60, grace=20, cancel=cancel)
    assert done.cancelled
    assert (tmp_path / "asked").exists()
