"""What an agent had written when its time was up: never used, but paid for, so it is kept."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.drivers.reflex.steps import Done
from pytest_reflex.errors import StateError
from pytest_reflex.store.aside import keep_aside


def keep_partial(folder: Path, done: Done) -> dict[str, str]:
    """Keep the partial output of a step in the run's folder; return what its event says of it.

    A disk that takes no more does not stop the loop here: the event says so.
    """
    data = done.partial.encode("utf-8", "backslashreplace")
    message = done.payload["message"]
    try:
        kept = keep_aside(folder / done.step.value.lower(), data, "partial")
    except StateError as error:
        told = f"what it had written could not be kept: {error.problems[0].message}"
        return {"message": f"{message}; {told}"}
    told = f"what it had written is kept in {kept.name} beside artifact.md"
    return {"message": f"{message}; {told}", "partial": kept.name}
