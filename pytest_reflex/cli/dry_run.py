"""``--dry-run``: what a loop would get and do, shown without doing or writing anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.drivers.reflex.decide import Action
from pytest_reflex.drivers.reflex.preview import (
    START,
    RunPreview,
    outlook,
    outlook_of_new,
    requests_of,
)
from pytest_reflex.drivers.reflex.run_status import RunOverview, find_interrupted, find_run
from pytest_reflex.drivers.reflex.survey import ended_error
from pytest_reflex.errors import ExitCode
from pytest_reflex.host import Host, open_host
from pytest_reflex.model.enums import Step
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.model.run import RunState
from pytest_reflex.model.single import CommandPreview, PromptTokens, StepPreview
from pytest_reflex.model.steps import StepRequest
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.settings import Settings

if TYPE_CHECKING:
    from pytest_reflex.drivers.iterate.model import State as IterateState
    from pytest_reflex.reports.dry_run import JudgeQuestion


def show_new(
    host: Host, proposal: Any, settings: Settings, agents: Mapping[Step, str], *, as_json: bool
) -> int:
    """Show what a loop would do that is not begun."""

    project = Path.cwd()
    outlook = outlook_of_new(proposal, settings=settings, project=project, agents=agents)
    note = f"where a prompt has {START}, the time of the start will be"
    return _show(host, outlook, agents, as_json=as_json, note=note)


def find_unfinished(root: Path, alias: str | None) -> RunOverview:
    """Return a run that could be resumed; raises UsageError where it has ended."""
    run = find_run(root, alias or find_interrupted(root))
    if run.state.status is not RunStatus.RUNNING:
        raise ended_error(run)
    return run


def preview_resume(
    host: Host, run: RunOverview, agents: Mapping[Step, str], *, as_json: bool
) -> int:
    """Show what an interrupted loop would do; it is neither locked nor recovered."""
    from pytest_reflex.drivers.reflex.history import read_events, text_after
    from pytest_reflex.drivers.reflex.statefile import ARTIFACT, HISTORY
    from pytest_reflex.storage.journal import read_journal

    path = run.folder / HISTORY
    events, state = read_events(path, read_journal(path).records)
    text = text_after(events)
    if run.state.artifact_status == "stale":
        text = (run.folder / ARTIFACT).read_text(encoding="utf-8")
        state = replace(state, planned=True, produced=True, evaluated=False, critiqued=False)
    note = "another process is running this loop: a resume would be refused" if run.alive else ""
    ahead = outlook(state, artifact=text, artifact_path=str(run.folder / ARTIFACT), events=events)
    return _show(host, ahead, agents, as_json=as_json, note=note)


def show_iteration(
    procedure: str, options: Any, settings: Settings, found: IterateState | None = None
) -> int:
    """Show what the next iteration of a procedure would be given, and its gates.

    That is the one behind the state that was `found`, if there is one.
    """
    from pytest_reflex.drivers.iterate.log import Log
    from pytest_reflex.drivers.iterate.procedures import is_over, over_budget_text
    from pytest_reflex.drivers.iterate.prompt import prompt_sections
    from pytest_reflex.drivers.iterate.setup import prepare
    from pytest_reflex.drivers.iterate.survey import gate_rows
    from pytest_reflex.reports.dry_run import iteration_text

    host = open_host(settings["plugins"], Path.cwd())
    work = prepare(procedure, options, settings=settings, host=host, project=Path.cwd(), runs=False)
    done, said = (found.iteration, found.feedback) if found else (0, {})
    last = found.last if found else {}
    prompt = work.prompt(done + 1, work.bounds.max_iterations, tuple(said.values()), last)
    tokens = work.tokens(prompt)
    if is_over(tokens, work.token_budget):
        Log(procedure, say).warning(over_budget_text(tokens, work.token_budget))
    give(
        iteration_text(
            work.procedure.name,
            _tool_text(work.agent),
            prompt,
            tokens=tokens,
            parts=[(title, work.tokens(text)) for title, text in prompt_sections(prompt)],
            budget=work.token_budget,
            gates=gate_rows(work.procedure, settings),
            missing=work.gates.missing_programs(),
            protected=work.gates.protected_files(),
        )
    )
    return ExitCode.OK


def _tool_text(agent: Any) -> str:
    """Return the command of a tool as it would be typed, and what keeps it from being run."""
    from pytest_reflex.agents.command import CommandAgent
    from pytest_reflex.agents.probe import command_of
    from pytest_reflex.drivers.iterate.setup import MissingTool
    from pytest_reflex.reports.dry_run import command_line

    if isinstance(agent, MissingTool):
        return agent.said
    if not isinstance(agent, CommandAgent):
        return f"agent {agent.name}"
    unset = agent.unset_variable()
    return command_line(command_of(agent, {}, may_edit=True)) + (
        f" (not set: ${unset})" if unset else ""
    )


def _show(
    host: Host, outlook: RunPreview, agents: Mapping[Step, str], *, as_json: bool, note: str = ""
) -> int:
    from pytest_reflex.checks.command import missing_program
    from pytest_reflex.checks.judged import add_judged_checks, most_votes
    from pytest_reflex.checks.registry import compile_rules
    from pytest_reflex.criteria.author.formatting import formatters_of
    from pytest_reflex.reports.dry_run import DryRun, dry_run_document, dry_run_text

    criteria, level = outlook.state.criteria, outlook.state.level
    active, registry = criteria.active(level), host.registry
    rules = add_judged_checks(_criteria_with_checks(outlook.state), registry).active(level)
    checks = compile_rules(rules, criteria.vars, registry)
    own = {rule.id for rule in active if rule.checks}
    formatters = [
        (rule.id, one) for rule, fix, one in formatters_of(active, criteria.commands) if fix.safe
    ]
    commands = [
        (rule_id, command)
        for (rule_id, _), check in checks.items()
        if rule_id in own
        for command in check.commands
    ]
    looked = (
        (rule_id, missing_program(one.written or one.argv))
        for rule_id, one in (*commands, *formatters)
    )
    dry = DryRun(
        state=outlook.state,
        due=_due(outlook),
        agents=agents,
        steps=tuple(_preview(host, request, unknown) for request, unknown in requests_of(outlook)),
        cwd=str(Path.cwd()),
        commands=tuple(commands),
        formatters=tuple(formatters),
        missing={rule_id: program for rule_id, program in looked if program},
        asked=tuple(_judge_questions(host, rules, checks)),
        votes=most_votes(criteria.rules, compile_rules(criteria.rules, criteria.vars, registry)),
        note=note,
    )
    if as_json:
        give_json(dry_run_document(dry))
    else:
        give(dry_run_text(dry))
    return ExitCode.OK


def _criteria_with_checks(state: RunState) -> Criteria:
    """Return the criteria with the checks that PREPARE gave, where it was."""
    from pytest_reflex.drivers.reflex.prepared_checks import effective

    return effective(state.criteria, state.checks)


def _due(outlook: RunPreview) -> str:
    decision = outlook.decision
    if decision.act is Action.VERIFY:
        return f"{Step.EVALUATE.value}: what is recorded is verified first"
    if decision.act is Action.STEP and decision.step:
        return decision.step.value
    reason = decision.reason.value if decision.reason else "nothing"
    return f"the end: {reason}" + (f" ({decision.detail})" if decision.detail else "")


def _preview(host: Host, request: StepRequest, unknown: tuple[str, ...]) -> StepPreview:
    from pytest_reflex.agents.command import CommandAgent
    from pytest_reflex.agents.probe import ANSWER_FILE
    from pytest_reflex.agents.prompts import prompt_for, prompt_parts
    from pytest_reflex.drivers.iterate.procedures import tokens_of

    agent, first = find_answerers(host, request.step)
    is_command = isinstance(agent, CommandAgent)
    prompt = agent.add_note(prompt_for(request), ANSWER_FILE) if is_command else prompt_for(request)
    parts = [(part.title, part.text) for part in prompt_parts(request)]
    if is_command and agent.note:
        parts.append(("Note", agent.note))
    count = partial(tokens_of, hooks=host.hooks)
    return StepPreview(
        step=request.step,
        agent=agent.name,
        prompt=prompt,
        tokens=_tokens(parts, count(prompt), count),
        unknown=unknown,
        asked_first=first,
        command=_command(agent, request) if is_command else None,
    )


def _command(agent: Any, request: StepRequest) -> CommandPreview:
    from pytest_reflex.agents.command import contract_of, step_environment
    from pytest_reflex.agents.probe import command_of

    may_edit, contract = request.files is not None, contract_of(request)
    return command_of(agent, step_environment(request), may_edit=may_edit, contract=contract)


def _judge_questions(
    host: Host, rules: Iterable[Rule], checks: Mapping[tuple[str, int], CompiledCheck]
) -> Iterator[JudgeQuestion]:
    """Yield what an LLM judge is asked by checks, with the tokens of its prompts."""
    from pytest_reflex.agents.judge import judge_sections
    from pytest_reflex.drivers.iterate.procedures import tokens_of
    from pytest_reflex.reports.dry_run import JudgeQuestion

    count = partial(tokens_of, hooks=host.hooks)
    by_id = {rule.id: rule for rule in rules}
    for (rule_id, _), check in checks.items():
        for part in check.parts:
            if part.votes and part.preview:
                known = part.preview(by_id[rule_id], host.registry.judge)
                prompt = known["prompt"] or ""
                tokens = _tokens(judge_sections(prompt), count(prompt), count)
                yield JudgeQuestion(rule_id, known, tokens)


def _tokens(
    parts: Sequence[tuple[str, str]], total: int, count: Callable[[str], int]
) -> PromptTokens:
    return PromptTokens(total=total, parts=tuple((title, count(text)) for title, text in parts))


def find_answerers(host: Host, step: Step) -> tuple[Any, tuple[str, ...]]:
    """Return the agent of a step, and the names of plugins whose hooks may answer before it."""
    from pytest_reflex.agents.replay import ReplayRouter
    from pytest_reflex.agents.router import AgentRouter

    caller = getattr(host.hooks, f"pytest_reflex_{step.value.lower()}")
    agent: Any = None
    first: list[str] = []
    for implementation in reversed(caller.get_hookimpls()):
        router = implementation.plugin
        if isinstance(router, AgentRouter):
            return router.agents[step], tuple(first)
        if isinstance(router, ReplayRouter):
            return router.agent, tuple(first)
        first.append(implementation.plugin_name)
    return agent, tuple(first)
