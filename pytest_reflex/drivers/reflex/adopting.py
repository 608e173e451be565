"""Taking over a run that another program began: what holds from now on is that of any run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pytest_reflex.checks.registry import built_in
from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.reflex.prepared import WITHHELD, commands_made
from pytest_reflex.drivers.reflex.project_watch import PROJECT, ProjectWatch, Scope
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.seal import holding_of, manifest_of, seal_of
from pytest_reflex.drivers.reflex.setup import limits_of
from pytest_reflex.integrity.above import files_beside
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event
from pytest_reflex.settings import Settings


def adopt(
    files: RunFiles,
    *,
    project: Path,
    agents: Mapping[Step, str],
    settings: Settings,
    allow_commands: bool = False,
) -> Event:
    """Make durable that a run is ours from now on; its limits but the iterations are configured.

    Its rules, the code of plugins and the project are held as they are now. Where a person allows
    it, commands that agents make are run, those in its checks too.
    """
    state, plugins = files.state, settings["plugins"]
    holding = holding_of(
        state.criteria,
        built_in(),
        project=project,
        artifact=files.folder.parent,
        may_change=settings["loop.may_change"],
    )
    sealed = manifest_of(files=[], plugins=plugins, artifact=files.artifact_path, project=project)
    scope = Scope(
        project=project,
        apart=own_paths(project, files.folder.parent),
        may_change=holding.may_change,
        writes=holding.writes,
    )
    beside = files_beside(files.folder.absolute()) if holding.programs else ()
    watch = ProjectWatch.begin(scope, holding.programs, beside, state=files.folder.parent)
    held = [one for one in state.checks or () if one["type"] == WITHHELD]
    commands = commands_made(
        [{**one, "type": "executable"} for one in held],
        state.criteria,
        allow_commands=allow_commands,
    )
    limits = replace(limits_of(settings), max_iterations=state.limits.max_iterations)
    setup = {
        **state.setup,
        "agents": {step.value.lower(): name for step, name in agents.items()},
        "evaluator": settings["loop.evaluator"],
        "guard": settings["loop.guard"],
        "plugins": list(plugins),
        "judge": settings["judge"],
        "allow_agent_commands": allow_commands,
    }
    return files.adopt(
        {
            "limits": limits.to_json(),
            "setup": {key: value for key, value in setup.items() if value != ""},
            "seal": seal_of(state.criteria, plugins),
            "sealed": sealed.to_json(),
            PROJECT: watch.record(),
            **({"agent_commands": commands} if commands else {}),
        },
        allow_commands=allow_commands,
    )
