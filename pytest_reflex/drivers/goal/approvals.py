"""Which commands of a goal a person has approved; nothing else is run.

A state file may come from an agent or with a cloned repository. So what it names is run only where
its hash was recorded in the user's state folder, for this project, when a person started a goal or
installed the hook. Criteria that start processes are approved with the content of all their files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.drivers.goal.model import Plan
from pytest_reflex.errors import StateError
from pytest_reflex.storage.files import read_file
from pytest_reflex.storage.user_state import UserFile

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.model.targets import CompiledCheck

KIND = "approved"
_LONGEST = 4_000_000


@dataclass(frozen=True, slots=True)
class Runnable:
    """What a plan would start: `text` for a person, and the hash that is recorded."""

    text: str = field(compare=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class Approvals:
    """What was approved for one project, when this was loaded or recorded last."""

    project: Path
    hashes: frozenset[str] = frozenset()

    @classmethod
    def load(cls, project: Path) -> Approvals:
        """Return what was approved; nothing where the record cannot be relied on."""
        found = UserFile(KIND, project).read().get(KIND, {})
        return cls(project, frozenset(found) if isinstance(found, dict) else frozenset())

    def missing(self, plans: Iterable[Plan], registry: Registry) -> tuple[Runnable, ...]:
        """Return what plans would start and nobody approved, each once.

        Raises ReflexError where criteria cannot be read.
        """
        needed = dict.fromkeys(
            one for plan in plans for one in runnables_of(plan, self.project, registry)
        )
        return tuple(one for one in needed if one.sha256 not in self.hashes)

    def record(self, more: Iterable[Runnable]) -> Approvals:
        """Return the approvals with some more, recorded for good; raises StateError."""
        new = {one.sha256: one.text for one in more}
        if not new:
            return self
        with UserFile(KIND, self.project).changing() as wire:
            known = wire.get(KIND, {})
            wire[KIND] = (known if isinstance(known, dict) else {}) | new
            return Approvals(self.project, frozenset(wire[KIND]))


def runnables_of(plan: Plan, project: Path, registry: Registry) -> Iterator[Runnable]:
    """Yield what a plan would start; raises ReflexError where criteria cannot be read."""
    if plan.criteria:
        if found := _criteria(plan, project, registry):
            yield found
    elif plan.command:
        yield Runnable(plan.command, _hash({"command": plan.command}))


def _criteria(plan: Plan, project: Path, registry: Registry) -> Runnable | None:
    """Return the criteria of a plan where a check of them starts a process, else None."""
    from pytest_reflex.checks.registry import compile_all
    from pytest_reflex.criteria.load import read_criteria
    from pytest_reflex.drivers.common.judging_files import commands_in

    criteria, files = read_criteria(plan.criteria, registry=registry, relative_to=project)
    checks = compile_all(criteria, registry)
    if not any(map(starts_process, checks)):
        return None
    contents = [[str(path), _sum_of(path)] for path in files]
    key = {"criteria": plan.criteria, "artifact": plan.artifact, "files": contents}
    commands = [
        one if isinstance(one, str) else " ".join(map(str, one))
        for one in commands_in(criteria, checks)
    ]
    text = f"criteria {plan.criteria} for {plan.artifact or 'what they name'}"
    return Runnable("; ".join((text, *dict.fromkeys(commands))), _hash(key))


def starts_process(check: CompiledCheck) -> bool:
    """Return whether a check may start a process; a judge is never asked here."""
    return not (check.in_process or check.is_judged)


def _sum_of(path: Path) -> str:
    try:
        return hashlib.sha256(read_file(path.resolve(), _LONGEST)).hexdigest()
    except OSError as error:
        raise StateError(f"{path} could not be read: {error.strerror}") from None


def _hash(key: Any) -> str:
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()


def describe_refusal(missing: Iterable[Runnable]) -> str:
    """Return why something was not run, for evidence."""
    return "not run, because nobody approved it: " + " | ".join(one.text for one in missing)
