"""The pytest11 entry point: declares options and hooks; wakes the rest only where it is needed."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

    from pytest_reflex.session.plan import SessionState


class _OwnModules:
    """Finds the rest of this package as Python does.

    pytest would rewrite the assertions of a plugin. To read the byte code of that takes it six
    times as long as Python needs (where it cannot be stored, each session compiles everything),
    and ours assert nothing that is of interest to people.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path) if name.startswith("pytest_reflex.") else None

    @staticmethod
    def leave() -> None:
        if _OwnModules in sys.meta_path:
            sys.meta_path.remove(_OwnModules)


sys.meta_path.insert(0, _OwnModules)

from pytest_reflex.session import options, watch  # noqa: E402  # by the finder above

_WATCHED: pytest.StashKey[bool] = pytest.StashKey()


def __dir__() -> list[str]:
    """Return what pytest looks for: it examines every name of a plugin, in every session."""
    return [*filter(watch.is_hook, globals()), "reflex"]


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """See what a conftest.py could change, before the first one is read."""
    early_config.add_cleanup(_OwnModules.leave)
    early_config.stash[options.IN_CI] = bool(os.environ.get("CI"))
    early_config.pluginmanager.register(watch.ExitStatusHook(early_config))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    _watch(config)
    if not options.wants_loop(config):
        return None
    try:
        from pytest_reflex.drivers.pytest_loop.entry import drive

        return drive(config)
    except KeyboardInterrupt:  # maybe during imports, where no other handler is installed
        sys.stdout.write("\nInterrupted\n")
        return int(pytest.ExitCode.INTERRUPTED)


def pytest_configure(config: pytest.Config) -> None:
    options.add_markers(config)
    _watch(config)
    if options.any_given(config) or _controls_workers(config):
        activate(config)


def _watch(config: pytest.Config) -> None:
    """Register what watches the collection, once, and without a name that `-p no:` could block."""
    if _WATCHED not in config.stash:
        config.stash[_WATCHED] = True
        config.stash.setdefault(options.IN_CI, bool(os.environ.get("CI")))
        config.pluginmanager.register(watch.Collection(config, activate))


def _controls_workers(config: pytest.Config) -> bool:
    """Return whether xdist runs the items elsewhere: then nothing is collected here."""
    distributes = getattr(config.option, "dist", "no") != "no" and config.option.tx
    return bool(distributes) and not hasattr(config, "workerinput")


def activate(config: pytest.Config) -> SessionState:
    """Register what runs checks and what decides, once; return the session's state."""
    from pytest_reflex.activation import activate

    return activate(config)


@pytest.fixture
def reflex(request: pytest.FixtureRequest) -> Any:
    """Evaluate an artifact inside a test: ``reflex.evaluate(artifact, criteria, phase=...)``."""
    from pytest_reflex import evaluate
    from pytest_reflex.session.fixture import Reflex

    return Reflex(request.config.rootpath, evaluate)
