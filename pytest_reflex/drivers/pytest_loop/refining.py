"""REFINE of a loop over a session: the fixes that rules carry, then whoever does the rest."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_reflex import fixes
from pytest_reflex.criteria.author.formatting import Formatting
from pytest_reflex.drivers.pytest_loop.combined import artifact_of, commands_of, fixes_of
from pytest_reflex.drivers.pytest_loop.difference import document
from pytest_reflex.drivers.pytest_loop.files import ProjectFiles
from pytest_reflex.drivers.pytest_loop.plugin_answers import Texts, with_document
from pytest_reflex.drivers.reflex.asking import TOLD, ask
from pytest_reflex.drivers.reflex.inputs import without_rules
from pytest_reflex.errors import ReflexError
from pytest_reflex.hookspecs import hookimpl
from pytest_reflex.model.steps import Files, Reply, StepRequest

MOST_TEXT = 200_000


class Refining:
    """Applies fixes, then asks plugins and agents, with `files` in the request.

    `hooks` is the relay by which they are asked, `offline` are the names of the steps that no agent
    is paid for. An agent that is paid for REFINE has to change a file; one that plans or
    criticises is shown them.
    """

    def __init__(self, hooks: Any, files: ProjectFiles, *, offline: Collection[str]) -> None:
        self._hooks, self._files, self._offline = hooks, files, offline

    @hookimpl(tryfirst=True)
    def pytest_reflex_plan(self, request: StepRequest) -> Reply | None:
        return self._shown_files(request)

    @hookimpl(tryfirst=True)
    def pytest_reflex_critique(self, request: StepRequest) -> Reply | None:
        return self._shown_files(request)

    def _shown_files(self, request: StepRequest) -> Reply | None:
        """Ask with the files as they are, where an agent answers that cannot look at them."""
        if request.files is not None or request.step.value.lower() in self._offline:
            return None
        try:
            texts = self._files.territory.read()
        except ReflexError as error:
            return Reply(text="", agent="files", error=error.problems[0].message)
        return self._ask(replace(request, files=_shown(self._files.territory.patterns, texts)))

    def _ask(self, request: StepRequest) -> Reply:
        reply = ask(self._hooks, request)
        return replace(reply, details={**reply.details, TOLD: True})

    @hookimpl(tryfirst=True)
    def pytest_reflex_refine(self, request: StepRequest) -> Reply | None:
        """Apply fixes and ask for what remains; the request that asks is for whoever is next."""
        if request.files is not None:
            return None
        try:
            texts, remaining = self._fixed(request)
            if not (remaining or request.feedback):
                return Reply(
                    text=document(self._files.beginning, texts),
                    agent="fixes",
                    usd=0.0,
                    tokens=0,
                    details={"free": True},
                )
            left = {issue["rule_id"] for issue in remaining}
            fixed = {issue["rule_id"] for issue in request.issues} - left
            evaluation = without_rules(request.evaluation, fixed)
            asked = replace(request, issues=tuple(remaining), evaluation=evaluation)
            return self._refined(asked, texts)
        except ReflexError as error:
            return Reply(text="", agent="files", error=error.problems[0].message)

    def _fixed(self, request: StepRequest) -> tuple[Texts, list[Mapping[str, str]]]:
        """Return the texts with the fixes, on disk already, and the issues that they leave."""
        before, remaining = self._files.territory.read(), []
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
            self._files.territory.write(texts)
        return texts, remaining

    def _refined(self, request: StepRequest, texts: Texts) -> Reply:
        """Ask; what was done to the files counts, else what was answered."""
        shown = replace(
            request,
            artifact=document(self._files.beginning, texts),
            files=_shown(self._files.territory.patterns, texts),
        )
        has_to_change = "refine" not in self._offline
        return with_document(self._files, self._ask(shown), texts, has_to_change=has_to_change)


def relative(files: ProjectFiles, path: str) -> str:
    """Return a path as the project has it, an empty string for none."""
    return os.path.relpath(path, files.project).replace(os.sep, "/") if path else ""


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
