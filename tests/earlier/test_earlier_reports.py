"""What earlier code wrote for other programs is valid, and is read back where it can be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli import own_driver
from pytest_reflex.contracts.validate import problems
from tests.earlier.conftest import BringBack, Told
from tests.earlier.make import JUDGED_LOOP, SAID
from tests.earlier.own import UntilGreen
from tests.earlier.projects import DATA, calls_after, versions_with, write_inputs

pytestmark = pytest.mark.variants

# The files of which there is a schema: by their name in the data, whole ones and those of lines.
DOCUMENTS = {
    "run.json": "run",
    "current.json": "current",
    "report.json": "report",
    "session.json": "report",
    "issues.json": "critique",
    "rooda/state/build.json": "iteration-state",
}
LINES = {"history.jsonl": "event", "rooda/log/build/*.jsonl": "iteration-log"}


def documents(version: str) -> Iterator[tuple[str, Path, Any]]:
    """Yield each document of a version with the name of its schema."""
    for pattern, schema in DOCUMENTS.items():
        for path in (DATA / version).rglob(pattern):
            yield schema, path, json.loads(path.read_bytes())
    for pattern, schema in LINES.items():
        for path in (DATA / version).rglob(pattern):
            for line in path.read_text("utf-8").splitlines():
                yield schema, path, json.loads(line)


@pytest.mark.parametrize("version", versions_with("loop"))
def test_what_earlier_code_wrote_is_valid_by_todays_schemas(version: str) -> None:
    wrong, seen = [], set()
    for schema, path, document in documents(version):
        seen.add(schema)
        wrong += [f"{path}: {problem}" for problem in problems(schema, document)]
    assert not wrong
    assert {"run", "event", "iteration-log", "iteration-state"} <= seen


REPORTED = pytest.mark.parametrize("earlier", versions_with("reported"), indirect=True)


@REPORTED
def test_an_earlier_report_is_criticised_and_its_issues_are_fixed(
    earlier: BringBack, told: Told
) -> None:
    project = earlier("reported")
    of = ("draft.md", "--criteria", "words.yaml")
    now = json.loads(told("evaluate", *of, "--json", status=1))
    before = json.loads((project / "report.json").read_text())
    session = json.loads((project / "session.json").read_text())
    assert _figures(before) == _figures(now) == _figures(session)
    issues = told("critique", *of, "--json", "--evaluation", "report.json")
    assert _unpaid(issues) == _unpaid((project / "issues.json").read_text())
    again = told("critique", *of, "--json", "--evaluation", "session.json")
    assert _unpaid(again) == _unpaid(issues)
    assert told("refine", *of, "--issues", "issues.json").strip() == "Uno. Dos."
    assert calls_after(project) == ["CRITIQUE", "CRITIQUE", "REFINE"]


def _unpaid(document: str) -> dict[str, Any]:
    return {key: value for key, value in json.loads(document).items() if key != "cost"}


def _figures(report: dict[str, Any]) -> list[Any]:
    """Return what a report says of each artifact and rule, without words and times."""
    keys = ("artifact_sha256", "score_exact", "passed", "phase", "criteria", "measured", "total")
    rule_keys = ("id", "verdict", "outcome", "severity", "weight")
    return [
        (
            [one[key] for key in keys],
            [[rule[key] for key in rule_keys] for rule in one["rule_results"]],
        )
        for one in report["evaluations"]
    ]


@pytest.mark.parametrize("earlier", versions_with("written"), indirect=True)
def test_files_that_earlier_code_wrote_for_people_are_read(earlier: BringBack, told: Told) -> None:
    project = earlier("written")
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert told("flow", "check").endswith("The flow can be run.\n")
    assert "wrote" not in told("flow", "setup")
    told("criteria", "lint", "letter.yaml")
    told("criteria", "test", "letter.yaml")
    told("evaluate", "draft.md", "--criteria", "found.yaml")
    files = ("words.yaml", "normal.yaml", "normal.json")
    normal = [told("criteria", "normalize", name) for name in files]
    assert normal == [normal[0]] * 3
    assert before == {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


@REPORTED
def test_the_rules_of_an_earlier_run_are_used_once_more(earlier: BringBack, told: Told) -> None:
    project = earlier("loop-finished")
    run = project / ".ai-factory/evolution/run"
    shutil.copyfile(run / "artifact.md", "said.md")
    report = json.loads(told("evaluate", "said.md", "--criteria", str(run / "run.json"), "--json"))
    (evaluation,) = report["evaluations"]
    assert [rule["id"] for rule in evaluation["rule_results"]] == ["a.x.one", "b.x.two"]
    issues = told(
        "critique",
        "said.md",
        "--criteria",
        str(run / "run.json"),
        "--evaluation",
        str(run / "run.json"),
        "--json",
    )
    assert json.loads(issues)["issues"] == []


@REPORTED
def test_an_earlier_event_log_is_continued(earlier: BringBack, told: Told) -> None:
    project = earlier("loop-with-events")
    log = project / "events.jsonl"
    before = log.read_text("utf-8")
    told("loop", "resume", "run", "--quiet", "--events", "events.jsonl")
    after = log.read_text("utf-8")
    assert after.startswith(before)
    events = _events(log)
    new = [json.loads(line) for line in after.removeprefix(before).splitlines()]
    assert (new[0]["kind"], new[0]["fields"]["resumed"]) == ("started", True)
    assert (new[-1]["kind"], new[-1]["fields"]["reason"]) == ("stopped", "threshold_reached")
    keys = [set(one) for one in events]
    assert all(one == {"time", "driver", "run", "kind", "iteration", "fields"} for one in keys)
    written = [one["fields"]["seq"] for one in events if "seq" in one["fields"]]
    history = (project / ".ai-factory/evolution/run/history.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in history.splitlines()]
    assert written == [one["seq"] for one in lines]


JUDGED = pytest.mark.parametrize("earlier", versions_with("judged"), indirect=True)
JUDGED_BY = ("evaluate", "reply.md", "--criteria", "tone.yaml", "--judge", "jury", "--json")


@JUDGED
def test_votes_that_earlier_code_kept_are_not_paid_for_again(
    earlier: BringBack, told: Told
) -> None:
    """Other words in the prompt of the judge are another question: then people pay once more."""
    project = earlier("judged-votes")
    before = json.loads((project / "report.json").read_text())
    now = json.loads(told(*JUDGED_BY, status=1))
    assert _figures(now) == _figures(before)
    votes = [_votes(report) for report in (before, now)]
    assert [one.pop("cached") for one in votes[1]] == [True, True]
    assert [{**one, "cost": None} for one in votes[0]] == votes[1]
    assert calls_after(project) == []


def _votes(report: dict[str, Any]) -> list[dict[str, Any]]:
    rules = {rule["id"]: rule for rule in report["evaluations"][0]["rule_results"]}
    (check,) = rules["a.tone.polite"]["checks"]
    cast: list[dict[str, Any]] = check["ballots"][0]["cast"]
    return cast


@JUDGED
def test_an_earlier_loop_asks_for_the_votes_alone_that_it_has_not(
    earlier: BringBack, told: Told
) -> None:
    earlier("judged-loop-finished")
    unbroken = json.loads(told("loop", "status", "run", "--json"))
    assert "The recorded verdict holds" in told("loop", "verify", "run", status=1)
    project = earlier("judged-loop-killed")
    told("loop", "resume", "run", "--quiet", status=6)
    assert calls_after(project) == ["vote"]
    resumed = json.loads(told("loop", "status", "run", "--json"))
    for key in ("status", "iteration", "last_score", "artifact"):
        assert resumed[key] == unbroken[key]
    assert resumed["spend"]["calls"] == 3  # the one that was under way, too


@JUDGED
def test_an_earlier_recording_with_votes_is_replayed(
    earlier: BringBack, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = earlier("judged-loop-finished")
    before = json.loads(told("loop", "history", "run", "--stable").splitlines()[-2])
    folder = project.parent / "again"
    write_inputs("judged", folder)
    monkeypatch.chdir(folder)
    argv = [one for one in JUDGED_LOOP[4:] if one not in ("--record", "calls.jsonl")]
    recording = str(project / "calls.jsonl")
    told("loop", "new", *argv, "--replay", recording, "--quiet", status=6)
    after = json.loads(told("loop", "history", "run", "--stable").splitlines()[-2])
    assert (after["event"], after["payload"]["score"]) == (
        before["event"],
        before["payload"]["score"],
    )
    assert calls_after(project) == []


@pytest.mark.parametrize("earlier", versions_with("loop-with-feedback"), indirect=True)
def test_what_people_had_said_in_an_earlier_loop_is_heeded(earlier: BringBack, told: Told) -> None:
    earlier("loop-with-feedback")
    told("loop", "resume", "run", "--quiet")
    calls = [json.loads(line) for line in Path("calls.jsonl").read_text("utf-8").splitlines()]
    critiques = [SAID in one["prompt"] for one in calls[1:] if one["step"] == "CRITIQUE"]
    assert critiques == [True, False]


@pytest.mark.parametrize("earlier", versions_with("iterate-with-feedback"), indirect=True)
def test_what_people_had_said_in_an_earlier_iteration_loop_is_heeded(
    earlier: BringBack, told: Told
) -> None:
    project = earlier("iterate-with-feedback")
    told("iterate", "resume", "build", "--events", "../events.jsonl")
    events = _events(project.parent / "events.jsonl")
    heard = [one["iteration"] for one in events if one["fields"].get("decision") == "feedback"]
    assert heard == [2]
    assert not list(project.glob(".rooda/state/*control*"))


@pytest.mark.parametrize("earlier", versions_with("own-with-feedback"), indirect=True)
def test_what_people_had_said_in_an_earlier_run_of_an_own_driver_is_heeded(
    earlier: BringBack,
) -> None:
    project = earlier("own-with-feedback")
    argv = ["resume", "first", "--events", "../events.jsonl"]
    assert own_driver.main(UntilGreen(), argv) == 0
    events = _events(project.parent / "events.jsonl")
    heard = [one["fields"]["count"] for one in events if one["kind"] == "decided"]
    assert heard == [1]
    assert calls_after(project) == ["fix", "fix"]


def _events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


OWN = pytest.mark.parametrize("earlier", versions_with("own"), indirect=True)
# How a run was left, its iteration, which fixes are still to be done, and what a resume is told.
RUNS_OF_OWN: dict[str, tuple[str, int, int, tuple[str, ...]]] = {
    "own-finished": ("completed", 3, 0, ()),
    "own-killed": ("interrupted", 1, 2, ()),
    "own-out-of-budget": ("stopped", 0, 2, ("--budget", "calls=+5")),
}


@OWN
@pytest.mark.parametrize("name", RUNS_OF_OWN)
def test_an_earlier_run_of_an_own_driver_is_resumed(
    earlier: BringBack, told: Told, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    project = earlier(name)
    status, iteration, left, more = RUNS_OF_OWN[name]
    driver = UntilGreen()
    assert own_driver.main(driver, ["status", "first"]) == 0
    assert f"Run: first ({status})" in capsys.readouterr().out
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["driver"], row["name"], row["iteration"]) == ("until-green", "first", iteration)
    ended = own_driver.main(driver, ["resume", "first", *more])
    if name == "own-finished":
        assert ended == 4
        return
    assert ended == 0, capsys.readouterr().err
    assert calls_after(project) == ["fix"] * left
    assert (project / "note.txt").read_text() == "A note.\n"
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["status"], row["iteration"]) == ("completed", 3)
