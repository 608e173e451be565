"""``pytest-reflex flow``: the group; each verb's module is loaded when it is used."""

from __future__ import annotations

from pytest_reflex.cli.lazy import LazyGroup

# verb: (module:command, one line of help)
FLOW_VERBS = {
    "setup": ("flow_setup:setup", "Write a flow and its agent files."),
    "check": ("flow_look:check", "Say whether the flow can be run."),
    "run": ("flow_drive:run", "Begin a run for a task."),
    "resume": ("flow_drive:resume", "Continue a run."),
    "status": ("flow_look:status", "Show where a run stands, as a tree."),
    "list": ("flow_look:list_", "List all runs."),
    "show": ("flow_look:show_", "Draw a run: iterations, sensors, setpoints, cost."),
    "stop": ("flow_manage:stop", "Ask a run to stop."),
    "feedback": ("flow_manage:feedback", "Say what the next decision has to take into account."),
}

flow = LazyGroup(
    FLOW_VERBS,
    name="flow",
    short_help="Run loops within loops: measure, decide, act, with a commit at each boundary.",
    help="Run the tree of loops in .ai-loop/flow.yaml. Each node measures by its sensors, decides "
    "by its controller and acts, by an AI tool or by the loop within it.\n\n"
    "Each boundary is a commit on a branch of the run; `resume` continues after anything.",
)
