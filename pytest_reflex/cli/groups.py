"""The verbs of ``pytest-reflex`` and their groups; each verb is imported when it is called.

Promise: whatever is wrong with its command line, `hook stop` gives one document and lets go: an
exit status of another kind would hold a client, or give it no answer.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ReflexError, UsageError, did_you_mean


class OwnOptions(click.Command):
    """A command whose options are never taken for what another option says."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _refuse_swallowed(self, ctx, args)
        return super().parse_args(ctx, args)


def _refuse_swallowed(command: click.Command, context: click.Context, args: list[str]) -> None:
    """Raise UsageError for an option without a value that the next option would become."""
    options = {
        name: parameter
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    words = iter(args)
    for word in words:
        if word == "--":
            return
        option = options.get(word)
        if option is None or option.is_flag or option.count:
            continue
        value = next(words, "")
        if value.partition("=")[0] in options:
            raise UsageError(
                f"{word} has no value: {value} is an option itself",
                hint=f"for that text: {flag_of(option)}={value}",
            )


class LazyGroup(click.Group):
    """A group that imports a verb when it is called.

    `verbs` maps a name to ("module:command", one line of help).
    """

    def __init__(self, verbs: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(**options)
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.verbs:
            return None
        module, _, name = self.verbs[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(f"pytest_reflex.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Releases of click differ in what a group without arguments does.
        if not args and not ctx.resilient_parsing:
            give(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_word = not args[0].startswith("-") and not ctx.resilient_parsing
        if is_word and args[0] not in self.verbs:
            hint = did_you_mean(args[0], self.verbs)
            raise click.UsageError(f"No such command {args[0]!r} ({hint}).", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _refuse_repeated(command, click.Context(command, parent=ctx, info_name=name), rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.verbs.items()])


def _refuse_repeated(command: click.Command, context: click.Context, arguments: list[str]) -> None:
    """Raise UsageError where an option of the evaluation is given twice: the last would win.

    Words that do not parse are left to the command: it may read some of them in its own way.
    """
    try:
        _, _, order = command.make_parser(context).parse_args(list(arguments))
    except click.UsageError:
        return
    for parameter, times in Counter(order).items():
        if times > 1 and parameter.name in _JUDGING and _takes_one(parameter):
            raise UsageError(
                f"{flag_of(parameter)} is given {times} times, and only one of them could count",
                hint=_JOIN.get(parameter.name or "", "name it once"),
            )


_JUDGING = ("criteria", "template", "phase", "threshold", "judge", "evaluation", "issues", "report")
_JOIN = {
    "criteria": "name one file; it may join several by extends: [ONE, OTHER]",
    "template": "name one file; it may join several by extends: [ONE, OTHER]",
}


def _takes_one(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not parameter.multiple


def flag_of(parameter: click.Parameter | None) -> str:
    """Return the longest name of an option, as a message names it."""
    if parameter is None:
        return "the path"
    return max(parameter.opts, key=len) if parameter.opts else str(parameter.name)


# verb: (module:command, one line of help)
CRITERIA_VERBS = {
    "new": ("criteria_write:new", "Write a criteria file to start from."),
    "list": ("criteria_look:list_", "List the templates that can be named."),
    "show": ("criteria_look:show", "Show the effective rules, with everything they inherit."),
    "explain": ("criteria_look:explain", "Explain one rule."),
    "normalize": ("criteria_look:normalize", "Print the full rules, nothing inherited."),
    "compile": ("criteria_look:compile_", "Show what will run, and run nothing."),
    "lint": ("criteria_test:lint", "Say what is wrong with criteria files, and what is odd."),
    "test": ("criteria_test:test", "Try rules on their good and bad samples."),
    "prove": ("criteria_test:prove", "Show that rules can fail."),
    "fix": ("criteria_write:fix", "Apply the fixes that failing rules carry."),
}

criteria = LazyGroup(
    CRITERIA_VERBS,
    name="criteria",
    short_help="Look at criteria and templates, write them, put them to the test.",
    help="Look at criteria and templates, write them, and put them to the test.",
)


# verb: (module:command, one line of help)
FLOW_VERBS = {
    "setup": ("flow_look:setup", "Write a flow and its agent files."),
    "check": ("flow_look:check", "Say whether the flow can be run."),
    "run": ("flow_drive:run", "Begin a run for a task."),
    "resume": ("flow_drive:resume", "Continue a run."),
    "status": ("flow_look:status", "Show where a run stands, as a tree."),
    "list": ("flow_look:list_", "List all runs."),
    "show": ("flow_look:show_", "Draw a run: iterations, sensors, setpoints, cost."),
    "stop": ("flow_look:stop", "Ask a run to stop."),
    "feedback": ("flow_look:feedback", "Say what the next decision has to take into account."),
}

flow = LazyGroup(
    FLOW_VERBS,
    name="flow",
    short_help="Run loops within loops: measure, decide, act, with a commit at each boundary.",
    help="Run the tree of loops in .ai-loop/flow.yaml. Each node measures by its sensors, decides "
    "by its controller and acts, by an AI tool or by the loop within it.\n\n"
    "Each boundary is a commit on a branch of the run; `resume` continues after anything.",
)


# verb: (module:command, one line of help)
GOAL_VERBS = {
    "start": ("goal_drive:start", "Work on a spec until each criterion is proven."),
    "continue": ("goal_drive:continue_", "Go on with a goal that is paused or was interrupted."),
    "status": ("goal_look:status", "Show where the goal stands."),
    "check": ("goal_look:check", "Verify the criteria now."),
    "cancel": ("goal_look:cancel", "End the goal, and remove its state."),
    "score": ("goal_look:score", "Score how clear a spec is."),
}

goal = LazyGroup(
    GOAL_VERBS,
    name="goal",
    short_help="Turn a spec into criteria, and work until each of them is proven.",
    help="Turn a spec into criteria, and work until each of them is proven.",
)


# verb: (module:command, one line of help)
HOOK_VERBS = {
    "stop": ("hook_stop:stop", "Answer a client that is about to stop (it runs this)."),
    "install": (
        "hook_manage:install",
        "Put the hook into the settings of a client.",
    ),
    "status": ("hook_manage:status", "Say where the hook is installed and what it waits for."),
    "test": ("hook_manage:test", "Show what the hook would answer now, without counting it."),
    "release": ("hook_manage:release", "Forget the session of a goal, and how often it was held."),
    "pre-commit": ("evaluate:pre_commit", "Check files that are about to be committed."),
}


class HookGroup(LazyGroup):
    """The verbs of the hook."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = args[:1] == ["stop"]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, ReflexError) as error:
            if not ctx.meta[__name__]:
                raise
            from pytest_reflex.model.plain import escape_control

            text = error.format_message() if isinstance(error, click.ClickException) else str(error)
            say(escape_control(f"pytest-reflex: stop allowed: {text}"))
            give_json({})
            return 0


hook = HookGroup(
    HOOK_VERBS,
    name="hook",
    short_help="Hold an AI tool back until a goal, or an artifact, passes.",
    help="Hold an AI tool back until a goal, or an artifact, passes.",
)


# verb: (module:command, one line of help)
ITERATE_VERBS = {
    "run": ("iterate_drive:run", "Run a procedure, iteration after iteration."),
    "resume": ("iterate_drive:resume", "Continue a run that was interrupted or aborted."),
    "list": ("iterate_look:list_", "List the procedures."),
    "info": ("iterate_look:info", "Show everything about a procedure."),
    "history": ("iterate_look:history", "Show past runs, or the iterations of one."),
    "status": ("iterate_look:status", "Show where a procedure stands, or all of them."),
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


# verb: (module:command, one line of help)
LOOP_VERBS = {
    "new": ("loop_drive:new", "Start a loop for a task."),
    "resume": ("loop_drive:resume", "Continue an interrupted loop."),
    "extend": ("loop_extend:extend", "Let a loop that has stopped go on."),
    "verify": ("loop_look:verify", "Evaluate the artifact of a loop again."),
    "stop": ("loop_manage:stop", "Ask a loop to stop."),
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


# verb: (module:command, one line of help). A new verb is one file and one line here.
VERBS = {
    "evaluate": ("evaluate:evaluate", "Check artifacts against criteria and print the verdict."),
    "critique": ("single_steps:critique", "Say what to change in an artifact, as issues."),
    "refine": (
        "single_steps:refine",
        "Fix an artifact: safe fixes, then the agent for what remains.",
    ),
    "loop": ("groups:loop", "Run a Reflex loop: evaluate, critique and refine until it passes."),
    "iterate": ("groups:iterate", "Run an AI tool again and again, in fresh processes."),
    "flow": ("groups:flow", "Run loops within loops: measure, decide, act, commit."),
    "goal": ("groups:goal", "Turn a spec into criteria, and work until each is proven."),
    "hook": ("groups:hook", "Hold an AI tool back until a goal, or an artifact, passes."),
    "runs": ("runs:runs", "List the runs of all drivers."),
    "criteria": ("groups:criteria", "Look at criteria, write them, put them to the test."),
    "doctor": ("doctor:doctor", "Say what is installed, configured and wrong."),
    "config": ("config:config", "Show the settings in force and where each came from."),
    "schema": ("config:schema", "Print a JSON Schema, or the names of all."),
}
