"""What every session is watched by: whether there is anything to check, and how it exits.

Each pytest session pays for this module; what it needs beyond is imported when there are checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_reflex.session import options

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from pathlib import Path

    from pytest_reflex.session.plan import SessionState

SUFFIX = ".reflex.yaml"
_DECLARED: pytest.StashKey[bool] = pytest.StashKey()


def is_hook(name: str) -> bool:
    return name.startswith("pytest_")


class _Hooks:
    """A plugin of which pytest examines nothing but the hooks."""

    def __dir__(self) -> list[str]:
        return list(filter(is_hook, vars(type(self))))


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

    def __init__(
        self, config: pytest.Config, activate: Callable[[pytest.Config], SessionState]
    ) -> None:
        self._config = config
        self._activate = activate
        self._items: list[pytest.Item] = []
        self._ran = False

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        if file_path.name.endswith(SUFFIX):
            from pytest_reflex.session.collect import SuiteFile

            self._activate(self._config)
            return SuiteFile.at(file_path, parent)
        if self._config.option.reflex_artifact and parent.session.isinitpath(file_path):
            from pytest_reflex.session.runtime import artifact_node

            if file_path in self._activate(self._config).named:
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
            self._activate(self._config)
        runtime = self._config.stash.get(options.RUNTIME, None)
        if runtime and not runtime.learn(everything):
            items.clear()
        return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Declare the hooks where a plugin has one: when all is collected, pytest refuses others.

        A conftest.py has been read before the report on its folder.
        """
        if any(name.startswith("pytest_reflex_") for name in vars(self._config.hook)):
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
            self._activate(self._config).plan.unread.update(files)


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


def declare_hooks(config: pytest.Config) -> None:
    """Add the hook specifications to pytest, once.

    Only a session with checks calls the hooks; one whose plugins implement some needs them before
    its collection ends. Raises UsageError of pytest for an implementation that does not fit.
    """
    if _DECLARED in config.stash:
        return
    import pluggy

    from pytest_reflex import hookspecs

    config.stash[_DECLARED] = True
    try:
        config.pluginmanager.add_hookspecs(hookspecs)
    except pluggy.PluginValidationError as error:
        reason = " ".join(str(error).split())
        raise pytest.UsageError(f"{reason}; see the list of hooks") from None
