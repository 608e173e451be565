"""F11 and F13: folders that cannot be written, that go away, and file systems without fsync.

The command lines run as an ordinary user, because root may write anywhere.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from pytest_reflex.errors import ExitCode
from tests.faults.aftermath import Ground, ground
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Fault
from tests.faults.project import CALLS, Project, differences, faults_of
from tests.faults.warm import NOBODY, Ran

RESUME = ("loop", "resume", "run", "--quiet")
TOLD = (ExitCode.USAGE, ExitCode.NOT_PERSISTED, ExitCode.TAMPERED)


def figure(full: bool) -> Figure:
    with ground() as place:
        place.folder.chmod(0o755)
        killed = place.killed()
        chosen = CASES if full else SAMPLE
        return of_cases((name, CASES[name](place, killed)) for name in chosen)


def _own(project: Project) -> Project:
    """Give a project to the ordinary user."""
    if os.geteuid() == 0:
        for path in (project.folder, *project.folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return project


def _drop(project: Project) -> None:
    for path in (project.folder, *project.folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(project.folder)


def _refused(ran: Ran, project: Project, paid: int) -> list[str]:
    """One line says what could not be done, and no agent was asked for it."""
    wrong = faults_of(ran, TOLD)
    if len(ran.stderr.strip().splitlines()) != 1:
        wrong.append(f"it says: {ran.stderr}")
    if len(project.calls()) != paid:
        wrong.append(f"{len(project.calls()) - paid} calls were paid")
    return wrong


def _locked_up(where: Callable[[Project], Path], mode: int) -> Callable[..., list[str]]:
    """A new run where a folder has that mode."""

    def case(place: Ground, killed: Project) -> list[str]:
        project = place.project()
        where(project).mkdir(parents=True, exist_ok=True)
        _own(project)
        where(project).chmod(mode)
        ran = place.warm.one(project.new(), project.folder, ordinary=True)
        wrong = _refused(ran, project, paid=0)
        _drop(project)
        return wrong

    return case


def _run_folder(place: Ground, killed: Project) -> list[str]:
    """A resume in a run's folder that is read-only."""
    project = _own(place.copy(killed))
    paid = len(project.calls())
    project.run.chmod(0o500)
    ran = place.warm.one(RESUME, project.folder, ordinary=True)
    wrong = _refused(ran, project, paid)
    project.run.chmod(0o700)
    wrong += _finished(place, project, place.warm.one(RESUME, project.folder, ordinary=True))
    _drop(project)
    return wrong


def _files(place: Ground, killed: Project) -> list[str]:
    """Derived files that are read-only are replaced all the same, and stay read-only."""
    project = _own(place.copy(killed))
    for name in ("run.json", "artifact.md"):
        (project.run / name).chmod(0o400)
    wrong = _finished(place, project, place.warm.one(RESUME, project.folder, ordinary=True))
    if (project.run / "run.json").stat().st_mode & 0o777 != 0o400:
        wrong.append("the permissions of run.json changed")
    _drop(project)
    return wrong


def _history(place: Ground, killed: Project) -> list[str]:
    """A history that may not be written is refused before an agent is asked."""
    project = _own(place.copy(killed))
    paid = len(project.calls())
    (project.run / "history.jsonl").chmod(0o400)
    wrong = _refused(place.warm.one(RESUME, project.folder, ordinary=True), project, paid)
    _drop(project)
    return wrong


def _lost(trick: str) -> Callable[..., list[str]]:
    """The run's folder goes away while a REFINE of it is at work; nothing more is paid."""

    def case(place: Ground, killed: Project) -> list[str]:
        project = place.project()
        agent = project.folder / "agent.sh"
        agent.write_text(
            f'[ "$PYTEST_REFLEX_STEP" != REFINE ] || {{ {trick}; }}\n' + agent.read_text()
        )
        ran = place.warm.one(project.new(), _own(project).folder, ordinary=True)
        wrong = _refused(ran, project, paid=CALLS.index("REFINE") + 1)
        _drop(project)
        return wrong

    return case


def _fsync(number: int, status: int) -> Callable[..., list[str]]:
    """No fsync at all: the run goes on without; one that fails: it is told."""

    def case(place: Ground, killed: Project) -> list[str]:
        project = _own(place.project())
        fault = Fault(at=1, kind="error", number=number, sticky=True, only="fsync")
        ran = place.warm.one(project.new(), project.folder, below=project.state, fault=fault)
        wrong = faults_of(ran, [status])
        if not status:
            wrong += differences(project, place.unbroken)
        elif ran.stderr.count("could") != 1:
            wrong.append(f"it says: {ran.stderr}")
        _drop(project)
        return wrong

    return case


def _finished(place: Ground, project: Project, ran: Ran) -> list[str]:
    return [*faults_of(ran, [0]), *differences(project, place.unbroken)]


RUN = ".ai-factory/evolution/run"
CASES: dict[str, Callable[[Ground, Project], list[str]]] = {
    "state folder read-only": _locked_up(lambda project: project.root, 0o500),
    "state folder without permission": _locked_up(lambda project: project.state, 0o000),
    "run folder read-only": _run_folder,
    "files read-only": _files,
    "history read-only": _history,
    "run folder deleted meanwhile": _lost(f"rm -rf {RUN}"),
    "run folder replaced meanwhile": _lost(f"mv {RUN} gone; cp -r gone {RUN}"),
    "no fsync": _fsync(errno.EINVAL, ExitCode.OK),
    "fsync not supported": _fsync(errno.ENOTSUP, ExitCode.OK),
    "fsync fails": _fsync(errno.EIO, ExitCode.NOT_PERSISTED),
}
SAMPLE = (
    "state folder read-only",
    "history read-only",
    "run folder replaced meanwhile",
    "no fsync",
)
