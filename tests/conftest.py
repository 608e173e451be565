"""Fixtures that several rooms' tests share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534

# What whoever runs the tests has configured for themselves is not for the tests.
os.environ["XDG_CONFIG_HOME"] = os.devnull


@pytest.fixture
def as_user() -> Iterator[Path]:
    """A folder of an ordinary user, as whom the test runs: root ignores permissions."""
    folder = Path(tempfile.mkdtemp(prefix="reflex-user-"))
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)
