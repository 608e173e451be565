"""Which tools are there, and what they call their version."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pytest_reflex.agents.environment import child_environment
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.run import run

SECONDS = 15.0

_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program: where it is (empty: not installed), its version, or why that is not known."""

    program: str
    path: str = ""
    version: str = ""
    problem: str = ""


def look(programs: Iterable[str], seconds: float = SECONDS) -> list[Tool]:
    """Return what is known of some programs, in their order; each gets `seconds` to answer."""
    found = list(dict.fromkeys(programs))
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda program: _tool(program, seconds), found))


def _tool(program: str, seconds: float) -> Tool:
    path = shutil.which(program)
    if path is None:
        return Tool(program=program)
    try:
        finished = run(
            [path, "--version"],
            cwd=os.getcwd(),
            env=child_environment(os.environ, ()),
            timeout=seconds,
            grace=0.5,
            hard_cap=1_000_000,
        )
    except ReflexError as error:
        return Tool(program=program, path=path, problem=str(error))
    if finished.timed_out:
        problem = f"{program} --version did not end within {seconds:g} s"
        return Tool(program=program, path=path, problem=problem)
    if finished.returncode != 0:
        problem = f"{program} --version left with exit status {finished.returncode}"
        return Tool(program=program, path=path, problem=problem)
    lines = (finished.stdout or finished.stderr).decode("utf-8", "replace").strip().splitlines()
    return Tool(program=program, path=path, version=one_line(lines[0], _SHOWN) if lines else "")
