"""Votes are kept: for an unchanged artifact, rule and judge none is bought twice, or forged."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import pytest_reflex
from pytest_reflex.agents.vote_cache import identity_of, keep_votes
from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.measure import Attempt, MeasurementStatus
from pytest_reflex.drivers.common.measure_criteria import CriteriaMeasure
from pytest_reflex.host import open_host, register_judge
from pytest_reflex.model.judged import Ruling, Vote
from pytest_reflex.settings import load
from pytest_reflex.storage import user_state
from pytest_reflex.storage.user_state import VoteFolder, folder_of, remove_planted_votes
from tests.judged.jurors import BODIES, configured, judge

pytestmark = [pytest.mark.long, pytest.mark.variants]

TONE = """\
name: tone
rules:
  - id: a.tone.polite
    description: The text is polite
    severity: fail
    check: {type: judged, rubric: No insults., votes: 3}
  - {id: a.tone.kind, description: The text is kind, severity: warn, check: It reads kind.}
"""
SUITE = "criteria: {name: tone}\nartifacts: [a.md]\n" + TONE.partition("\n")[2]
EVALUATE = ["evaluate", "a.md", "--criteria", "tone.yaml", "--judge", "jury"]
VOTES = 3
"""Of the two rules: the first is settled by two of its votes."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which the judge counts how often it was asked, and a cache beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(folder)
    (folder / "tone.yaml").write_text(TONE)
    (folder / "a.md").write_text("A polite text.\n")
    configured(folder, "counts")
    return folder


def calls(folder: Path) -> int:
    return len((folder / "asked").read_text()) if (folder / "asked").exists() else 0


def kept(folder: Path) -> list[Path]:
    place = folder_of(folder)
    assert place is not None
    return sorted(place.glob("*.json"))


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_what_has_not_changed_is_not_asked_again_and_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*EVALUATE, "--verbose"]) == 0
    assert "3 votes: another run" in told(capsys)
    assert main([*EVALUATE, "--verbose"]) == 0
    again = told(capsys)
    assert calls(folder) == VOTES
    assert "2 of 2 rules by an agent (jury), 3 votes, cached: another run" in again
    assert "vote 2: pass (jury, cached): line 1 is polite" in again
    assert main([*EVALUATE, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["evaluations"]
    (ballot,) = found["rule_results"][0]["checks"][0]["ballots"]
    assert [(vote["cached"], vote["cost"]) for vote in ballot["cast"]] == [(True, None)] * 2


CHANGES = {
    "the artifact": ("a.md", "A polite text.", "A polite text!", 3),
    "a rubric": ("tone.yaml", "No insults.", "No insults at all.", 2),
    "a description": ("tone.yaml", "The text is kind", "The text is warm", 1),
    "how often it is asked": ("tone.yaml", "votes: 3", "votes: 5", 3),
    "the program of the judge": ("judge.py", "line 1 is polite", "all is polite", 3),
    "the time-out of the judge": ("pytest-reflex.toml", "command =", "timeout = 50\ncommand =", 0),
    "the model of the judge": ("pytest-reflex.toml", "command =", 'model = "b"\ncommand =', 3),
}


@pytest.mark.parametrize(("name", "old", "new", "more"), CHANGES.values(), ids=CHANGES)
def test_what_is_another_question_is_asked(
    name: str, old: str, new: str, more: int, folder: Path
) -> None:
    main(EVALUATE)
    path = folder / name
    path.write_text(path.read_text().replace(old, new))
    main(EVALUATE)
    assert calls(folder) == VOTES + more


def test_a_variable_that_the_judge_is_given_is_part_of_the_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(folder, "counts", env='["JURY_MODEL", "JURY_API_KEY"]')
    for name, value, asked in (
        ("JURY_MODEL", "small", 3),
        ("JURY_MODEL", "large", 6),
        ("JURY_API_KEY", "another-key-value", 6),
        ("OTHER", "x", 6),
    ):
        monkeypatch.setenv(name, value)
        main(EVALUATE)
        assert calls(folder) == asked


VOID = ("crash", "malformed", "silent", "two answers", "another case")


@pytest.mark.parametrize("body", VOID)
def test_a_void_vote_is_not_kept(body: str, folder: Path) -> None:
    configured(folder, body)
    main(EVALUATE)
    assert kept(folder) == []


@pytest.mark.parametrize("body", ["fail", "undecided"])
def test_what_is_no_pass_is_kept_as_it_is(
    body: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(folder, f"counted(); {BODIES[body]}")
    status = main(EVALUATE)
    before, asked = told(capsys).partition("JUDGED")[0], calls(folder)
    assert main(EVALUATE) == status != 0
    assert told(capsys).partition("JUDGED")[0] == before
    assert calls(folder) == asked > 0


def test_without_the_cache_nothing_is_read_or_kept(folder: Path) -> None:
    main([*EVALUATE, "--no-cache"])
    assert kept(folder) == []
    main(EVALUATE)
    main([*EVALUATE, "--no-cache"])
    assert calls(folder) == 3 * VOTES


def test_the_configuration_may_switch_it_off(folder: Path) -> None:
    file = folder / "pytest-reflex.toml"
    file.write_text("judge_cache = false\n" + file.read_text())
    main(EVALUATE)
    main(EVALUATE)
    assert calls(folder) == 2 * VOTES


def test_it_can_be_cleared_for_one_project(folder: Path) -> None:
    main(EVALUATE)
    other = VoteFolder(folder_of(folder.parent / "other") or folder)
    other.put("q" * 64, Vote(ruling=Ruling.PASS, agent="jury", reasons=("x",)))
    main([*EVALUATE, "--cache-clear"])
    assert calls(folder) == 2 * VOTES
    assert len(kept(folder)) == VOTES
    main(["evaluate", "a.md", "--criteria", "tone.yaml", "--cache-clear"])  # nobody judges
    assert kept(folder) == []
    assert other.get("q" * 64) is not None


def test_in_python_it_is_kept_too(folder: Path) -> None:
    for _ in range(2):
        assert pytest_reflex.evaluate("a.md", "tone.yaml", judge="jury").judged == 2
    assert calls(folder) == VOTES


DAMAGE = {
    "it is cut short": lambda data: data[: len(data) // 2],
    "it is empty": lambda data: b"",
    "a letter is another one": lambda data: data.replace(b"rude", b"rule"),
    "the verdict is another one": lambda data: data.replace(b'"fail"', b'"pass"'),
    "it is a list": lambda data: b"[1, 2]",
    "it is not JSON": lambda data: b"\0\xff",
    "it is very deep": lambda data: b"[" * 7_000,
    "it is very long": lambda data: data + b" " * 20_000,
    "a reason is a number": lambda data: data.replace(b'["line 1 is rude"]', b"[1]"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_vote_is_bought_again(damage: Any, folder: Path) -> None:
    configured(folder, f"counted(); {BODIES['fail']}")
    assert main(EVALUATE) == 1
    asked, files = calls(folder), kept(folder)
    for path in files:
        path.write_bytes(damage(path.read_bytes()))
    assert main(EVALUATE) == 1
    assert calls(folder) == 2 * asked
    assert main(EVALUATE) == 1
    assert calls(folder) == 2 * asked


def test_a_vote_on_another_question_is_none_on_this_one(folder: Path) -> None:
    main(EVALUATE)
    first, second, *_ = kept(folder)
    first.write_bytes(second.read_bytes())
    main(EVALUATE)
    assert calls(folder) == VOTES + 1


@pytest.mark.parametrize("what", ["a link", "a folder", "a pipe"])
def test_what_is_no_file_is_no_vote(what: str, folder: Path) -> None:
    main(EVALUATE)
    path, aside = kept(folder)[0], folder.parent / "aside"
    path.rename(aside)
    if what == "a link":
        path.symlink_to(aside)
    elif what == "a folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    assert main(EVALUATE) == 0
    assert calls(folder) == VOTES + 1


def test_a_cache_that_others_can_write_is_not_read(folder: Path) -> None:
    main(EVALUATE)
    kept(folder)[0].parent.chmod(0o777)
    main(EVALUATE)
    assert calls(folder) == 2 * VOTES


def test_a_cache_that_cannot_be_made_costs_nothing_but_votes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert main(EVALUATE) == main(EVALUATE) == 0
    assert calls(folder) == 2 * VOTES


@pytest.mark.parametrize("place", ["", "cache", "deep/er"])
def test_a_project_brings_no_votes_along(
    place: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes the artifact could write them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / place))
    assert folder_of(folder) is None
    main(EVALUATE)
    main(EVALUATE)
    assert calls(folder) == 2 * VOTES
    assert not list(folder.rglob("votes"))


def test_only_its_owner_can_read_what_is_kept(folder: Path) -> None:
    main(EVALUATE)
    for path in (*kept(folder), kept(folder)[0].parent):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_what_a_check_runs_plants_no_vote(folder: Path, tmp_path: Path) -> None:
    """The artifact's own code knows the question; it has copied a file from an honest run."""
    configured(folder, f"counted(); {BODIES['pass']}")
    assert main(EVALUATE) == 0
    honest = {path: path.read_bytes() for path in kept(folder)}
    for path, data in honest.items():
        path.unlink()
        (tmp_path / path.name).write_bytes(data)
    place = next(iter(honest)).parent
    plant = f"cp {tmp_path}/*.json {place}/"
    (folder / "tone.yaml").write_text(
        TONE + "  - {id: a.code.runs, description: d, severity: warn, "
        f"check: {{type: executable, command: '{plant}'}}}}\n"
    )
    before = calls(folder)
    assert main(EVALUATE) == 0
    assert calls(folder) == 2 * before
    main([*EVALUATE, "--no-cache"])
    planted = [path for path in kept(folder) if path.name not in {p.name for p in honest}]
    assert planted == []


def test_what_a_check_runs_turns_no_vote(folder: Path, tmp_path: Path) -> None:
    """It writes good files over those that were there, and their times say nothing."""
    configured(folder, f"counted(); {BODIES['fail']}")
    assert main(EVALUATE) == 1
    asked, aside = calls(folder), tmp_path / "aside"
    aside.mkdir()
    for path in kept(folder):
        forger = VoteFolder(aside / "votes")
        forger.put(path.stem, Vote(ruling=Ruling.PASS, agent="jury", reasons=("x",)))
    turn = f"cp {aside}/votes/*.json {kept(folder)[0].parent}/"
    (folder / "tone.yaml").write_text(
        TONE + "  - {id: a.code.runs, description: d, severity: warn, "
        f"check: {{type: executable, command: '{turn}'}}}}\n"
    )
    assert main(EVALUATE) == 1
    assert calls(folder) == 2 * asked


def test_what_comes_while_an_agent_works_is_removed(folder: Path) -> None:
    main(EVALUATE)
    before = {path: path.read_bytes() for path in kept(folder)}
    first, second, third = before
    with remove_planted_votes(folder):
        first.write_bytes(second.read_bytes())
        (first.parent / f"{'a' * 64}.json").write_bytes(third.read_bytes())
        os.utime(first, ns=(0, 0))
    assert kept(folder) == [second, third]


def test_an_agent_of_a_loop_plants_no_vote(folder: Path) -> None:
    """It knows what the judge will be asked about its text, and writes the answer down."""
    main(EVALUATE)
    place = kept(folder)[0].parent
    (folder / "writer.py").write_text(
        "import pathlib, sys\n"
        f"place = pathlib.Path({str(place)!r})\n"
        "(place / ('b' * 64 + '.json')).write_text('{}')\n"
        "print('A polite text.')\n"
    )
    file = folder / "pytest-reflex.toml"
    file.write_text(
        file.read_text() + f"[agents.writer]\ncommand = [{sys.executable!r}, 'writer.py']\n"
    )
    new = ["loop", "new", "Write", "--criteria", "tone.yaml", "--alias", "tone", "--yes", "--quiet"]
    more = ["--agent", "produce=writer", "--judge", "jury", "--max-iterations", "1"]
    assert main([*new, *more]) == 0
    assert len(kept(folder)) == VOTES


def test_old_votes_go_where_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_state, "MOST_VOTES", 10)
    monkeypatch.setattr(user_state, "_ROOM", 2)
    place = tmp_path / "votes" / "one"
    folder = VoteFolder(place)
    for number in range(25):
        folder.put(f"{number:064}", Vote(ruling=Ruling.PASS, agent="jury", reasons=("x",)))
        os.utime(place / f"{number:064}.json", (number, number))
        assert len(list(place.iterdir())) <= 10
    assert VoteFolder(place).get(f"{24:064}") is not None


def test_old_projects_go_where_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_state, "MOST_PROJECTS", 3)
    vote = Vote(ruling=Ruling.PASS, agent="jury", reasons=("x",))
    for number in range(6):
        place = tmp_path / "votes" / f"{number}"
        VoteFolder(place).put("q" * 64, vote)
        os.utime(place, (number, number))
    assert sorted(path.name for path in (tmp_path / "votes").iterdir()) == ["3", "4", "5"]


def test_a_vote_too_long_to_keep_is_given_all_the_same(tmp_path: Path) -> None:
    place = tmp_path / "votes" / "one"
    long = Vote(ruling=Ruling.PASS, agent="jury", reasons=("x" * 9_000,))
    VoteFolder(place).put("q" * 64, long)
    assert not place.exists()


def test_who_is_no_command_has_no_identity(tmp_path: Path) -> None:
    assert identity_of(judge(tmp_path, "pass").agent)
    assert identity_of(object()) == ""


def test_a_gate_of_iterate_keeps_votes_in_memory_alone(folder: Path) -> None:
    host, settings = open_host(), load(folder)
    register_judge(host, settings, "jury")
    keep_votes(host.registry, settings)
    gate = CriteriaMeasure("tone.yaml", ["a.md"], project=folder, registry=host.registry)
    first, second = (gate(Attempt()) for _ in range(2))
    assert first.status is second.status is MeasurementStatus.PASSED
    assert calls(folder) == VOTES
    assert first.cost is not None
    assert second.cost is None
    assert not (folder.parent / "cache").exists()


def test_a_loop_buys_a_vote_once_for_one_text(folder: Path) -> None:
    """Phase B judges the artifact of A, and its rules of A are the same."""
    (folder / "tone.yaml").write_text(
        TONE + "  - {id: b.tone.long, description: d, severity: fail, "
        "check: {type: content, search: polite}}\n"
    )
    new = ["loop", "new", "Write", "--criteria", "tone.yaml", "--input", "a.md", "--alias", "tone"]
    assert main([*new, "--judge", "jury", "--yes", "--quiet"]) == 0
    assert calls(folder) == VOTES
    run = json.loads((folder / ".ai-factory/evolution/tone/run.json").read_text())
    assert (run["phase"], run["spend"]["calls"]) == ("B", VOTES)
    votes = [
        vote["cached"]
        for row in run["evaluation"]["rule_results"][:2]
        for ballot in row["checks"][0]["ballots"]
        for vote in ballot["cast"]
    ]
    assert votes == [True] * VOTES
    assert main(["loop", "verify", "tone"]) == 0
    assert calls(folder) == VOTES


def test_a_loop_asks_again_where_the_cache_is_off(folder: Path) -> None:
    file = folder / "pytest-reflex.toml"
    file.write_text("judge_cache = false\n" + file.read_text())
    (folder / "tone.yaml").write_text(
        TONE + "  - {id: b.tone.long, description: d, severity: fail, "
        "check: {type: content, search: polite}}\n"
    )
    new = ["loop", "new", "Write", "--criteria", "tone.yaml", "--input", "a.md", "--alias", "tone"]
    assert main([*new, "--judge", "jury", "--yes", "--quiet"]) == 0
    assert calls(folder) == 2 * VOTES
