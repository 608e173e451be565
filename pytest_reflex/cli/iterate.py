"""``pytest-reflex iterate``: the group; each verb's module is loaded when it is used."""

from __future__ import annotations

from pytest_reflex.cli.lazy import LazyGroup

# verb: (module:command, one line of help)
ITERATE_VERBS = {
    "run": ("iterate_drive:run", "Run a procedure, iteration after iteration."),
    "resume": ("iterate_drive:resume", "Continue a run that was interrupted or aborted."),
    "list": ("iterate_look:list_", "List the procedures."),
    "info": ("iterate_look:info", "Show everything about a procedure."),
    "history": ("iterate_history:history", "Show past runs, or the iterations of one."),
    "status": ("iterate_status:status", "Show where a procedure stands, or all of them."),
    "stop": ("iterate_manage:stop", "Ask a run to stop."),
    "feedback": (
        "iterate_manage:feedback",
        "Say what the next iteration has to take into account.",
    ),
    "clean": ("iterate_manage:clean", "Remove state and logs of procedures."),
}

iterate = LazyGroup(
    ITERATE_VERBS,
    name="iterate",
    short_help="Run an AI tool again and again, in fresh processes.",
    help="Give an AI tool the prompt of a procedure, in a fresh process per iteration, until a "
    "limit, its success signal, or too many failures.\n\n"
    "The state is on disk under .rooda; `resume` continues after anything.",
)
