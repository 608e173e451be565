"""``pytest-reflex criteria``: the group; each verb's module is loaded when it is used."""

from __future__ import annotations

from pytest_reflex.cli.lazy import LazyGroup

# verb: (module:command, one line of help)
CRITERIA_VERBS = {
    "new": ("criteria_new:new", "Write a criteria file to start from."),
    "list": ("criteria_look:list_", "List the templates that can be named."),
    "show": ("criteria_look:show", "Show the effective rules, with everything they inherit."),
    "explain": ("criteria_look:explain", "Explain one rule."),
    "normalize": ("criteria_written:normalize", "Print the full rules, nothing inherited."),
    "compile": ("criteria_written:compile_", "Show what will run, and run nothing."),
    "lint": ("criteria_lint:lint", "Say what is wrong with criteria files, and what is odd."),
    "test": ("criteria_test:test", "Try rules on their good and bad samples."),
    "prove": ("criteria_prove:prove", "Show that rules can fail."),
    "fix": ("criteria_write:fix", "Apply the fixes that failing rules carry."),
}

criteria = LazyGroup(
    CRITERIA_VERBS,
    name="criteria",
    short_help="Look at criteria and templates, write them, put them to the test.",
    help="Look at criteria and templates, write them, and put them to the test.",
)
