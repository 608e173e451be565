"""What the options and ini keys of a pytest session were set to."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pytest_reflex.session.options import IN_CI, OPTIONS

PARTIAL = "--reflex-allow-partial"
# What of kept votes a worker may use (in its input), and what it has written (in its output).
VOTES = "reflex_votes"


def text(config: pytest.Config, key: str) -> str:
    """Return a text option, or its ini key, or ""."""
    return str(getattr(config.option, key) or _ini(config, key) or "")


def texts(config: pytest.Config, key: str) -> list[str]:
    """Return the values of a repeatable option; those of the ini key come first."""
    return [*(_ini(config, key) or []), *(getattr(config.option, key) or [])]


def switch(config: pytest.Config, key: str) -> bool:
    return bool(getattr(config.option, key) or _ini(config, key))


def variables(config: pytest.Config) -> dict[str, Any]:
    """Read --reflex-var K=V and its ini key; a value is typed as YAML 1.2 types a plain scalar.

    Raises UsageError.
    """
    from pytest_reflex.criteria.diagnostics import parse_variable

    return dict(map(parse_variable, texts(config, "reflex_var")))


def of_judge(config: pytest.Config) -> dict[str, Any]:
    """Return the settings of the judge that the options of the session give."""
    return {"judge_cache": False} if switch(config, "reflex_no_judge_cache") else {}


def clears_cache(config: pytest.Config) -> bool:
    """Return whether pytest begins with an empty cache; a worker is not the first that begins."""
    return bool(getattr(config.option, "cacheclear", False)) and not hasattr(config, "workerinput")


def controller_votes(config: pytest.Config) -> dict[str, Any] | None:
    """Return what a worker's controller knew of kept votes before it began, None elsewhere."""
    known = getattr(config, "workerinput", {}).get(VOTES)
    return None if known is None else {name: tuple(stamp) for name, stamp in known.items()}


def allows_partial(config: pytest.Config) -> bool:
    """Return whether deselected rules are excused.

    In CI only the flag counts that whoever started pytest typed: not one of `addopts`, of
    PYTEST_ADDOPTS or of the ini key, which a change of the project brings along.
    """
    if in_ci(config):
        return PARTIAL in map(str, config.invocation_params.args)
    return switch(config, "reflex_allow_partial")


def ignores_partial(config: pytest.Config) -> bool:
    """Return whether `reflex_allow_partial` is set and does not count, because this is CI."""
    return switch(config, "reflex_allow_partial") and not allows_partial(config)


def in_ci(config: pytest.Config) -> bool:
    """Return whether the variable CI was set when the session started."""
    return config.stash.get(IN_CI, bool(os.environ.get("CI")))


def _ini(config: pytest.Config, key: str) -> Any:
    declared = next(option.ini for option in OPTIONS if option.key == key)
    return config.getini(key) if declared else None


# Sessions that only look: no item runs, so there is nothing to hold against a gate.
_ONLY_LOOKS = ("collectonly", "setuponly", "setupplan", "showfixtures", "show_fixtures_per_test")


_LOOKING = {
    "--co",
    "--collect-only",
    "--collectonly",
    "--setup-only",
    "--setuponly",
    "--setup-plan",
    "--setupplan",
    "--fixtures",
    "--funcargs",
    "--fixtures-per-test",
}


def only_looks(config: pytest.Config) -> bool:
    """Return whether the session only shows something and runs no test.

    In CI only what was typed counts: an option of `addopts` or of PYTEST_ADDOPTS would pass a build
    in which nothing ran.
    """
    looks = any(getattr(config.option, name, False) for name in _ONLY_LOOKS)
    typed = _LOOKING.intersection(map(str, config.invocation_params.args))
    return looks and (bool(typed) or not in_ci(config))
