"""The hooks around reports: they stand outside all others, so that nobody else has the last word.

A wrapper that is registered last is called first and returns last. These plugins are registered
when items start to run, behind every plugin and conftest.py, and again where another one followed.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_reflex.session.items import CheckItem
from pytest_reflex.session.marks import MarkedTests
from pytest_reflex.session.results import ATTRIBUTE, Results


class Raised:
    """Keeps the exception with which the phase that runs was left."""

    def __init__(self) -> None:
        self._error: BaseException | None = None

    def take(self) -> BaseException | None:
        """Return the exception of the phase that has ended, once."""
        error, self._error = self._error, None
        return error

    def _watch(self) -> Generator[None, object, object]:
        __tracebackhide__ = True
        self._error = None
        try:
            return (yield)
        except BaseException as error:
            self._error = error
            raise

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        __tracebackhide__ = True
        return (yield from self._watch())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        __tracebackhide__ = True
        return (yield from self._watch())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_pyfunc_call(self) -> Generator[None, object, object]:
        __tracebackhide__ = True
        return (yield from self._watch())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        __tracebackhide__ = True
        return (yield from self._watch())


class Reporting:
    """Records the results of checks and marked tests when their reports are made."""

    hook = "pytest_runtest_makereport"

    def __init__(self, results: Results, marked: MarkedTests) -> None:
        self._results = results
        self._marked = marked
        self.raised = Raised()
        self._running: pytest.Item | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Know the item that runs: it cannot have a report made for another one."""
        self._running = item
        try:
            return (yield)
        finally:
            self._running = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        before = call.excinfo
        report = yield
        if isinstance(item, CheckItem):
            item.enrich(report, self._results)
        elif self._running in (item, None):
            excinfo, caught = call.excinfo or before, self.raised.take()
            self._marked.enrich(item, report, excinfo.value if excinfo else caught)
        return report


class Sending:
    """In an xdist worker, sends the result of a report along with it."""

    hook = "pytest_report_to_serializable"

    def __init__(self, config: pytest.Config, results: Results) -> None:
        self._config = config
        self._results = results

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self) -> None:
        stand_outside(self._config, self)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_to_serializable(
        self, report: object
    ) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
        data = yield
        if isinstance(data, dict):
            data.pop(ATTRIBUTE, None)
            found = self._results.of(report)
            if found is not None:
                data[ATTRIBUTE] = found.to_text()
        return data


def stand_outside(config: pytest.Config, plugin: Reporting | Sending) -> None:
    """Register a plugin, or anew unless its wrapper is the outermost one already."""
    manager = config.pluginmanager
    if manager.is_registered(plugin):
        if getattr(config.hook, plugin.hook).get_hookimpls()[-1].plugin is plugin:
            return
        manager.unregister(plugin)
    manager.register(plugin)


def stand_inside(config: pytest.Config, plugin: Raised) -> None:
    """Register a plugin, or anew unless its wrappers are the innermost ones already."""
    manager = config.pluginmanager
    if manager.is_registered(plugin):
        hooks = config.hook.pytest_runtest_call, config.hook.pytest_pyfunc_call
        if all(_innermost(hook) is plugin for hook in hooks):
            return
        manager.unregister(plugin)
    manager.register(plugin)


def _innermost(hook: Any) -> object:
    wrappers = (one for one in hook.get_hookimpls() if one.wrapper or one.hookwrapper)
    return next(wrappers).plugin
