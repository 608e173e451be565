"""Make frozen dataclasses quickly: filled as a twin without guards, then turned into the class.

A frozen dataclass with slots sets each field through `object.__setattr__`. For 10,000 rules with
their checks that is a quarter of the time that reading takes. A class with the same slots is
filled at full speed, and Python lets such an object change its class.
"""

from __future__ import annotations

from typing import Any


def twin_of(frozen: type) -> Any:
    """Return a class with the slots of `frozen`; set `__class__` when every slot is filled."""
    slots: tuple[str, ...] = frozen.__slots__  # type: ignore[attr-defined]
    return type(f"Loose{frozen.__name__}", (), {"__slots__": slots})
