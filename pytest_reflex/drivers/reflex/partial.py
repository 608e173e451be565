"""What an agent had written when it was stopped or failed: never used, but paid for: it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.statefile import ARTIFACT
from pytest_reflex.errors import StateError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.plain import one_line
from pytest_reflex.storage.aside import keep_aside


def keep_partial(place: Path, text: str, beside: str) -> tuple[str, str]:
    """Keep partial output in `<place>.partial-<n>`; return that file's name and a sentence.

    `beside` is the file that people know in the same folder. A disk that takes no more stops
    nothing here: the name is empty then, and the sentence says so.
    """
    data = text.encode("utf-8", "backslashreplace")
    try:
        kept = keep_aside(place, data, "partial")
    except StateError as error:
        return "", f"what it had written could not be kept: {error.problems[0].message}"
    return kept.name, f"what it had written is kept in {one_line(kept.name)} beside {beside}"


def keep_in_run(folder: Path, step: Step, text: str) -> tuple[str, str]:
    """Keep the partial output of a step in the folder of its run, as `keep_partial` does."""
    return keep_partial(folder / step.value.lower(), text, ARTIFACT)


def keep_beside(artifact: Path, step: Step, text: str) -> tuple[str, str]:
    """Keep the partial output of a step of no run beside its artifact, as `keep_partial` does."""
    name = artifact.name
    return keep_partial(artifact.with_name(f"{name}.{step.value.lower()}"), text, one_line(name))


def with_partial(payload: Mapping[str, Any], kept: tuple[str, str]) -> dict[str, Any]:
    """Return the payload of a phase_error that says where partial output is kept."""
    name, sentence = kept
    told = {**payload, "message": f"{payload['message']}; {sentence}"}
    return {**told, "partial": name} if name else told
