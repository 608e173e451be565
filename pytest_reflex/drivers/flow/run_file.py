"""The state of one run of a flow: ours, or what another program left of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.record import Record
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.drivers.flow.foreign import NAME, foreign_record
from pytest_reflex.errors import UsageError


class FlowRunFile(RunFile):
    """The files of one run of a flow, also of one that we have no state of yet."""

    def __init__(self, project: Path, run: str) -> None:
        super().__init__(project, NAME, run)
        self._project = project

    def read(self) -> Record | None:
        """Return the state, None where there is none; raises StateError, and writes nothing."""
        return super().read() or foreign_record(self._project, self.run)

    def is_foreign(self) -> bool:
        """Return whether there is a run here of which we have no state."""
        return super().read() is None

    def adopt(self, git: Git | None, say: Callable[[str], object]) -> None:
        """Have what another program left as a state of ours."""
        record = self.found()
        data = dict(record.data)
        if git is not None:
            data["base_commit"] = git.common_commit(data["base"], data["branch"]) or git.head()
            if left := [path for path in git.dirty() if not path.startswith(".ai-loop/")]:
                say(f"not committed yet, and left so until it is changed: {', '.join(left[:5])}")
        with self.own(say) as file:
            if file.read() is None:
                file.save(replace(record, data=data))


def refuse_missing_branch(git: Git, record: Record) -> None:
    """Raise UsageError where the branch of a run that another program left is not there."""
    branch = record.data["branch"]
    if branch not in git.branches():
        hint = f"git switch -c {branch}, or begin a new run: flow run --new TASK"
        raise UsageError(f"the branch of {record.run}, {branch}, does not exist", hint=hint)
