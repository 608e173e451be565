"""The plugin inside a session of the loop: it writes down what that came to, and what it imported.

Loaded by ``-p`` in the controller and in each worker of a child session; the folder to write to
comes by environment. Promises: nothing of the session is changed by it.
Limits: it sees what this process writes and imports, not what commands do that tests start.
"""

from __future__ import annotations

import json
import os
import site
import sys
import sysconfig
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.errors import ReflexError
from pytest_reflex.model.judged import CastVote
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import FORMAT, Rule
from pytest_reflex.model.targets import Target
from pytest_reflex.process.bytecode import loaded_sources
from pytest_reflex.session.controller import Controller
from pytest_reflex.session.fork import Outbox
from pytest_reflex.session.items import first_line
from pytest_reflex.session.options import INSIDE as FOLDER
from pytest_reflex.session.plan import SessionState
from pytest_reflex.session.results import ReportedResult

SESSION, READ = "session.json", "read-{}.json"
VOTES, KNOWN = "votes", "known.json"

MOST_FAULTS = 50
LONGEST_TEXT = 4_000
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_written: set[str] = set()
_faults: list[dict[str, Any]] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Note each file that is opened to write: called for everything the interpreter audits."""
    if event != "open" or not arguments[2] & _WRITES:
        return
    if isinstance(arguments[0], str | bytes | os.PathLike):
        with suppress(OSError, ValueError):
            _written.add(os.path.abspath(os.fsdecode(arguments[0])))


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(_hear)
    config.pluginmanager.register(_Failures(config))
    folder = Path(os.environ[FOLDER])
    if (folder / VOTES).exists():  # else votes are not reported
        known = json.loads((folder / KNOWN).read_text(encoding="utf-8"))
        config.stash[SessionState.votes] = outbox = Outbox(map(CastVote.from_json, known))
        outbox.open(partial(_add_line, folder / VOTES))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _note("collect", report)


class _Failures:
    """Notes what failed: checks of rules with their text, other tests as such."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = self._result(report)
        if found is not None and (report.failed or report.outcome == "passed"):
            if found.result.outcome.value != "pass":
                _note(report.when or "", report, target=found.target, rule=found.rule)
        elif report.failed:
            _note(report.when or "", report)

    def _result(self, report: pytest.TestReport) -> ReportedResult | None:
        state = self._config.stash.get(SessionState.key, None)
        return state.results.of(report) if state else None


def _note(when: str, report: Any, **more: str) -> None:
    if len(_faults) < MOST_FAULTS:
        text = str(report.longrepr or "")[-LONGEST_TEXT:]
        _faults.append(
            {
                "node": report.nodeid,
                "when": when,
                "message": first_line(report),
                "text": text,
                **more,
            }
        )


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    folder = Path(os.environ[FOLDER])
    root = str(config.rootpath)
    _write(folder / READ.format(os.getpid()), _files(config, root))
    plugins = config.pluginmanager.get_plugins()
    controller = next((one for one in plugins if isinstance(one, Controller)), None)
    if not hasattr(config, "workerinput"):
        _write(folder / SESSION, _outcome(config, controller))


def _outcome(config: pytest.Config, controller: Controller | None) -> dict[str, Any]:
    decision = controller.decision if controller else None
    problems = [*map(str, decision.problems), *decision.unread] if decision else []
    plan = config.stash[SessionState.key].plan if SessionState.key in config.stash else None
    targets = plan.targets if plan else {}
    parts = []
    for judged in decision.judged if decision else ():
        target = targets[judged.id].target if judged.id in targets else None
        commands = target.criteria.commands if target else {}
        starts, writes = _starts(config, target)
        parts.append(
            {
                "id": judged.id,
                "evaluation": judged.evaluation.to_json(),
                "rules": {rule.id: _rule(rule, commands) for rule in _rules(judged.evaluation)},
                "artifact": os.path.abspath(target.artifact) if target else None,
                "reason": judged.reason,
                "narrowed": judged.narrowed,
                "programs": starts,
                "writes": writes,
            }
        )
    return {
        "root": str(config.rootpath),
        "python_files": list(config.getini("python_files")),
        "parts": parts,
        "gate": decision.gate.status.value if decision else None,
        "not_run": [row.to_json() for row in decision.not_run] if decision else [],
        "problems": problems,
        "faults": _faults,
    }


def _starts(config: pytest.Config, target: Target | None) -> tuple[list[list[str]], list[str]]:
    """Return what the checks of a target start, and what they declare to write."""
    if target is None:
        return [], []
    from pytest_reflex.checks.registry import commands_of, compile_all
    from pytest_reflex.drivers.reflex.run_integrity import writes_of

    registry = config.stash[SessionState.key].registry_for(config.rootpath)
    try:
        checks = compile_all(target.criteria, registry)
        return [list(command.argv) for command in commands_of(checks)], list(writes_of(checks))
    except ReflexError:  # of a kind that a conftest.py deeper down registers
        return [], []


def _rules(evaluation: Evaluation) -> list[Rule]:
    return [row.rule for row in evaluation.results]


def _rule(rule: Rule, commands: Mapping[str, Any]) -> dict[str, Any]:
    safe = [fix for fix in rule.fixes if fix.safe]
    formatters = {fix.params["command"] for fix in safe if fix.kind == FORMAT}
    return {
        "description": rule.description,
        "hint": rule.hint,
        "weight": str(rule.weight),
        "fix": [fix.to_json() for fix in safe],
        "commands": {name: commands[name] for name in sorted(formatters) if name in commands},
    }


def _files(config: pytest.Config, root: str) -> dict[str, Any]:
    """Return the modules that were loaded, and those from outside the root and the installation."""
    installed = tuple(
        os.path.realpath(path) + os.sep
        for path in {*sysconfig.get_paths().values(), str(Path(os.__file__).parent), *_packages()}
    )
    base = os.path.realpath(root) + os.sep
    written = set(map(os.path.realpath, _written))
    imported = {_source(module) for module in tuple(sys.modules.values())}
    imported |= {_source(plugin) for plugin in config.pluginmanager.get_plugins()}
    ours = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep

    known = (base, *installed, ours)
    # What a test wrote somewhere to import it came from here.
    strange = (path for path in imported - written if path and not path.startswith(known))
    return {"loaded": sorted(loaded_sources()), "imported": sorted(strange)}


def _packages() -> list[str]:
    """Return the further folders of packages: of the system and of the user."""
    return [*site.getsitepackages(), site.getusersitepackages()]


def _source(module: Any) -> str:
    path = getattr(module, "__file__", None)
    if not isinstance(path, str) or not os.path.isfile(path):
        return ""
    return os.path.realpath(path)


def _add_line(path: Path, line: bytes) -> None:
    """Add a line at once, whole: workers write to the same file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(descriptor, line + b"\n")
    finally:
        os.close(descriptor)


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
