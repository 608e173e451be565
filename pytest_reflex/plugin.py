"""The pytest11 entry point: declares options and hooks; wakes the rest only where it is needed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_reflex.session import options

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from pytest_reflex.session.plan import SessionState

SUFFIX = ".reflex.yaml"
_WATCHED: pytest.StashKey[bool] = pytest.StashKey()


def __dir__() -> list[str]:
    """Return what pytest looks for: it examines every name of a plugin, in every session."""
    return [*filter(_is_hook, globals()), "reflex"]


def _is_hook(name: str) -> bool:
    return name.startswith("pytest_")


class _Hooks:
    """A plugin of which pytest examines nothing but the hooks."""

    def __dir__(self) -> list[str]:
        return list(filter(_is_hook, vars(type(self))))


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """See what a conftest.py could change, before the first one is read."""
    early_config.stash[options.IN_CI] = bool(os.environ.get("CI"))
    early_config.pluginmanager.register(ExitStatusHook(early_config))


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
        config.pluginmanager.register(Collection(config))


def _controls_workers(config: pytest.Config) -> bool:
    """Return whether xdist runs the items elsewhere: then nothing is collected here."""
    distributes = getattr(config.option, "dist", "no") != "no" and config.option.tx
    return bool(distributes) and not hasattr(config, "workerinput")


class ExitStatusHook(_Hooks):
    """Holds the exit status to the gate when every other hook of the session has been called."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_cmdline_main(self) -> Generator[None, object, object]:
        try:
            status = yield
        except SystemExit as error:
            if error.code not in (None, 0):
                raise
            status = 0
            if not self._hold(0):
                raise
        return self._hold(status)

    def _hold(self, status: object) -> object:
        controller = self._config.stash.get(options.CONTROLLER, None)
        return controller.hold(status) if controller and isinstance(status, int) else status


class Collection(_Hooks):
    """Sees what is collected: suites, marked tests, and files with rules that are left unread."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._items: list[pytest.Item] = []
        self._ran = False

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        if file_path.name.endswith(SUFFIX):
            from pytest_reflex.session.collect import SuiteFile

            activate(self._config)
            return SuiteFile.at(file_path, parent)
        if self._config.option.reflex_artifact and parent.session.isinitpath(file_path):
            from pytest_reflex.session.runtime import artifact_node

            if file_path in activate(self._config).named:
                return artifact_node(parent, file_path)
        return None

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self._items.append(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Learn the marked tests, those too that another hook has taken away already."""
        everything = {id(item): item for item in (*self._items, *items)}.values()
        if has_marked(everything):
            activate(self._config)
        runtime = self._config.stash.get(options.RUNTIME, None)
        if runtime and not runtime.learn(everything):
            items.clear()
        return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Declare the hooks where a plugin has one: when all is collected, pytest refuses others.

        A conftest.py has been read before the report on its folder.
        """
        if any(name.startswith("pytest_reflex_") for name in vars(self._config.hook)):
            from pytest_reflex.activation import declare_hooks

            declare_hooks(self._config)
        if report.skipped:
            from pytest_reflex.session.collect import find_skipped

            self._unread(find_skipped(report, self._config))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        self._ran = True
        return (yield)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Where `pytest.exit` ends a session before any test, see what it has not read."""
        if self._ran or not isinstance(excinfo.value, pytest.exit.Exception):
            return
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[options.ENDED] = True  # the controller sees to it
            return
        from pytest_reflex.session.collect import find_unreached

        self._unread(find_unreached(self._config))
        if runtime := self._config.stash.get(options.RUNTIME, None):
            runtime.state.ended = True

    def _unread(self, files: dict[str, str]) -> None:
        if files:
            activate(self._config).plan.unread.update(files)


def has_marked(items: Iterable[pytest.Item]) -> bool:
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
