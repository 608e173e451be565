"""What `criteria fix` did to an artifact: for people, as JSON, and as a unified diff."""

from __future__ import annotations

import difflib
import hashlib
from typing import Any

from pytest_reflex.criteria.author.fixing import Fixed
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.results import Evaluation
from pytest_reflex.reports.terminal import LISTED, WIDTH, Page, ansi_style, no_style
from pytest_reflex.text.lines import split
from pytest_reflex.verdict.formatting import plain, shown_score
from pytest_reflex.verdict.gate import failed_reason

_NO_END = "\n\\ No newline at end of file\n"


def fixing_text(artifact: Artifact, done: Fixed, written: bool, *, colour: bool = False) -> str:
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


def fixing_document(artifact: Artifact, done: Fixed, written: bool) -> dict[str, Any]:
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
        "diff": unified(artifact.name, artifact.raw_text, done.text),
        "evaluation": done.after.to_json(),
    }


def unified(name: str, old: str, new: str) -> str:
    """Return a unified diff that `patch` takes; empty where nothing changed."""
    lines = difflib.unified_diff(split(old), split(new), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else line + _NO_END for line in lines)


def _no_fix(done: Fixed) -> str:
    if done.not_fixed or done.unsafe:
        return "no fix was applied"
    return "no fix changes anything"


def _gate(evaluation: Evaluation) -> str:
    score = f"{shown_score(evaluation.score)} of {plain(evaluation.threshold)}"
    if evaluation.passed:
        return f"passed, {score}"
    return f"failed, {score}: {failed_reason(evaluation)}"
