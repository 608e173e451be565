"""Dry runs of all drivers, for people and as JSON: prompts and commands, nothing done."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.model.enums import Step
from pytest_reflex.model.plain import escape_control, one_line, pluralize
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.run import RunState
from pytest_reflex.model.single import CommandPreview, PromptTokens, StepPreview
from pytest_reflex.model.targets import CheckCommand
from pytest_reflex.reports.proposal import gate_text, proposal_text

RULER = "──"
_MARK = "[DRY RUN]"
_SHOWN = 20
_LONGEST = 2_000
_TITLE = 60
_MAKING = (Step.PLAN, Step.PRODUCE, Step.PREPARE)


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """What a judge is asked by a check of a rule: the preview of the check, and its tokens."""

    rule_id: str
    preview: Mapping[str, Any]
    tokens: PromptTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What is shown: the state before the next step, `due` in words, and the steps to come.

    `note` says what else a real run would meet; `agents` are the names by step; `commands` are
    those that checks start, each with the id of its rule, `formatters` those that safe fixes start
    in REFINE; `missing` are those of their programs that are not installed, by rule; `asked` is
    what a judge is asked, and `votes` how often that is at most in one evaluation.
    """

    state: RunState
    due: str
    agents: Mapping[Step, str]
    steps: tuple[StepPreview, ...]
    cwd: str
    commands: tuple[tuple[str, CheckCommand], ...] = ()
    formatters: tuple[tuple[str, CheckCommand], ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[JudgeQuestion, ...] = ()
    votes: int = 0
    note: str = ""


def dry_run_text(dry: DryRun) -> str:
    """Return the whole of it for people; prompts stand as they are, but for control characters."""
    state = dry.state
    lines = [
        "Dry run: nothing is written, and no agent and no check is run",
        (
            f"Run: {escape_control(state.run_id)}, iteration {state.iteration}, "
            f"phase {state.level.value}"
        ),
        f"Task: {escape_control(state.task)}",
        proposal_text(
            state.criteria,
            state.limits,
            dry.agents,
            judge=state.setup.get("judge", ""),
            votes=dry.votes,
        ).rstrip("\n"),
        f"Next: {escape_control(dry.due)}",
        *([f"Note: {escape_control(dry.note)}"] if dry.note else []),
    ]
    making = [step for step in dry.steps if step.step in _MAKING]
    fixing = [step for step in dry.steps if step.step not in _MAKING]
    for step in making:
        lines += ["", *_step(step)]
    if dry.steps and not dry.state.evaluated:
        lines += ["", *_evaluate(dry)]
    if dry.formatters:
        lines += ["", *_fixes(dry)]
    for step in fixing:
        lines += ["", *_step(step)]
    return "\n".join(lines)


def _step(step: StepPreview) -> list[str]:
    known = "exact" if step.exact else f"not known yet: {', '.join(step.unknown)}"
    lines = [f"{RULER} {step.step.value} | agent {escape_control(step.agent)} | {known} {RULER}"]
    if step.asked_first:
        lines.append(f"Asked first: {escape_control(', '.join(step.asked_first))}")
    lines += _command(step.command) if step.command else ["Command: none"]
    return [*lines, _tokens(step.tokens), "Prompt:", escape_control(step.prompt).rstrip("\n")]


def _tokens(tokens: PromptTokens) -> str:
    return f"Tokens: {tokens.total:,} ({parts_text(tokens.parts)})"


def parts_text(parts: Iterable[tuple[str, int]]) -> str:
    """Return the tokens of each part of a prompt, in its order."""
    return ", ".join(f"{one_line(title, _TITLE)} {count:,}" for title, count in parts)


def command_line(command: CommandPreview) -> str:
    """Return a command as it would be typed, and that its program is not installed."""
    return f"{escape_control(command.typed)}{_absent(command.missing)}"


def _absent(program: str) -> str:
    return f" (not installed: {one_line(program)})" if program else ""


def iteration_text(
    procedure: str,
    agent: str,
    prompt: str,
    *,
    tokens: int,
    budget: int,
    parts: Iterable[tuple[str, int]] = (),
    gates: Iterable[Mapping[str, Any]] = (),
    missing: Mapping[str, str] | None = None,
    protected: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return what an iteration of a procedure would be given: the seed's lines, and the prompt.

    `agent` is its command line; `gates` are those of `iterate info`, `missing` their programs that
    are not installed, `protected` the files that may not change, by the names of the gates; `parts`
    are those of the prompt, with their tokens.
    """
    lines = [
        f"Procedure: {procedure}",
        f"Would execute with: {agent}",
        f"Token count: {tokens:,} / {budget:,} budget",
    ]
    if text := parts_text(parts):
        lines.append(f"Tokens by part: {text}")
    for gate in gates:
        absent = _absent((missing or {}).get(gate["name"], ""))
        lines.append(f"Gate {gate['name']}: {one_line(gate_text(gate), _LONGEST)}{absent}")
    for name, files in (protected or {}).items():
        if files:
            lines.append(f"Gate {name} protects: {_files(files)}")
    return "\n".join([*(f"{_MARK} {line}" for line in lines), "", prompt])


def _files(files: Sequence[str]) -> str:
    """Return what a gate protects: files of the project by name, of all others that there are."""
    own = [one_line(name) for name in files if not name.startswith("/")]
    shown = own[:_SHOWN]
    if more := len(own) - len(shown):
        shown.append(pluralize(more, "more file"))
    if len(own) < len(files):
        shown.append("programs and what they read at their start")
    return ", ".join(shown)


def _command(command: CommandPreview) -> list[str]:
    return [
        f"Command: {command_line(command)}",
        f"Folder: {escape_control(command.cwd)}",
        f"Environment: {', '.join(command.environment)}",
        f"Prompt by: {command.prompt_by}",
        f"Time-out: {command.timeout:g} s",
    ]


def dry_run_document(dry: DryRun) -> dict[str, Any]:
    """Return the same as one JSON document."""
    state = dry.state
    return {
        "dry_run": True,
        "run_id": state.run_id,
        "task_alias": state.alias,
        "task": {"prompt": state.task, "ideal_result": state.ideal_result},
        "iteration": state.iteration,
        "phase": state.level.value,
        "criteria": state.criteria.to_json(),
        "limits": state.limits.to_json(),
        "agents": {step.value.lower(): name for step, name in dry.agents.items()},
        "next": dry.due,
        "note": dry.note,
        "steps": [_step_document(step) for step in dry.steps],
        "evaluate": {
            "cwd": dry.cwd,
            "commands": [_command_json(dry, *each) for each in dry.commands],
            "judged": [
                {"rule_id": one.rule_id, **one.preview}
                | ({"tokens": _tokens_document(one.tokens)} if one.preview["prompt"] else {})
                for one in dry.asked
            ],
        },
        "refine": {
            "cwd": dry.cwd,
            "formatters": [_command_json(dry, *each) for each in dry.formatters],
        },
    }


def _step_document(step: StepPreview) -> dict[str, Any]:
    command = step.command
    return {
        "step": step.step.value,
        "agent": step.agent,
        "exact": step.exact,
        "unknown": list(step.unknown),
        "asked_first": list(step.asked_first),
        "command": command
        and {
            "argv": list(command.argv),
            "cwd": command.cwd,
            "environment": list(command.environment),
            "prompt_by": command.prompt_by,
            "timeout": command.timeout,
            "installed": not command.missing,
        },
        "tokens": _tokens_document(step.tokens),
        "prompt": step.prompt,
    }


def _tokens_document(tokens: PromptTokens) -> dict[str, Any]:
    parts = [{"part": title, "tokens": count} for title, count in tokens.parts]
    return {"total": tokens.total, "parts": parts}


def _command_json(dry: DryRun, rule_id: str, command: CheckCommand) -> dict[str, Any]:
    """Return a command of a check, as the criteria have it and as it goes to the system."""
    written = command.written or command.argv
    return {
        "rule_id": rule_id,
        "command": written if isinstance(written, str) else list(written),
        "argv": list(command.argv),
        "timeout": command.timeout,
        "installed": rule_id not in dry.missing,
    }


def _evaluate(dry: DryRun) -> list[str]:
    rules = dry.state.criteria.active(dry.state.level)
    checks = sum(len(rule.checks) for rule in rules)
    counts = f"rules: {len(rules)}, checks: {checks}, of them commands: {len(dry.commands)}"
    lines = [f"{RULER} EVALUATE | {counts} {RULER}"]
    lines += _conditions(rules)
    lines += [f"Folder: {escape_control(dry.cwd)}"] if dry.commands else []
    lines += [_command_text(dry, *each) for each in dry.commands]
    for one in dry.asked:
        lines += _question_lines(one)
    return lines


def _conditions(rules: Iterable[Rule]) -> list[str]:
    """Return the rules that only count where their conditions hold."""
    conditional = [rule for rule in rules if rule.when]
    if not conditional:
        return []
    from pytest_reflex.checks.composite import words

    return [
        f"{rule.id}: only when {escape_control('; and '.join(map(words, rule.when)))}"
        for rule in conditional
    ]


def _fixes(dry: DryRun) -> list[str]:
    """Return the programs that fixes run, where their rules are criticised."""
    lines = [f"{RULER} REFINE | formatters, before the agent: {len(dry.formatters)} {RULER}"]
    return [
        *lines,
        f"Folder: {escape_control(dry.cwd)}",
        *(_command_text(dry, *each) for each in dry.formatters),
    ]


def _command_text(dry: DryRun, rule_id: str, command: CheckCommand) -> str:
    written = command.written or command.argv
    text = written if isinstance(written, str) else shlex.join(written)
    return f"{rule_id}: {escape_control(text)}{_absent(dry.missing.get(rule_id, ''))}"


def _question_lines(one: JudgeQuestion) -> list[str]:
    """Return the LLM judge of a check, its votes, and the prompt where there is a judge."""
    known = one.preview
    judge = known["judge"] or "no LLM judge: not measured"
    often = f"{known['votes']} votes at most, {known['quorum']} have to pass"
    lines = [f"{one.rule_id}: judged by {escape_control(judge)}, {often}"]
    if not known["prompt"]:
        return lines
    return [*lines, _tokens(one.tokens), "Prompt:", escape_control(known["prompt"]).rstrip("\n")]
