"""Rules become pytest checks, checks become a verdict, the verdict drives a loop.

Public names, imported when first used: evaluate, run_loop, resume_loop, run_iterate,
resume_iterate, ReflexError.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pytest_reflex.api import evaluate, resume_loop, run_loop
    from pytest_reflex.drivers.iterate.api import resume_iterate, run_iterate
    from pytest_reflex.errors import ReflexError

__version__ = "0.1.0"
__all__ = [
    "ReflexError",
    "__version__",
    "evaluate",
    "resume_iterate",
    "resume_loop",
    "run_iterate",
    "run_loop",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ReflexError":
        from pytest_reflex.errors import ReflexError

        return ReflexError
    if name in ("run_iterate", "resume_iterate"):
        from pytest_reflex.drivers.iterate import api as iterate

        return getattr(iterate, name)
    from pytest_reflex import api

    return getattr(api, name)
