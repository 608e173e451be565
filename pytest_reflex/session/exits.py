"""The exit status of a pytest session, given its gate: 0 may become 1, never the reverse."""

from __future__ import annotations

import pytest

from pytest_reflex.session import options
from pytest_reflex.verdict.gate import Gate

_OPEN = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
_OF_COLLECTION = (*_OPEN, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)

# Sessions that only look: no item runs, so there is nothing to hold against a gate.
_ONLY_LOOKS = ("collectonly", "setuponly", "setupplan", "showfixtures", "show_fixtures_per_test")


_FLAGS = {
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
    """Return whether whoever started the session wants to look, and nothing to run.

    In CI only what was typed counts: an option of `addopts` or of PYTEST_ADDOPTS would pass a build
    in which nothing ran.
    """
    looks = any(getattr(config.option, name, False) for name in _ONLY_LOOKS)
    typed = _FLAGS.intersection(map(str, config.invocation_params.args))
    return looks and (bool(typed) or not options.in_ci(config))


def exit_status(current: int, gate: Gate | None, *, criteria_faults: bool) -> int:
    """Return the status to leave with.

    `criteria_faults` is True where faulty criteria are all that kept the collection from success:
    that is 4, plain and with workers. An interrupt, an internal error and a usage error stay.
    """
    if criteria_faults and current in _OF_COLLECTION:
        return int(pytest.ExitCode.USAGE_ERROR)
    if gate is not None and gate.blocks and current in _OPEN:
        return int(pytest.ExitCode.TESTS_FAILED)
    return int(current)
