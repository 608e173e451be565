"""What links lead to, and which of it is looked at."""

from __future__ import annotations

import pytest

from pytest_reflex.integrity.outside import is_of_system


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/dev/null", True),
        ("/proc/self/status", True),
        ("/sys/kernel/x", True),
        ("/dev/shm/project/x", False),
        ("/devices/x", False),
    ],
)
def test_what_the_kernel_has_is_of_the_system_and_files_in_memory_are_not(
    path: str, found: bool
) -> None:
    assert is_of_system(path) is found
