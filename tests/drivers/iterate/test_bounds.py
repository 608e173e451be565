"""A bound is what a flag says, else the procedure, else the driver's setting by its tier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.drivers.iterate.model import Bounds
from pytest_reflex.drivers.iterate.procedures import bounds_of, resolve_agent, resolve_bounds
from pytest_reflex.settings import SETTINGS, load
from tests.drivers.iterate.desk import procedure, write


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    return tmp_path


def bounds(project: Path, *, no_caps: bool = False, rounds: Any = None, **own: Any) -> Bounds:
    settings = load(project, {"iterate.max_iterations": rounds})
    return bounds_of(replace(procedure(), **own), settings, no_caps=no_caps)


def test_without_anything_five_rounds_are_run(project: Path) -> None:
    assert bounds(project) == Bounds(
        max_iterations=5, failure_threshold=3, wall_time=28800.0, unchanged=3
    )


def test_a_procedure_counts_before_the_setting_and_a_flag_before_both(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "[iterate]\nmax_iterations = 7\n")
    assert bounds(project).max_iterations == 7
    monkeypatch.setenv("PYTEST_REFLEX_ITERATE_MAX_ITERATIONS", "8")
    assert bounds(project).max_iterations == 8
    assert bounds(project, max_iterations=9).max_iterations == 9
    assert bounds(project, max_iterations=9, rounds="2").max_iterations == 2


def test_zero_of_a_procedure_is_no_limit(project: Path) -> None:
    assert bounds(project, max_iterations=0).max_iterations == 0


CAPPED: dict[str, tuple[str, Bounds]] = {
    "nothing said": ("", Bounds(max_iterations=0, wall_time=28800.0, unchanged=10)),
    "switched off": (
        "[iterate]\nwall_time = 0\nunchanged = 0\n",
        Bounds(max_iterations=0, wall_time=28800.0, unchanged=10),
    ),
    "its own": (
        "[iterate]\nwall_time = 60\nunchanged = 4\n",
        Bounds(max_iterations=0, wall_time=60.0, unchanged=4),
    ),
}


@pytest.mark.parametrize(("text", "expected"), CAPPED.values(), ids=CAPPED.keys())
def test_b074_a_loop_without_a_limit_has_caps_that_no_file_takes_away(
    project: Path, text: str, expected: Bounds
) -> None:
    write(project, text)
    assert bounds(project, rounds=0) == replace(expected, stop_unchanged=True)


@pytest.mark.parametrize("rounds", [0, 5])
def test_only_a_flag_lifts_the_caps(project: Path, rounds: int) -> None:
    write(project, "[iterate]\nstop_unchanged = true\n")
    found = bounds(project, rounds=rounds, no_caps=True)
    assert (found.wall_time, found.stop_unchanged, found.unchanged) == (0.0, False, 3)


def test_a_loop_with_a_limit_stops_unchanged_where_that_is_set(project: Path) -> None:
    write(project, "[iterate]\nstop_unchanged = true\nunchanged = 2\n")
    found = bounds(project)
    assert (found.unchanged, found.stop_unchanged) == (2, True)


def test_each_bound_knows_who_said_it(project: Path) -> None:
    own = write(
        project, "[iterate]\nunchanged = 2\n[iterate.procedures.mine]\nmax_iterations = 3\n"
    )
    made = replace(procedure(), max_iterations=3)
    told = {one.name: one.origin for one in resolve_bounds(made, load(project))}
    assert told == {
        "max_iterations": f"procedure mine: {own}",
        "failure_threshold": "default",
        "wall_time": "default",
        "unchanged": str(own),
        "stop_unchanged": "default",
        "budget": "default",
    }


@pytest.mark.parametrize(
    ("own", "text", "flag", "expected"),
    [
        ("", "", None, ("offline", "default")),
        ("", '[iterate]\nagent = "it"\n', None, ("it", "pytest-reflex.toml")),
        ("pro", '[iterate]\nagent = "it"\n', None, ("pro", "procedure mine: built-in")),
        ("pro", '[iterate]\nagent = "it"\n', "flagged", ("flagged", "flag")),
    ],
    ids=["the agent of all", "that of the driver", "that of the procedure", "that of a flag"],
)
def test_the_agent_is_the_most_special_one(
    project: Path, own: str, text: str, flag: str | None, expected: tuple[str, str]
) -> None:
    write(project, text)
    settings = load(project, {"iterate.agent": flag})
    found = resolve_agent(replace(procedure(), agent=own), settings)
    assert (found.value, Path(found.origin).name) == expected
