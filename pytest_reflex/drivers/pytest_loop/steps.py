"""The steps of a loop over a session, as hooks: what judges is pytest, the artifact is the files.

PLAN and CRITIQUE need no agent that costs. REFINE is the agent's: it edits the files itself, or
answers with their new texts. Plugins are asked before these hooks, which stand before the agents
(`register_steps`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_reflex.agents.router import AgentRouter
from pytest_reflex.drivers.pytest_loop.child import Runner, Session
from pytest_reflex.drivers.pytest_loop.combined import (
    artifact_of,
    results_of,
    speaks_for_others,
)
from pytest_reflex.drivers.pytest_loop.files import ProjectFiles
from pytest_reflex.drivers.pytest_loop.plugin_answers import AroundPlugins
from pytest_reflex.drivers.pytest_loop.refining import Refining, relative
from pytest_reflex.drivers.pytest_loop.sealed import TreeWatch
from pytest_reflex.drivers.reflex.history import digest
from pytest_reflex.hookspecs import hookimpl
from pytest_reflex.host import CoreEvaluator, Host, PytestEvaluator
from pytest_reflex.model.enums import Severity
from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.targets import Target
from pytest_reflex.verdict.score import judge

MOST_ISSUES = 5
_LONGEST_WORDS = 3_500
_ASKED_LAST = (AgentRouter, CoreEvaluator, PytestEvaluator)
FREE: Mapping[str, Any] = {"free": True}


@dataclass(slots=True, kw_only=True, eq=False)
class TreeSteps:
    """The hooks of one run.

    `first` is a session that was run before the first EVALUATE: it serves once, where the files are
    still the same. `offline` are the names of the steps that no agent is paid for. `begin` is
    called before a session is run, `show` with one that was.
    """

    runner: Runner
    watch: TreeWatch
    files: ProjectFiles
    offline: frozenset[str]
    begin: Callable[[], object]
    show: Callable[[Session], object]
    first: tuple[str, Session] | None = None

    @hookimpl(trylast=True)
    def pytest_reflex_produce(self, request: StepRequest) -> Reply:
        """Take the files as they are for the first artifact."""
        return _free(self.files.document(), "files")

    @hookimpl(trylast=True)
    def pytest_reflex_evaluate(self, target: Target) -> Evaluation:
        """Run the session, and judge by what it reported; never by what it printed."""
        session = self._session(digest(self.files.document()), target)
        self.watch.saw(session)
        # What the session did to the files itself shows here: the verdict is of what is there now,
        # and of nothing where it was not these files that were judged.
        sha256 = "" if self.files.settle() else digest(self.files.document())
        results = results_of(target.criteria, session)
        return judge(target, results, sha256=sha256, unsound=session.ended)

    def _session(self, sha256: str, target: Target) -> Session:
        known, self.first = self.first, None
        if known is None or known[0] != sha256:
            self.begin()
            session = self.runner.run(target)
            self.show(session)
            return session
        return known[1]

    @hookimpl(trylast=True)
    def pytest_reflex_critique(self, request: StepRequest) -> Reply | None:
        """Make the critique of what failed, unless an agent was named for it."""
        if "critique" not in self.offline or request.evaluation is None:
            return None
        rows = request.evaluation.findings
        own = [row for row in rows if not speaks_for_others(row.rule)] or list(rows)
        worst = sorted(own, key=_urgency)[:MOST_ISSUES]
        issues = {"issues": [_issue(row, self._where(row)) for row in worst]}
        return _free(json.dumps(issues, ensure_ascii=False), "offline")

    def _where(self, row: RuleResult) -> str:
        """Return what is to be changed for a rule: its artifact, or whatever may be."""
        artifact = artifact_of(row.rule)
        return relative(self.files, artifact) or ", ".join(self.files.territory.patterns)

    @hookimpl(trylast=True)
    def pytest_reflex_refine(self, request: StepRequest) -> Reply | None:
        """Leave what `Refining` asks for to the agent; without one, take the files as they are."""
        if request.files is None or "refine" not in self.offline:
            return None
        return _free(self.files.document(), "fixes")


def register_steps(host: Host, steps: TreeSteps) -> None:
    """Register the hooks of a run: behind the plugins, and before agents and evaluator."""
    plugins = [plugin for _, plugin in host.manager.list_name_plugin()]
    last = [plugin for plugin in plugins if isinstance(plugin, _ASKED_LAST)]
    for plugin in last:
        host.manager.unregister(plugin)
    refining = Refining(host.hooks, steps.files, offline=steps.offline)
    # Of hooks that are tried last, the one that was registered first is asked first.
    for one in (steps, *last, refining, AroundPlugins(steps.files)):
        host.manager.register(one)


def has_refining_plugin(host: Host) -> bool:
    """Return whether a plugin may answer REFINE; asked before the hooks of a run are registered."""
    implementations = host.hooks.pytest_reflex_refine.get_hookimpls()
    return any(not isinstance(one.plugin, _ASKED_LAST) for one in implementations)


def _free(text: str, agent: str) -> Reply:
    return Reply(text=text, agent=agent, usd=0.0, tokens=0, details=FREE)


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
