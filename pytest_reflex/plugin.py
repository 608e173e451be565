"""The pytest11 entry point: declares options and hooks; wakes the rest only where it is needed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_reflex import hookspecs
from pytest_reflex.session import options

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_reflex.model.judged import Judge
    from pytest_reflex.session.desk import Desk

NAME = "reflex-checks"
GATE_NAME = "reflex-gate"
SUFFIX = ".reflex.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if not options.wants_loop(config):
        return None
    try:
        from pytest_reflex.treeloop.entry import drive

        return drive(config)
    except KeyboardInterrupt:  # maybe while modules are imported, where nobody else waits for it
        sys.stdout.write("\nInterrupted\n")
        return int(pytest.ExitCode.INTERRUPTED)


def pytest_configure(config: pytest.Config) -> None:
    options.add_markers(config)
    if options.any_given(config) or _controls_workers(config):
        wake(config)


def _controls_workers(config: pytest.Config) -> bool:
    """Return whether xdist runs the items elsewhere: then nothing is collected here."""
    distributes = getattr(config.option, "dist", "no") != "no" and config.option.tx
    return bool(distributes) and not hasattr(config, "workerinput")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Any:
    if file_path.name.endswith(SUFFIX):
        from pytest_reflex.session.collect import SuiteFile

        wake(parent.config)
        return SuiteFile.at(file_path, parent)
    if parent.config.option.reflex_artifact and parent.session.isinitpath(file_path):
        from pytest_reflex.session.runtime import named_file

        if file_path in wake(parent.config).named:
            return named_file(parent, file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    if not config.pluginmanager.has_plugin(NAME) and any_marked(items):
        wake(config)
        runtime: Any = config.pluginmanager.get_plugin(NAME)
        runtime.pytest_collection_modifyitems(items)


def any_marked(items: Iterable[pytest.Item]) -> bool:
    """Return whether a test, or a class or module above one, is marked as a rule."""
    seen: set[Any] = set()
    for item in items:
        node: Any = item
        while node is not None and node not in seen:
            if any(mark.name == options.MARK for mark in node.own_markers):
                return True
            if node is not item:
                seen.add(node)
            node = node.parent
    return False


def wake(config: pytest.Config) -> Desk:
    """Register what runs checks and what decides, once; return the session's desk."""
    from pytest_reflex.session.desk import Desk

    if Desk.key in config.stash:
        return config.stash[Desk.key]
    from pytest_reflex.session.runtime import Runtime

    desk = Desk(config)
    if name := options.text(config, "reflex_judge"):
        desk.judge = judge_of(config, name)
    config.pluginmanager.register(Runtime(desk), NAME)
    if not desk.is_worker:
        from pytest_reflex.session.controller import Controller

        config.pluginmanager.register(Controller(desk), GATE_NAME)
    return desk


def judge_of(config: pytest.Config, name: str) -> Judge:
    """Return the agent that judges in this session, as the configuration of its root folder has it.

    Raises UsageError of pytest.
    """
    from pytest_reflex.errors import ReflexError
    from pytest_reflex.host import judge_called, open_host
    from pytest_reflex.settings import load

    try:
        settings = load(config.rootpath)
        for problem in settings.unknown:
            config.issue_config_time_warning(pytest.PytestConfigWarning(str(problem)), stacklevel=2)
        return judge_called(name, open_host(settings["plugins"], config.rootpath), settings)
    except ReflexError as error:
        raise pytest.UsageError(f"--reflex-judge: {error}") from None


@pytest.fixture
def reflex(request: pytest.FixtureRequest) -> Any:
    """Judge an artifact inside a test: ``reflex.evaluate(artifact, criteria, phase=...)``."""
    from pytest_reflex import evaluate
    from pytest_reflex.session.fixture import Reflex

    return Reflex(request.config.rootpath, evaluate)
