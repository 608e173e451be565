"""The short protocol of checks, and the hooks around reports that stand outside all others.

A wrapper that is registered last is called first and returns last. These plugins are registered
when items start to run, behind every plugin and conftest.py, and again where another one followed.

It is half the price of the standard protocol. Plugins see the reports; the hooks of the phases
(`pytest_runtest_setup`, `_call`, `_teardown`, `_makereport`) are not called.
"""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter, time
from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.session.items import CheckItem, fails
from pytest_reflex.session.marks import MarkedTests
from pytest_reflex.session.results import ATTRIBUTE, Results


class RaisedException:
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


class ResultRecorder:
    """Records the results of checks and marked tests when their reports are made."""

    hook = "pytest_runtest_makereport"

    def __init__(self, results: Results, marked: MarkedTests) -> None:
        self._results = results
        self._marked = marked
        self.raised = RaisedException()
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


class ResultSender:
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


def stand_outside(config: pytest.Config, plugin: ResultRecorder | ResultSender) -> None:
    """Register a plugin, or anew unless its wrapper is the outermost one already."""
    manager = config.pluginmanager
    if manager.is_registered(plugin):
        if getattr(config.hook, plugin.hook).get_hookimpls()[-1].plugin is plugin:
            return
        manager.unregister(plugin)
    manager.register(plugin)


def stand_inside(config: pytest.Config, plugin: RaisedException) -> None:
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


# Whose `pytest_runtest_logreport` does not miss the report of a teardown that passed.
_CONTENT_WITH_CALL = frozenset(
    {
        "_pytest.cacheprovider",
        "_pytest.logging",
        "_pytest.main",
        "_pytest.stepwise",
        "_pytest.terminal",
        "_pytest.warnings",
        "pytest_reflex.session.controller",
        "pytest_reflex.session.protocol",
        "pytest_reflex.session.runtime",
    }
)
# Options of pytest and its plugins that are about the phases of an item.
_NEED_PHASES = ("usepdb", "setupshow", "setuponly", "setupplan", "trace", "reruns")


def wants_standard(config: pytest.Config) -> bool:
    """Return whether this session has to use the standard protocol for every item."""
    return any(getattr(config.option, name, None) for name in _NEED_PHASES)


def suits(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Return whether an item can do without set-up and teardown.

    Only where the next item is a check of the same collector: then no other fixture is due to
    be torn down between them, whatever ran before.
    """
    return (
        isinstance(item, CheckItem)
        and isinstance(nextitem, CheckItem)
        and nextitem.subject is item.subject
        and item.in_process
        and not item.own_markers
    )


def wants_teardown(config: pytest.Config) -> bool:
    """Return whether a plugin is there that may need the report of a teardown.

    junitxml writes properties when it comes, HTML reports their rows; the terminal, the cache and
    xdist do without.
    """
    listeners = config.hook.pytest_runtest_logreport.get_hookimpls()
    return any(_home(one.plugin) not in _CONTENT_WITH_CALL for one in listeners)


def _home(plugin: object) -> str:
    return str(getattr(plugin, "__name__", None) or type(plugin).__module__)


def run(item: CheckItem, nextitem: pytest.Item | None, results: Results, *, both: bool) -> None:
    """Run one item and send its report, or with `both` those of call and teardown."""
    ihook = item.ihook
    ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    start, before = time(), perf_counter()
    result = _judge(item)
    duration = perf_counter() - before
    failed = fails(item.rule, result)
    skipped = result.outcome is Outcome.NOT_APPLICABLE
    facts: dict[str, Any] = {
        "nodeid": getattr(item, "id", item.nodeid),
        "location": item.location,
        "keywords": dict.fromkeys(item.keywords, 1),
        "start": start,
    }
    call = pytest.TestReport(
        **facts,
        outcome="failed" if failed else "skipped" if skipped else "passed",
        longrepr=item.failure_text() if failed else None,
        when="call",
        duration=duration,
        stop=start + duration,
    )
    item.enrich(call, results)
    ihook.pytest_runtest_logreport(report=call)
    if both:
        teardown = pytest.TestReport(
            **facts,
            outcome="passed",
            longrepr=None,
            when="teardown",
            stop=start,
            user_properties=call.user_properties,
        )
        ihook.pytest_runtest_logreport(report=teardown)
    item.session._setupstate.teardown_exact(nextitem)
    ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _judge(item: CheckItem) -> CheckResult:
    """Run the check; whatever it throws is an error of the check, except a wish to stop.

    `pytest.fail.Exception`, which pytest-timeout raises, is not an `Exception`.
    """
    try:
        return item.judge()
    except (KeyboardInterrupt, SystemExit, pytest.exit.Exception):
        raise
    except BaseException as error:
        message = f"the check raised {type(error).__name__}: {error}"
        item.outcome = CheckResult(outcome=Outcome.ERROR, message=message)
        return item.outcome
