"""Checks of one group: never beside each other, whoever runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_reflex.checks.groups import Groups
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate, prepare, run_one
from pytest_reflex.criteria.suite import make_target
from pytest_reflex.errors import StateError
from pytest_reflex.model.enums import Outcome
from pytest_reflex.process.deadline import Cancel
from tests.criteria.writing import load, problems, rule, rules, write

# Two of these at once and one fails: the folder is there already.
ALONE = "mkdir L && sleep 0.3 && rmdir L"
RUN = f"type: executable, command: '{ALONE}'"
ABSENT = "{type: content, search: zz}"
SHARED = {
    "commands": [f"{{{RUN}, group: db}}"] * 3,
    "commands among alternatives": [
        f"{{{RUN}, group: db}}",
        f"{{any_of: [{{{RUN}}}, {ABSENT}], group: db}}",
        f"{{any_of: [{ABSENT}, {{{RUN}, group: db}}]}}",
    ],
    "two groups, in either order": [
        f"{{{RUN}, group: a}}",
        f"{{any_of: [{{type: content, search: zz, group: b}}, {{{RUN}, group: a}}]}}",
        f"{{any_of: [{ABSENT}, {{{RUN}, group: b}}], group: a}}",
    ],
}


@pytest.mark.parametrize("checks", SHARED.values(), ids=SHARED)
def test_checks_of_a_group_are_apart(tmp_path: Path, checks: list[str]) -> None:
    text = rules(*(rule(f"a.x.r{number}", check=one) for number, one in enumerate(checks)))
    criteria = load(tmp_path, text)
    target = make_target(criteria, write(tmp_path, "a.md", "x"), root=tmp_path)
    found = evaluate(target, built_in_registry(), workers=4)
    assert [row.outcome for row in found.results] == [Outcome.PASS] * len(checks)


HOLDER = """
import sys
from pathlib import Path
from threading import Event
from pytest_reflex.checks.groups import Groups
with Groups(Path(sys.argv[1])).hold(["db"], Event()):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> subprocess.Popen[str]:
    """A process that holds the group `db` in a folder."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_holder_that_is_killed_lets_go(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    waiting, held = threading.Event(), threading.Event()

    def wait() -> None:
        waiting.set()
        with Groups(tmp_path).hold(["db"], threading.Event()):
            held.set()

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(5)
    assert not held.wait(0.1)
    _end(holder)
    assert held.wait(5)
    thread.join()


def test_other_groups_do_not_wait(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with Groups(tmp_path).hold(["DB", "db2", "d.b"], threading.Event()):
        _end(holder)


def test_a_wait_ends_where_the_session_does(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    stop = Cancel()
    threading.Timer(0.1, stop.set).start()
    waits = pytest.raises(StateError, match="ended while it waited for the group db")
    with waits, Groups(tmp_path).hold(["db"], stop):
        pass
    _end(holder)


def test_waiting_is_no_time_of_the_check(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    """It is neither held against its time-out, nor told as its duration."""
    check = "{type: executable, command: 'true', timeout: 2, group: db}"
    criteria = load(tmp_path, rules(rule(check=check)))
    target = make_target(criteria, write(tmp_path, "a.md", "x"), root=tmp_path)
    prepared = prepare(target, built_in_registry(), groups=lambda: Groups(tmp_path))
    threading.Timer(2.5, holder.kill).start()
    found = run_one(prepared, "a.docs.title", 0)
    holder.communicate()
    assert (found.outcome, found.duration < 2) == (Outcome.PASS, True), found.message


def test_a_check_that_waits_in_vain_is_an_error(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    text = rules(rule(check="{type: content, search: x, group: db}"))
    target = make_target(load(tmp_path, text), write(tmp_path, "a.md", "x"), root=tmp_path)
    stop = Cancel()
    prepared = prepare(target, built_in_registry(), cancel=stop, groups=lambda: Groups(tmp_path))
    threading.Timer(0.1, stop.set).start()
    found = run_one(prepared, "a.docs.title", 0)
    _end(holder)
    assert (found.outcome, found.message) == (
        Outcome.ERROR,
        "the session ended while it waited for the group db",
    )


def test_a_folder_that_is_not_there_is_made_up_for(tmp_path: Path) -> None:
    """So it is in a worker on another machine: apart are the checks of that worker."""
    groups = Groups(tmp_path / "elsewhere")
    with groups.hold(["db"], threading.Event()):
        pass
    assert list(tmp_path.iterdir()) == []


def test_no_lock_is_made_where_no_check_names_a_group(tmp_path: Path) -> None:
    target = make_target(load(tmp_path, rules()), write(tmp_path, "a.md", "x"), root=tmp_path)
    assert prepare(target, built_in_registry()).groups is None


READ = {
    "content": "{type: content, search: x, group: db}",
    "structure": "{type: structure, headings: {required: [A]}, group: db.main}",
    "executable": "{type: executable, command: 'true', group: Port-8080}",
    "findings": "{type: findings, command: [x], format: sarif, group: lint_1}",
    "judged": "{type: judged, group: db}",
    "any_of": "{any_of: [{type: content, search: x}, {type: content, search: y}], group: db}",
}


@pytest.mark.parametrize("check", READ.values(), ids=READ)
def test_every_kind_of_check_takes_a_group(tmp_path: Path, check: str) -> None:
    criteria = load(tmp_path, rules(rule(check=check)))
    (spec,) = criteria.rules[0].checks
    assert spec.group
    assert "group" not in spec.params
    assert type(spec).from_json(spec.to_json()).group == spec.group
    assert spec.groups == (spec.group,)


FAULTS = {
    "a number": ("3", "group must be a text, not the number 3 (put it in quotes)"),
    "a list": ("[a]", "group must be a text, not a list"),
    "nothing": ("''", "the group '' cannot be used"),
    "a path": ("../db", "the group '../db' cannot be used (letters, digits, dots, hyphens"),
    "blanks": ("a b", "the group 'a b' cannot be used"),
    "far too long": ("x" * 101, "cannot be used"),
    "null": ("null", "group must be a text, not nothing"),
}


@pytest.mark.parametrize(("group", "told"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize(
    "check",
    [
        "type: content, search: x",
        "any_of: [{type: content, search: x}, {type: content, search: y}]",
    ],
    ids=["a check", "any_of"],
)
def test_a_name_that_cannot_be_used_is_an_error(
    tmp_path: Path, check: str, group: str, told: str
) -> None:
    (found,) = problems(tmp_path, rules(rule(check=f"{{{check}, group: {group}}}")))
    assert told in found
    assert found.startswith("rules.yaml:5:")
