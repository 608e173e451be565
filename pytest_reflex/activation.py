"""What an active session adds to pytest: its hooks, what runs checks, what decides, the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_reflex.session import options
from pytest_reflex.session.options import CONTROLLER, RUNTIME
from pytest_reflex.session.plan import SessionState
from pytest_reflex.session.runtime import Runtime
from pytest_reflex.session.watch import declare_hooks

if TYPE_CHECKING:
    from pytest_reflex.model.judged import Judge, JudgeWhen


def activate(config: pytest.Config) -> SessionState:
    """Register what runs checks and what decides, once; return the session's state."""
    if SessionState.key in config.stash:
        return config.stash[SessionState.key]
    declare_hooks(config)
    state = SessionState(config)
    if name := options.text(config, "reflex_judge"):
        state.judge, state.judge_when = judge_of(config, name)
    # Without names: `-p no:NAME` and `unregister(name=...)` find none.
    config.stash[RUNTIME] = Runtime(state)
    config.pluginmanager.register(config.stash[RUNTIME])
    if not state.is_worker:
        from pytest_reflex.session.controller import Controller

        config.stash[CONTROLLER] = Controller(state)
        config.pluginmanager.register(config.stash[CONTROLLER])
    return state


def judge_of(config: pytest.Config, name: str) -> tuple[Judge, JudgeWhen]:
    """Return the judge of this session, and when it is asked, from the project's configuration.

    Raises UsageError of pytest.
    """
    from pytest_reflex.agents.vote_cache import with_cache
    from pytest_reflex.errors import ReflexError
    from pytest_reflex.host import find_judge, open_host
    from pytest_reflex.model.judged import JudgeWhen
    from pytest_reflex.settings import load

    try:
        settings = load(config.rootpath, options.of_judge(config))
        for problem in settings.unknown:
            config.issue_config_time_warning(pytest.PytestConfigWarning(str(problem)), stacklevel=2)
        judge = find_judge(name, open_host(settings["plugins"], config.rootpath), settings)
        known, clears = options.controller_votes(config), options.clears_cache(config)
        kept = with_cache(judge, settings, config.rootpath, known=known, clear=clears)
        return kept, JudgeWhen(settings["judge_when"])
    except ReflexError as error:
        raise pytest.UsageError(f"--reflex-judge: {error}") from None
