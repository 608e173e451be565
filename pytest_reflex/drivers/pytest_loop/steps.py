"""The steps of a loop over a session, as hooks: what judges is pytest, the artifact is the files.

PLAN and CRITIQUE need no agent that costs. REFINE is the agent's: it edits the files itself, or
answers with their new texts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_reflex import fixes
from pytest_reflex.contracts.steps import ContractError, read_files
from pytest_reflex.criteria.formatting import Formatting
from pytest_reflex.drivers.pytest_loop.child import Runner, Session
from pytest_reflex.drivers.pytest_loop.combined import (
    artifact_of,
    commands_of,
    fixes_of,
    results_of,
    speaks_for_others,
)
from pytest_reflex.drivers.pytest_loop.difference import document
from pytest_reflex.drivers.pytest_loop.files import ProjectFiles
from pytest_reflex.drivers.pytest_loop.sealed import TreeWatch
from pytest_reflex.drivers.reflex.asking import TOLD, ask
from pytest_reflex.drivers.reflex.history import digest
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.model.steps import Files, Reply, StepRequest
from pytest_reflex.model.targets import Target
from pytest_reflex.model.words import Severity
from pytest_reflex.verdict.score import judge

MOST_ISSUES = 5
MOST_TEXT = 200_000
_LONGEST_WORDS = 3_500
FREE: Mapping[str, Any] = {"free": True}
Texts = Mapping[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class TreeSteps:
    """The hooks of one run.

    `hooks` is the relay by which the agent is asked. `first` is a session that was run before the
    first EVALUATE: it serves once, where the files are still the same. `offline` are the names of
    the steps that no agent is paid for. `begin` is called before a session is run, `show` with one
    that was.
    """

    hooks: Any
    runner: Runner
    watch: TreeWatch
    files: ProjectFiles
    offline: frozenset[str]
    begin: Callable[[], object]
    show: Callable[[Session], object]
    first: tuple[str, Session] | None = None

    def pytest_reflex_produce(self, request: StepRequest) -> Reply:
        """Take the files as they are for the first artifact."""
        return _free(self.files.document(), "files")

    def pytest_reflex_evaluate(self, target: Target) -> Evaluation:
        """Run the session, and judge by what it reported; never by what it printed."""
        session = self._session(digest(self.files.document()), target.environment)
        self.watch.saw(session)
        # What the session did to the files itself shows here: the verdict is of what is there now,
        # and of nothing where it was not these files that were judged.
        sha256 = "" if self.files.settle() else digest(self.files.document())
        results = results_of(target.criteria, session)
        return judge(target, results, sha256=sha256, unsound=session.ended)

    def _session(self, sha256: str, environment: Mapping[str, str]) -> Session:
        known, self.first = self.first, None
        if known is None or known[0] != sha256:
            self.begin()
            session = self.runner.run(environment)
            self.show(session)
            return session
        return known[1]

    def pytest_reflex_critique(self, request: StepRequest) -> Reply | None:
        """Make the critique of what failed, unless an agent was named for it."""
        if "critique" not in self.offline or request.evaluation is None:
            return None
        rows = (*request.evaluation.failed, *request.evaluation.warnings)
        own = [row for row in rows if not speaks_for_others(row.rule)] or list(rows)
        worst = sorted(own, key=_urgency)[:MOST_ISSUES]
        issues = {"issues": [_issue(row, self._where(row)) for row in worst]}
        return _free(json.dumps(issues, ensure_ascii=False), "offline")

    def _where(self, row: RuleResult) -> str:
        """Return what is to be changed for a rule: its artifact, or whatever may be."""
        artifact = artifact_of(row.rule)
        return self._relative(artifact) or ", ".join(self.files.territory.patterns)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.files.project).replace(os.sep, "/") if path else ""

    def pytest_reflex_refine(self, request: StepRequest) -> Reply | None:
        """Apply the fixes that rules carry, then let the agent mend what remains.

        The request for the agent has `files`: that one is for whoever is asked next.
        """
        if request.files is not None:
            return None
        try:
            texts, remaining = self._fixed(request)
            if "refine" in self.offline or not (remaining or request.feedback):
                return _free(document(self.files.beginning, texts), "fixes")
            return self._mended(replace(request, issues=tuple(remaining)), texts)
        except ReflexError as error:
            return Reply(text="", agent="files", error=error.problems[0].message)

    def _fixed(self, request: StepRequest) -> tuple[Texts, list[Mapping[str, str]]]:
        """Return the texts with the fixes, on disk already, and the issues that they leave."""
        before, remaining = self.files.territory.read(), []
        texts = dict(before)
        for issue in request.issues:
            rule = request.criteria.rule(issue["rule_id"])
            path = self._relative(artifact_of(rule)) if rule else ""
            safe = fixes_of(rule) if rule else ()
            old = texts.get(path)
            if safe and old is not None:
                assert rule is not None
                formatter = Formatting(
                    commands=commands_of(rule),
                    name=path,
                    root=self.files.project,
                    cancel=request.cancel,
                )
                texts[path], _ = fixes.apply_all(safe, old, formatter)
            if texts.get(path) == old:
                remaining.append(issue)
        if texts != before:
            self.files.territory.write(texts)
        return texts, remaining

    def _mended(self, request: StepRequest, texts: Texts) -> Reply:
        """Ask the agent; what it did to the files counts, else what it answered."""
        shown = replace(
            request,
            artifact=document(self.files.beginning, texts),
            files=_shown(self.files.territory.patterns, texts),
        )
        reply = ask(self.hooks, shown)
        reply = replace(reply, details={**reply.details, TOLD: True})
        silent = bool(reply.details.get("silent"))
        if reply.error and not silent:
            return reply
        if objection := self.files.objection():
            self.files.put_back()
            return replace(reply, error=objection)
        now = self.files.territory.read()
        if now == texts and silent:
            return replace(reply, error="no file was changed, and it answered nothing")
        if now == texts:
            try:
                answered = read_files(reply.text, self.files.territory.covers)
            except ContractError as error:
                return replace(reply, error=f"no file was changed, and {error}")
            now = {**texts, **answered}
        return replace(reply, text=document(self.files.beginning, now), error="")


def _free(text: str, agent: str) -> Reply:
    return Reply(text=text, agent=agent, usd=0.0, tokens=0, details=FREE)


def _shown(patterns: Sequence[str], texts: Texts) -> Files:
    """Return what an agent is shown: as many texts as there is room for, short ones first."""
    shown, room = set[str](), MOST_TEXT
    for path in sorted(texts, key=lambda path: (len(texts[path]), path)):
        room -= len(texts[path])
        if room >= 0:
            shown.add(path)
    return Files(
        patterns=tuple(patterns),
        texts={path: text for path, text in texts.items() if path in shown},
        left_out=tuple(path for path in texts if path not in shown),
    )


def _urgency(row: RuleResult) -> tuple[Any, ...]:
    return (row.rule.severity is not Severity.FAIL, -row.rule.weight)


def _issue(row: RuleResult, where: str) -> dict[str, str]:
    check = row.decisive
    problem = [row.message.strip() or f"{row.rule.id} did not pass"]
    if check and check.location and check.location.line:
        problem.append(f"at {check.location}")
    if check and check.evidence:
        problem.append(check.evidence)
    wanted = row.rule.hint or (check.expected if check else "") or row.rule.description
    return {
        "rule_id": row.rule.id,
        "problem": "\n".join(problem)[:_LONGEST_WORDS],
        "fix_instruction": f"Change {where} so that this holds: {wanted}"[:_LONGEST_WORDS],
        "expected_effect": f"Rule {row.rule.id} passes",
    }
