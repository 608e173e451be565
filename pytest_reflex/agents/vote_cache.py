"""A judge that is asked no question twice: votes are kept, in memory and in the user's cache.

A question is all that the judge is asked, and how its agent is configured: another word in the
artifact, the rule or the configuration is another question. Void votes are not kept.
Limits: an agent's own settings, and what a model is behind its name, are not known.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.agents.answers import OutputSource
from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.environment import child_environment, references
from pytest_reflex.agents.judge import AgentJudge
from pytest_reflex.checks.registry import Registry
from pytest_reflex.model.judged import Case, Judge, JudgeAround, Ruling, Vote
from pytest_reflex.process.environment import is_secret_name, own_secrets, redact
from pytest_reflex.settings import Settings
from pytest_reflex.storage.user_state import Stamps, VoteFolder, folder_of

_MOST_READ = 1_000_000  # bytes of a file in a command; of a larger one, size and time count


class VoteCacheJudge(JudgeAround):
    """Gives the votes that it knows, and asks `judge` for others; `folder` outlives the process."""

    def __init__(self, judge: AgentJudge, identity: str, folder: VoteFolder | None) -> None:
        super().__init__(judge)
        self.command, self._identity, self.folder = judge.command, identity, folder
        self._votes: dict[str, Vote] = {}

    def vote(self, case: Case) -> Vote:
        """Return the vote that is known for a case, which is free, or that of the judge."""
        question = self._question(case)
        known = self._votes.get(question)
        if known is None and self.folder is not None:
            known = self.folder.get(question)
        if known is not None:
            return known.again()
        vote = self._judge.vote(case)
        if vote.ruling is not Ruling.VOID:
            self._keep(question, vote)
        return vote

    def _keep(self, question: str, vote: Vote) -> None:
        secrets = own_secrets()
        reasons = tuple(redact(reason, secrets) for reason in vote.reasons)
        self._votes[question] = replace(vote, reasons=reasons)
        if self.folder is not None:
            self.folder.put(question, self._votes[question])

    def _question(self, case: Case) -> str:
        asked = [self._identity, self.name, case.rule_id, self.prompt(case)]
        return hashlib.sha256(json.dumps(asked).encode("ascii")).hexdigest()


def identity_of(agent: object) -> str:
    """Return a hash of how an agent is configured; empty where this is unknown.

    It depends on the command with the files that it names, the model, and the variables that the
    agent is given by name, but for secrets.
    """
    if not isinstance(agent, CommandAgent):
        return ""
    program = shutil.which(agent.command[0]) or agent.command[0]
    files = [_file(word) for item in agent.command[1:] for word in (item, item.partition("=")[2])]
    named = {*agent.env, *(name for item in agent.command for name in references(item))}
    given = child_environment(os.environ, named)
    values = {name: given.get(name) for name in sorted(named) if not is_secret_name(name)}
    answer = _describe_source(agent.answer)
    own: list[Any] = [agent.command, agent.model, agent.prompt, agent.note, answer]
    facts = [*own, _state(os.path.realpath(program)), files, values]
    return hashlib.sha256(json.dumps(facts).encode("ascii")).hexdigest()


def _describe_source(source: OutputSource | None) -> str:
    """Return where an answer stands as kept votes have it: other words would buy them anew."""
    if source is None:
        return "None"
    parts = f"kind={source.kind!r}, path={source.path!r}, spelt={source.spelt!r}"
    return f"Source({parts}, otherwise={_describe_source(source.otherwise)})"


def _file(word: str) -> Any:
    """Return what is in a file that a command names, None where a word is not a file."""
    state = _state(word) if word else None
    if state is None or state[0] > _MOST_READ:
        return state
    try:
        return hashlib.sha256(Path(word).read_bytes()).hexdigest()
    except OSError:
        return state


def _state(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns) if os.path.isfile(path) else None


def with_cache(
    judge: AgentJudge,
    settings: Settings,
    project: Path | None,
    *,
    known: Stamps | None = None,
    clear: bool = False,
) -> Judge:
    """Return a judge that keeps its votes, where the settings have it so and its agent is known.

    They lie in the user's cache for a `project`, for none only in memory. Of those that are there
    only `known` ones count, where these are given; with `clear` all are removed.
    """
    identity = identity_of(judge.agent) if settings["judge_cache"] else ""
    place = folder_of(project) if project is not None else None
    folder = VoteFolder(place, known) if place else None
    if folder and clear:
        folder.clear()
    return VoteCacheJudge(judge, identity, folder) if identity else judge


def keep_votes(registry: Registry, settings: Settings) -> None:
    """Have the judge of a registry, if there is one, keep its votes while this process runs."""
    if isinstance(registry.judge, AgentJudge):
        registry.judge = with_cache(registry.judge, settings, None)


def sweep_votes(judge: Judge | None, others: Stamps | None = None) -> None:
    """Remove votes that something else than this process, or `others`, has put beside ours."""
    if isinstance(judge, VoteCacheJudge) and judge.folder is not None:
        judge.folder.sweep(others)


@contextmanager
def vote_cache(
    registry: Registry, settings: Settings, project: Path, *, clear: bool = False
) -> Iterator[None]:
    """Have the judge of a registry, if there is one, keep its votes meanwhile.

    With `clear`, the votes that were kept for the project are removed first, of any judge.
    """
    judge, place = registry.judge, folder_of(project)
    if clear and place is not None:
        VoteFolder(place).clear()
    if isinstance(judge, AgentJudge):
        registry.judge = with_cache(judge, settings, project)
    try:
        yield
    finally:
        sweep_votes(registry.judge)
        registry.judge = judge
