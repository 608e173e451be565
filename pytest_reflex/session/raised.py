"""What the phases of a test raise, seen before any other hook can catch it.

A wrapper that is registered last with ``trylast`` is called last and returns first: between a test
and the hooks of plugins and conftest.py files that wrap it.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest


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
