"""What one pytest session knows of its rules: kinds of checks, compiled targets, the plan."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import pytest

from pytest_reflex.checks.registry import Registry
from pytest_reflex.checks.run import prepare
from pytest_reflex.model.judged import Judge
from pytest_reflex.model.targets import Target
from pytest_reflex.session import options
from pytest_reflex.session.items import Subject
from pytest_reflex.session.plan import Plan, Planned
from pytest_reflex.session.results import Results


class Desk:
    """Lies in `config.stash`: who collects fills it, who decides reads it.

    `named` are the ids of the targets that the options name, by the path of their artifact;
    `results` are those of the session's reports; `cancel` ends the commands that run; `judge` is
    who judges what no program can, where one is configured; `ended` is True where `pytest.exit`
    ended the session before all was collected.
    """

    key: ClassVar[pytest.StashKey[Desk]] = pytest.StashKey()

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.plan = Plan()
        self.results = Results()
        self.subjects: dict[str, Subject] = {}
        self.named: dict[Path, str] = {}
        self.cancel = Event()
        self.judge: Judge | None = None
        self.ended = False
        self._registries: dict[tuple[int, ...], Registry] = {}
        config.stash[self.key] = self

    @property
    def is_worker(self) -> bool:
        return hasattr(self.config, "workerinput")

    @property
    def variables(self) -> dict[str, Any]:
        return options.variables(self.config)

    def registry_for(self, path: Path, session: pytest.Session | None = None) -> Registry:
        """Return the kinds of checks that the plugins in force at `path` register.

        A conftest.py deeper in the tree may add some for its folder: one registry per set of
        plugins.
        """
        relay = session.gethookproxy(path) if session else self.config.hook
        hook = relay.pytest_reflex_register_checks
        key = tuple(id(implementation.plugin) for implementation in hook.get_hookimpls())
        if key not in self._registries:
            registry = Registry()
            registry.judge = self.judge
            hook(register=registry.register)
            self._registries[key] = registry
        return self._registries[key]

    def expect(self, target_id: str, target: Target, registry: Registry) -> Subject:
        """Compile a target and expect its checks from now on.

        Reports call the artifact by its path from the root folder.
        Raises CriteriaError (a pattern that does not compile) or ArtifactError.
        """
        target = replace(target, label=self.id_of_file(target.artifact))
        prepared = prepare(target, registry, cancel=self.cancel)
        return self.adopt(Subject(target_id, prepared.target, prepared))

    def adopt(self, subject: Subject) -> Subject:
        """Expect the checks of a compiled target from now on."""
        self.subjects[subject.id] = subject
        self.plan.targets[subject.id] = Planned(
            subject.target, subject.sha256, subject.prepared.artifact.unread
        )
        return subject

    def id_of_file(self, path: Path) -> str:
        """Return the node id of a file: relative to the root folder, with slashes."""
        return Path(os.path.relpath(path, self.config.rootpath)).as_posix()
