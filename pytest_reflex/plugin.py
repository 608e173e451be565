"""The pytest11 entry point: declares options and hooks; wakes the rest only where it is needed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_reflex import hookspecs
from pytest_reflex.session import options

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from pytest_reflex.model.judged import Judge, JudgeWhen
    from pytest_reflex.session.controller import Controller
    from pytest_reflex.session.plan import SessionState
    from pytest_reflex.session.runtime import Runtime

SUFFIX = ".reflex.yaml"
RUNTIME: pytest.StashKey[Runtime] = pytest.StashKey()
CONTROLLER: pytest.StashKey[Controller] = pytest.StashKey()
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


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)


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
        controller = self._config.stash.get(CONTROLLER, None)
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
        runtime = self._config.stash.get(RUNTIME, None)
        if runtime and not runtime.learn(everything):
            items.clear()
        return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
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
        if runtime := self._config.stash.get(RUNTIME, None):
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
    from pytest_reflex.session.plan import SessionState

    if SessionState.key in config.stash:
        return config.stash[SessionState.key]
    from pytest_reflex.session.runtime import Runtime

    state = SessionState(config)
    if name := options.text(config, "reflex_judge"):
        state.judge, state.judge_when = judge_of(config, name)
    # Without names: `-p no:NAME` and `unregister(name=...)` find none.
    config.stash[RUNTIME] = Runtime(state)
    config.pluginmanager.register(config.stash[RUNTIME])
    if not state.is_worker:
        from pytest_reflex.session.controller import Controller

        config.stash[CONTROLLER] = Controller(state)
        config.pluginmanager.register(config.stash[CONTROLLER])
    return state


def judge_of(config: pytest.Config, name: str) -> tuple[Judge, JudgeWhen]:
    """Return the judge of this session, and when it is asked, from the project's configuration.

    Raises UsageError of pytest.
    """
    from pytest_reflex.agents.vote_cache import with_cache
    from pytest_reflex.errors import ReflexError
    from pytest_reflex.host import find_judge, open_host
    from pytest_reflex.model.judged import JudgeWhen
    from pytest_reflex.settings import load

    try:
        settings = load(config.rootpath, options.of_judge(config))
        for problem in settings.unknown:
            config.issue_config_time_warning(pytest.PytestConfigWarning(str(problem)), stacklevel=2)
        judge = find_judge(name, open_host(settings["plugins"], config.rootpath), settings)
        known, clears = options.controller_votes(config), options.clears_cache(config)
        kept = with_cache(judge, settings, config.rootpath, known=known, clear=clears)
        return kept, JudgeWhen(settings["judge_when"])
    except ReflexError as error:
        raise pytest.UsageError(f"--reflex-judge: {error}") from None


@pytest.fixture
def reflex(request: pytest.FixtureRequest) -> Any:
    """Evaluate an artifact inside a test: ``reflex.evaluate(artifact, criteria, phase=...)``."""
    from pytest_reflex import evaluate
    from pytest_reflex.session.fixture import Reflex

    return Reflex(request.config.rootpath, evaluate)
