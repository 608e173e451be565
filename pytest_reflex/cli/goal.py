"""``pytest-reflex goal``: the group; each verb's module is loaded when it is used."""

from __future__ import annotations

from pytest_reflex.cli.lazy import LazyGroup

# verb: (module:command, one line of help)
GOAL_VERBS = {
    "start": ("goal_drive:start", "Work on a spec until each criterion is proven."),
    "continue": ("goal_drive:continue_", "Go on with a goal that is paused or was interrupted."),
    "status": ("goal_look:status", "Show where the goal stands."),
    "check": ("goal_look:check", "Verify the criteria now."),
    "cancel": ("goal_look:cancel", "End the goal, and remove its state."),
    "score": ("goal_score:score", "Score how clear a spec is."),
}

goal = LazyGroup(
    GOAL_VERBS,
    name="goal",
    short_help="Turn a spec into criteria, and work until each of them is proven.",
    help="Turn a spec into criteria, and work until each of them is proven.",
)
