"""The recording of a loop over a session: what its agents were asked and answered.

Limits: what a tool changes in files itself is in the history and not in the recording, so only a
tool that answers with texts can be replayed.
"""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.agents.recorder import Recorder
from pytest_reflex.host import Host
from pytest_reflex.model.run import RunState
from pytest_reflex.settings import Settings


def recorder_of(settings: Settings, root: Path) -> Recorder | None:
    """Return what records a new run, if `loop.record` asks for it; raises UsageError."""
    template = settings["loop.record"]
    return Recorder.planned(template, root) if template else None


def recorder_again(state: RunState, root: Path) -> tuple[Recorder | None, str]:
    """Return what goes on recording a run, or a warning where its recording is gone."""
    template = state.setup.get("record")
    if not template:
        return None, ""
    recorder = Recorder(template=template, project=root)
    warning = recorder.go_on(state.alias, state.run_id)
    return (None, warning) if warning else (recorder, "")


def close_recording(host: Host) -> None:
    """Let go of the recording of a run that is left."""
    for _, plugin in host.manager.list_name_plugin():
        if isinstance(plugin, Recorder):
            plugin.close()
