"""The composition root: one plugin manager, the built-ins registered like anyone's plugins."""

from __future__ import annotations
