"""Around the hooks of plugins in a loop over a session: what they answer concerns files.

Plugins answer first, `TreeSteps` where they do not, the agents last. What a plugin or an agent did
to the files counts, else the texts in its answer; files that may not be changed are refused, and
an evaluation of files that changed meanwhile counts for nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from pytest_reflex.contracts.steps import ContractError, read_files
from pytest_reflex.drivers.pytest_loop.difference import TITLE, document, rebuilt
from pytest_reflex.drivers.pytest_loop.files import ProjectFiles
from pytest_reflex.drivers.reflex.history import digest
from pytest_reflex.errors import ReflexError, StateError
from pytest_reflex.hookspecs import hookimpl
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.targets import Target

Texts = Mapping[str, str]


class AroundPlugins:
    """Reads what PRODUCE was answered, and sees that EVALUATE was of the files as they are."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    @hookimpl(wrapper=True)
    def pytest_reflex_produce(self, request: StepRequest) -> Generator[None, Any, Any]:
        """Return an answer as the document of changes that it leads to."""
        texts = self._files.territory.read()
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
        if self._files.settle() or digest(self._files.document()) != before:
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
    if objection := files.objection():
        files.put_back()
        return replace(reply, error=objection)
    now = files.territory.read()
    if now == texts and silent:
        return replace(reply, error="no file was changed, and it answered nothing")
    if now == texts:
        try:
            now = _answered(files, reply.text, texts, has_to_change=has_to_change)
        except ContractError as error:
            return replace(reply, error=f"no file was changed, and {error}")
    return replace(reply, text=document(files.beginning, now), error="")


def _answered(
    files: ProjectFiles, text: str, texts: Texts, *, has_to_change: bool
) -> dict[str, str]:
    """Return the files that an answer leads to: JSON with texts, or a document of changes."""
    if not text.startswith(TITLE):
        return {**texts, **read_files(text, files.territory.covers)}
    try:
        now = rebuilt(files.beginning, text)
    except StateError as error:
        raise ContractError(error.problems[0].message) from None
    changed = sorted(path for path in {*now, *texts} if now.get(path) != texts.get(path))
    if refused := [path for path in changed if not files.territory.covers(path)]:
        raise ContractError(f"{refused[0]!r} may not be changed")
    if has_to_change and not changed:
        raise ContractError("the document of changes in the answer is the one that it was given")
    return now
