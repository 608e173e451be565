"""Root conftest: the plugin that runs pytest inside tests, and signals as a terminal gives them."""

from __future__ import annotations

import signal
import threading

pytest_plugins = ["pytester"]


def pytest_configure() -> None:
    """Take signals back: a job in the background ignores them, and its children inherit that."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if hasattr(signal, "SIGQUIT"):
            signal.signal(signal.SIGQUIT, signal.SIG_DFL)
