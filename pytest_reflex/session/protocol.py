"""The short protocol of checks that need nothing of pytest's set-up: a call, and no phases.

It is half the price of the standard protocol. Plugins see the reports; the hooks of the phases
(`pytest_runtest_setup`, `_call`, `_teardown`, `_makereport`) are not called.
"""

from __future__ import annotations

from time import perf_counter, time
from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.session.items import CheckItem, fails
from pytest_reflex.session.results import Results

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
        "pytest_reflex.session.reporting",
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

    Only where the next item is a check of the same collector: then no fixture of anybody is due to
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
    """Return whether anybody listens who may need the report of a teardown.

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
        longrepr=item.explained() if failed else None,
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
