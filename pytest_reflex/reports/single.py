"""A critique, a refinement or fixes by themselves, for people and as JSON."""

from __future__ import annotations

import difflib
import hashlib
from pathlib import Path
from typing import Any

from pytest_reflex.criteria.author.apply_fixes import FixResult
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.single import Critique, Refinement
from pytest_reflex.reports.iteration import change_line
from pytest_reflex.reports.run_lines import spend_text
from pytest_reflex.reports.terminal import LISTED, WIDTH, Page, ansi_style, no_style
from pytest_reflex.storage.parts import find_changes
from pytest_reflex.text.lines import split
from pytest_reflex.verdict.formatting import format_score, plain
from pytest_reflex.verdict.gate import failure_reason

_NO_END = "\n\\ No newline at end of file\n"


def fix_text(artifact: Artifact, done: FixResult, written: bool, *, colour: bool = False) -> str:
    """Return for people what was fixed and what it came to, without a final newline."""
    page = Page(WIDTH, ansi_style if colour else no_style, LISTED)
    for rule_id in done.fixed:
        if rule_id in done.helpless:
            page.add("NO HELP", f"{rule_id}: it still fails, its fix helps others", tone="bad")
        else:
            page.add("FIXED", rule_id, tone="good")
    for rule_id, reason in done.not_fixed.items():
        page.add("NOT FIXED", f"{rule_id}: {reason}", tone="mild")
    for rule_id in done.unsafe:
        page.add("UNSAFE", f"{rule_id} has an unsafe fix; --unsafe applies it", tone="mild")
    if not done.fixed:
        page.add("NOTHING", f"{_no_fix(done)}: the artifact is as it was")
    page.add("BEFORE", _gate(done.before))
    page.add("AFTER", _gate(done.after), tone="good" if done.after.passed else "bad")
    if written:
        page.add("WRITTEN TO", str(artifact.name))
    return "\n".join(page.lines)


def fix_document(artifact: Artifact, done: FixResult, written: bool) -> dict[str, Any]:
    """Return the same for programs, with the evaluation of the text that came out."""
    return {
        "artifact": artifact.name,
        "fixed": list(done.fixed),
        "no_help": list(done.helpless),
        "not_fixed": dict(done.not_fixed),
        "unsafe": list(done.unsafe),
        "before": artifact.sha256,
        "after": hashlib.sha256(done.text.encode()).hexdigest(),
        "written": written,
        "passed": done.after.passed,
        "diff": unified_diff(artifact.name, artifact.raw_text, done.text),
        "evaluation": done.after.to_json(),
    }


def unified_diff(name: str, old: str, new: str) -> str:
    """Return a unified diff that `patch` takes; empty where nothing changed."""
    lines = difflib.unified_diff(split(old), split(new), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else line + _NO_END for line in lines)


def _no_fix(done: FixResult) -> str:
    if done.not_fixed or done.unsafe:
        return "no fix was applied"
    return "no fix changes anything"


def _gate(evaluation: Evaluation) -> str:
    score = f"{format_score(evaluation.score)} of {plain(evaluation.threshold)}"
    if evaluation.passed:
        return f"passed, {score}"
    return f"failed, {score}: {failure_reason(evaluation)}"


def critique_document(
    artifact: Artifact, evaluation: Evaluation, critique: Critique
) -> dict[str, Any]:
    """Return a critique with the hash of what it is about (schema `critique`)."""
    return {
        "issues": [dict(issue) for issue in critique.issues],
        "artifact": artifact.name,
        "artifact_sha256": artifact.sha256,
        "criteria": {"name": evaluation.criteria, "version": evaluation.version},
        "phase": evaluation.level.value,
        "agent": critique.agent,
        "cost": critique.spend.to_json(),
    }


def critique_text(critique: Critique, *, colour: bool = False) -> str:
    """Return the issues for people, without a final newline."""
    page = Page(WIDTH, ansi_style if colour else no_style, LISTED)
    if not critique.issues:
        page.add("NOTHING", "no rule failed: there is nothing to criticise", tone="good")
    for issue in critique.issues:
        page.add("ISSUE", f"{issue['rule_id']}: {issue['problem']}", tone="bad")
        page.add("", f"fix: {issue['fix_instruction']}")
        page.add("", f"effect: {issue['expected_effect']}")
    if critique.spend.calls:
        page.add("SPEND", f"{spend_text(critique.spend)} (agent {critique.agent})")
    return "\n".join(page.lines)


def changes(old: str, new: str) -> dict[str, list[str]]:
    """Return the sections that were added, modified and removed."""
    changed = find_changes(old, new)
    return {
        "added": list(changed.added),
        "modified": list(changed.modified),
        "removed": list(changed.removed),
    }


def refinement_document(
    artifact: Artifact, done: Refinement, target: Path | None = None
) -> dict[str, Any]:
    """Return a refinement with its text and the hashes before and after (schema `refinement`)."""
    return {
        "artifact": done.text,
        "by": done.by,
        "fixed": list(done.fixed),
        "not_fixed": dict(done.not_fixed),
        "agent": done.agent,
        "changed": changes(artifact.raw_text, done.text),
        "before": artifact.sha256,
        "after": hashlib.sha256(done.text.encode()).hexdigest(),
        "written_to": str(target) if target else None,
        "cost": done.spend.to_json(),
    }


def refinement_text(
    artifact: Artifact, done: Refinement, target: Path | None = None, *, colour: bool = False
) -> str:
    """Return for people who fixed what, and where the result is; without a final newline."""
    page = Page(WIDTH, ansi_style if colour else no_style, LISTED)
    changed = changes(artifact.raw_text, done.text)
    if done.by == "nobody":
        page.add("NOTHING", "no issue was named: the artifact is as it was", tone="good")
    else:
        summary = change_line(changed)
        page.add(
            "REFINED",
            f"{summary if summary != 'nothing' else 'nothing was changed'} (by {done.by})",
        )
    if done.fixed:
        page.add("FIXED", ", ".join(done.fixed), tone="good")
    for rule_id, reason in done.not_fixed.items():
        page.add("NOT FIXED", f"{rule_id}: {reason}", tone="mild")
    if done.agent:
        page.add("AGENT", done.agent)
    if done.spend.calls:
        page.add("SPEND", spend_text(done.spend))
    if target:
        page.add("WRITTEN TO", str(target))
    return "\n".join(page.lines)
