"""What a step by itself tells: a critique and a refinement, for people and as JSON."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.single import Critique, Refinement
from pytest_reflex.reports.iteration import changed_line
from pytest_reflex.reports.spending import spend_text
from pytest_reflex.reports.terminal import LISTED, WIDTH, Page, ansi_style, no_style
from pytest_reflex.storage.parts import changed_sections


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
    changed = changed_sections(old, new)
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
        told = changed_line(changed)
        page.add(
            "REFINED", f"{told if told != 'nothing' else 'nothing was changed'} (by {done.by})"
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
