"""``pytest-reflex loop``: the group; each verb's module is loaded when it is used."""

from __future__ import annotations

from pytest_reflex.cli.lazy import LazyGroup

# verb: (module:command, one line of help)
LOOP_VERBS = {
    "new": ("loop_drive:new", "Start a loop for a task."),
    "resume": ("loop_drive:resume", "Continue an interrupted loop."),
    "extend": ("loop_extend:extend", "Let a loop that has stopped go on."),
    "verify": ("loop_verify:verify", "Evaluate the artifact of a loop again."),
    "stop": ("loop_stop:stop", "Ask a loop to stop."),
    "feedback": ("loop_manage:feedback", "Give feedback for the next critique."),
    "status": ("loop_look:status", "Show where a loop stands."),
    "list": ("loop_look:list_", "List all loops."),
    "history": ("loop_look:history", "Show what happened in a loop."),
    "show": ("loop_look:show", "Print the artifact of a loop."),
    "clean": ("loop_manage:clean", "Remove the files of loops."),
}

loop = LazyGroup(
    LOOP_VERBS,
    name="loop",
    short_help="Run a Reflex loop: evaluate, critique and refine until it passes.",
    help="Evaluate an artifact, critique what failed, refine it, until its criteria hold.\n\n"
    "All state is on disk under .ai-factory/evolution; `resume` continues after anything.",
)
