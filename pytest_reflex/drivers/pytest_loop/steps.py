"""The steps of a loop over a session, as hooks: fixes that rules carry, plugins, then the agent.

Plugins answer first, `TreeSteps` where they do not, the agents last. What a plugin or an agent did
to the files counts, else the texts in its answer; files that may not be changed are refused, and
an evaluation of files that changed meanwhile counts for nothing.

PLAN and CRITIQUE need no agent that costs. REFINE is the agent's: it edits the files itself, or
answers with their new texts. Plugins are asked before these hooks, which stand before the agents
(`register_steps`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_reflex import fixes
from pytest_reflex.agents.router import AgentRouter
from pytest_reflex.contracts.steps import ContractError, read_files
from pytest_reflex.criteria.author.formatting import Formatting
from pytest_reflex.drivers.pytest_loop.child import Runner, Session, TreeWatch
from pytest_reflex.drivers.pytest_loop.files import TITLE, ProjectFiles, document, rebuilt
from pytest_reflex.drivers.pytest_loop.session_criteria import (
    artifact_of,
    commands_of,
    fixes_of,
    results_of,
    speaks_for_others,
)
from pytest_reflex.drivers.reflex.history import digest
from pytest_reflex.drivers.reflex.hook_calls import REPORTED, ask
from pytest_reflex.drivers.reflex.inputs import without_rules
from pytest_reflex.errors import ReflexError, StateError
from pytest_reflex.hookspecs import hookimpl
from pytest_reflex.host import CoreEvaluator, Host, PytestEvaluator
from pytest_reflex.model.enums import Severity
from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.model.steps import Files, Reply, StepRequest
from pytest_reflex.model.targets import Target
from pytest_reflex.verdict.score import judge

Texts = Mapping[str, str]


class AroundPlugins:
    """Reads what PRODUCE was answered, and sees that EVALUATE was of the files as they are."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    @hookimpl(wrapper=True)
    def pytest_reflex_produce(self, request: StepRequest) -> Generator[None, Any, Any]:
        """Return an answer as the document of changes that it leads to."""
        texts = self._files.editable_files.read()
        reply = yield
        if not isinstance(reply, Reply) or not isinstance(reply.text, str):
            return reply
        try:
            return with_document(self._files, reply, texts)
        except ReflexError as error:
            return replace(reply, error=error.problems[0].message)

    @hookimpl(wrapper=True)
    def pytest_reflex_evaluate(self, target: Target) -> Generator[None, Any, Any]:
        """Return an evaluation; where the files changed meanwhile, as one of no artifact."""
        before = digest(self._files.document())
        evaluation = yield
        if not isinstance(evaluation, Evaluation):
            return evaluation
        if self._files.restore() or digest(self._files.document()) != before:
            return replace(evaluation, artifact_sha256="")
        return evaluation


def with_document(
    files: ProjectFiles, reply: Reply, texts: Texts, *, has_to_change: bool = False
) -> Reply:
    """Return an answer with the document of changes as its text, or with what is wrong with it.

    `texts` are the files before it was asked for. What was written into them counts, else what the
    answer says; it `has_to_change` something where that is asked for.
    """
    silent = bool(reply.details.get("silent"))
    if reply.error and not silent:
        return reply
    if objection := files.validation_error():
        files.put_back()
        return replace(reply, error=objection)
    now = files.editable_files.read()
    if now == texts and silent:
        return replace(reply, error="no file was changed, and it answered nothing")
    if now == texts:
        try:
            now = _parse_answer(files, reply.text, texts, has_to_change=has_to_change)
        except ContractError as error:
            return replace(reply, error=f"no file was changed, and {error}")
    return replace(reply, text=document(files.initial_texts, now), error="")


def _parse_answer(
    files: ProjectFiles, text: str, texts: Texts, *, has_to_change: bool
) -> dict[str, str]:
    """Return the files that an answer leads to: JSON with texts, or a document of changes."""
    if not text.startswith(TITLE):
        return {**texts, **read_files(text, files.editable_files.covers)}
    try:
        now = rebuilt(files.initial_texts, text)
    except StateError as error:
        raise ContractError(error.problems[0].message) from None
    changed = sorted(path for path in {*now, *texts} if now.get(path) != texts.get(path))
    if refused := [path for path in changed if not files.editable_files.covers(path)]:
        raise ContractError(f"{refused[0]!r} may not be changed")
    if has_to_change and not changed:
        raise ContractError("the document of changes in the answer is the one that it was given")
    return now


MOST_TEXT = 200_000


class RefineStep:
    """Applies fixes, then asks plugins and agents, with `files` in the request.

    `hooks` is the relay by which they are asked, `offline` are the names of the steps that no agent
    is paid for. An agent that is paid for REFINE has to change a file; one that plans or
    criticises is shown them.
    """

    def __init__(self, hooks: Any, files: ProjectFiles, *, offline: Collection[str]) -> None:
        self._hooks, self._files, self._offline = hooks, files, offline

    @hookimpl(tryfirst=True)
    def pytest_reflex_plan(self, request: StepRequest) -> Reply | None:
        return self._ask_with_files(request)

    @hookimpl(tryfirst=True)
    def pytest_reflex_critique(self, request: StepRequest) -> Reply | None:
        return self._ask_with_files(request)

    def _ask_with_files(self, request: StepRequest) -> Reply | None:
        """Ask with the files as they are, where an agent answers that cannot look at them."""
        if request.files is not None or request.step.value.lower() in self._offline:
            return None
        try:
            texts = self._files.editable_files.read()
        except ReflexError as error:
            return Reply(text="", agent="files", error=error.problems[0].message)
        return self._ask(
            replace(request, files=_select_files(self._files.editable_files.patterns, texts))
        )

    def _ask(self, request: StepRequest) -> Reply:
        reply = ask(self._hooks, request)
        return replace(reply, details={**reply.details, REPORTED: True})

    @hookimpl(tryfirst=True)
    def pytest_reflex_refine(self, request: StepRequest) -> Reply | None:
        """Apply fixes and ask for what remains, with a request that the next hook answers."""
        if request.files is not None:
            return None
        try:
            texts, remaining = self._apply_fixes(request)
            if not (remaining or request.feedback):
                return Reply(
                    text=document(self._files.initial_texts, texts),
                    agent="fixes",
                    usd=0.0,
                    tokens=0,
                    details={"free": True},
                )
            left = {issue["rule_id"] for issue in remaining}
            fixed = {issue["rule_id"] for issue in request.issues} - left
            evaluation = without_rules(request.evaluation, fixed)
            asked = replace(request, issues=tuple(remaining), evaluation=evaluation)
            return self._refine(asked, texts)
        except ReflexError as error:
            return Reply(text="", agent="files", error=error.problems[0].message)

    def _apply_fixes(self, request: StepRequest) -> tuple[Texts, list[Mapping[str, str]]]:
        """Return the texts with the fixes, on disk already, and the issues that they leave."""
        before, remaining = self._files.editable_files.read(), []
        texts = dict(before)
        for issue in request.issues:
            rule = request.criteria.rule(issue["rule_id"])
            path = relative(self._files, artifact_of(rule)) if rule else ""
            safe = fixes_of(rule) if rule else ()
            old = texts.get(path)
            if safe and old is not None:
                assert rule is not None
                formatter = Formatting(
                    commands=commands_of(rule),
                    name=path,
                    root=self._files.project,
                    cancel=request.cancel,
                )
                texts[path], _ = fixes.apply_all(safe, old, formatter)
            if texts.get(path) == old:
                remaining.append(issue)
        if texts != before:
            self._files.editable_files.write(texts)
        return texts, remaining

    def _refine(self, request: StepRequest, texts: Texts) -> Reply:
        """Ask; what was done to the files counts, else what was answered."""
        shown = replace(
            request,
            artifact=document(self._files.initial_texts, texts),
            files=_select_files(self._files.editable_files.patterns, texts),
        )
        has_to_change = "refine" not in self._offline
        return with_document(self._files, self._ask(shown), texts, has_to_change=has_to_change)


def relative(files: ProjectFiles, path: str) -> str:
    """Return a path as the project has it, an empty string for none."""
    return os.path.relpath(path, files.project).replace(os.sep, "/") if path else ""


def _select_files(patterns: Sequence[str], texts: Texts) -> Files:
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
        self.watch.record_session(session)
        # What the session did to the files itself shows here: the verdict is of what is there now,
        # and of nothing where it was not these files that were judged.
        sha256 = "" if self.files.restore() else digest(self.files.document())
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
        return relative(self.files, artifact) or ", ".join(self.files.editable_files.patterns)

    @hookimpl(trylast=True)
    def pytest_reflex_refine(self, request: StepRequest) -> Reply | None:
        """Leave what `RefineStep` asks for to the agent; without one, take the files as is."""
        if request.files is None or "refine" not in self.offline:
            return None
        return _free(self.files.document(), "fixes")


def register_steps(host: Host, steps: TreeSteps) -> None:
    """Register the hooks of a run: behind the plugins, and before agents and evaluator."""
    plugins = [plugin for _, plugin in host.manager.list_name_plugin()]
    last = [plugin for plugin in plugins if isinstance(plugin, _ASKED_LAST)]
    for plugin in last:
        host.manager.unregister(plugin)
    refining = RefineStep(host.hooks, steps.files, offline=steps.offline)
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
