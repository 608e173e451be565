"""How many examples a property has: few in the suite, all of them by `make properties`."""

from __future__ import annotations

from hypothesis import settings

FULL = "full"
IN_PROCESS, BY_TOOL = 10_000, 200


def examples(full: int, in_suite: int) -> settings:
    """Return settings with `full` examples in the profile of that name, else with `in_suite`."""
    return settings(max_examples=full if is_full() else in_suite)


def is_full() -> bool:
    return settings.get_current_profile_name() == FULL
