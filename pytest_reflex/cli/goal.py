"""``pytest-reflex goal``: the group; each verb's module is loaded when it is used."""

from __future__ import annotations

from pytest_reflex.cli.lazy import LazyGroup

# verb: (module:command, one line of help)
VERBS = {
    "score": ("goal_score:score", "Score how clear a spec is."),
}

goal = LazyGroup(
    VERBS,
    name="goal",
    short_help="Turn a spec into criteria, and work until each of them is proven.",
    help="Turn a spec into criteria, and work until each of them is proven.",
)
