"""The value of the fixture `reflex`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria


@dataclass(frozen=True, slots=True)
class Reflex:
    """Evaluates artifacts inside a test; commands of checks run in `root`."""

    root: Path
    judge: Any

    def evaluate(
        self,
        artifact: str | Path,
        criteria: str | Path | Criteria,
        *,
        phase: str | None = None,
        threshold: float | str | None = None,
        outside: bool = False,
    ) -> Evaluation:
        """Evaluate one artifact and return its evaluation; raises ReflexError where it cannot be.

        The gate of the session is not concerned: assert on what comes back.
        """
        found: Evaluation = self.judge(
            artifact, criteria, phase=phase, threshold=threshold, root=self.root, outside=outside
        )
        return found
