"""``loop new --record`` and ``--replay``: a run is played again without the agents that made it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.artifacts import stable_events
from pytest_reflex.drivers.reflex.history import read_events
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.storage.journal import read_journal

pytestmark = pytest.mark.long

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: says `alpha`}
  - {id: b.x.beta, description: says beta, severity: fail, check: {type: content, search: beta}}
"""
PRICE: dict[str, Any] = {"seconds": 0.75, "usd": 0.125, "tokens": 42}
ISSUE = {
    "rule_id": "b.x.beta", "problem": "no beta", "fix_instruction": "say it", "expected_effect": "b"
}  # fmt: skip
ANSWERS = {
    "plan": json.dumps({"plan": ["say alpha", "say beta", "look again"]}),
    "produce": "alpha\n",
    "prepare": json.dumps(
        {"checks": [{"rule_id": "a.x.alpha", "type": "content", "search": "alpha"}]}
    ),
    "critique": json.dumps({"issues": [ISSUE]}),
    "refine": "alpha\nbeta\n",
}


class Writer(ModuleType):
    """A plugin that plans badly at first and then well; it counts what it was asked."""

    def __init__(self) -> None:
        super().__init__("tape_test_writer")
        self.asked: list[str] = []
        for step in ANSWERS:
            setattr(self, f"pytest_reflex_{step}", self._saying(step))

    def _saying(self, step: str) -> Any:
        def hook(request: StepRequest) -> Reply:
            self.asked.append(step)
            if step == "produce" and request.artifact:
                return Reply(text=request.artifact, agent="writer", **PRICE)
            text = "no plan" if self.asked == ["plan"] else ANSWERS[step]
            return Reply(text=text, agent="writer", **PRICE)

        return hook


@pytest.fixture
def writer() -> Iterator[Writer]:
    module = Writer()
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter(tmp_path / "project", monkeypatch)


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder.mkdir()
    (folder / "words.yaml").write_text(CRITERIA)
    monkeypatch.chdir(folder)
    return folder


def play(*flags: str) -> int:
    argv = ["loop", "new", "say words", "--criteria", "words.yaml", "--evaluator", "core", "--yes"]
    return main([*argv, "--alias", "words", *flags])


def record(project: Path, writer: Writer) -> Path:
    (project / "pytest-reflex.toml").write_text(f'plugins = ["{writer.__name__}"]\n')
    assert play("--record", "run.jsonl") == 0
    (project / "pytest-reflex.toml").unlink()
    return project / "run.jsonl"


def log(folder: Path) -> list[dict[str, Any]]:
    path = folder / ".ai-factory/evolution/words/history.jsonl"
    events, _ = read_events(path, read_journal(path).records)
    return stable_events(events, folder)


def calls(recording: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in recording.read_bytes().splitlines()][1:]


def test_every_call_is_recorded_also_one_that_failed(project: Path, writer: Writer) -> None:
    found = calls(record(project, writer))
    assert len(found) == len(writer.asked)
    first, second = [(c["step"], c["try"], c["answer"]) for c in found][:2]
    assert first == ("PLAN", 1, "no plan")
    assert second == ("PLAN", 2, ANSWERS["plan"])
    assert {c["usd"] for c in found} == {0.125}


def test_two_replays_in_two_folders_have_equal_event_logs(
    project: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record(project, writer)
    asked, logs = len(writer.asked), []
    for name in ("one", "two"):
        folder = enter(project.parent / name, monkeypatch)
        assert play("--replay", str(recording)) == 0
        logs.append(log(folder))
    assert logs[0] == logs[1]
    assert len(writer.asked) == asked
    assert (project.parent / "two/.ai-factory/evolution/words/artifact.md").read_text() == (
        "alpha\nbeta\n"
    )


def test_equal_event_logs_are_equal_lines_on_the_command_line(
    project: Path,
    writer: Writer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recording, told = record(project, writer), []
    for name in ("one", "two"):
        enter(project.parent / name, monkeypatch)
        assert play("--replay", str(recording)) == 0
        capsys.readouterr()
        assert main(["loop", "history", "words", "--stable"]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    lines = [json.loads(line) for line in told[0].splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert {line["run_id"] for line in lines} == {"{run}"}


def test_a_damaged_history_cannot_be_compared(
    project: Path, writer: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    record(project, writer)
    path = project / ".ai-factory/evolution/words/history.jsonl"
    path.write_bytes(path.read_bytes().replace(b"say alpha", b"say ALPHA"))
    assert main(["loop", "history", "words", "--stable"]) == 12
    out, err = capsys.readouterr()
    assert "is damaged: line " in err
    assert '"seq"' not in out


def test_a_replay_goes_the_way_of_the_recorded_run(
    project: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record(project, writer)
    folder = enter(project.parent / "again", monkeypatch)
    assert play("--replay", str(recording)) == 0
    assert log(folder)[1:] == log(project)[1:]
    run = json.loads((folder / ".ai-factory/evolution/words/run.json").read_text())
    assert run["spend"]["usd"] == 0.125 * len(calls(recording))


def test_a_replay_asks_no_plugin(project: Path, writer: Writer) -> None:
    recording = record(project, writer)
    (project / "pytest-reflex.toml").write_text(f'plugins = ["{writer.__name__}"]\n')
    asked = len(writer.asked)
    assert play("--replay", str(recording)) == 0
    assert len(writer.asked) == asked


def test_a_replay_may_be_recorded(
    project: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record(project, writer)
    enter(project.parent / "again", monkeypatch)
    assert play("--replay", str(recording), "--record", "copy.jsonl") == 0

    def of(path: Path) -> list[tuple[str, ...]]:
        return sorted((c["step"], c["answer"], str(c["usd"]), c["agent"]) for c in calls(path))

    assert of(Path("copy.jsonl")) == of(recording)


def test_a_prompt_that_drifted_ends_the_run_and_says_where(
    project: Path, writer: Writer, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = record(project, writer)
    other = CRITERIA.replace("says beta", "names beta")
    (project / "words.yaml").write_text(other)
    assert play("--replay", str(recording), "--alias", "drift") == 9
    out, err = (" ".join(text.split()) for text in capsys.readouterr())
    assert "the prompt is not the recorded one: call 1 (PLAN, iteration 1, phase A)" in out
    assert "recorded '- b.x.beta (fail): says beta', now '- b.x.beta (fail): names beta'" in out
    assert "replay: 10 recorded calls not used, the first is call 1 (PLAN" in err


def test_a_recording_can_answer_single_steps(project: Path, writer: Writer) -> None:
    recording = record(project, writer)
    (project / "pytest-reflex.toml").write_text(
        f'[agents.then]\nkind = "replay"\nrecording = "{recording.name}"\n'
    )
    assert play("--agent", "offline", "--agent", "plan=then", "--max-iterations", "1") == 6
    run = json.loads((project / ".ai-factory/evolution/words-2/run.json").read_text())
    assert run["plan"] == ["say alpha", "say beta", "look again"]


REFUSED = {
    "both": (["--replay", "run.jsonl", "--agent", "offline"], "leave --agent out"),
    "no recording": (["--replay", "none.jsonl"], "there is no recording"),
    "one that is there": (["--record", "words.yaml"], "words.yaml is there already"),
    "no recording named": (["--agent", "replay"], "agent replay needs a recording"),
}


@pytest.mark.parametrize(("flags", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused_before_anything_is_written(
    flags: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(*flags) == 4
    assert message in capsys.readouterr().err
    assert not (project / ".ai-factory").exists()


def test_the_configuration_can_have_every_run_recorded(project: Path) -> None:
    (project / "pytest-reflex.toml").write_text('[loop]\nrecord = "runs/{alias}.jsonl"\n')
    play("--max-iterations", "1")
    play("--max-iterations", "1")
    assert sorted(path.name for path in (project / "runs").iterdir()) == [
        "words-2.jsonl",
        "words.jsonl",
    ]


def interrupted(project: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record a run that is interrupted while it asks for the critique."""

    def leave(request: StepRequest) -> Reply:
        raise KeyboardInterrupt

    (project / "pytest-reflex.toml").write_text(f'plugins = ["{writer.__name__}"]\n')
    with monkeypatch.context() as patch:
        patch.setattr(writer, "pytest_reflex_critique", leave)
        assert play("--record", "run.jsonl") == 130
    return project / "run.jsonl"


def test_a_resumed_run_goes_on_recording(
    project: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = interrupted(project, writer, monkeypatch)
    before = len(calls(recording))
    assert main(["loop", "resume", "words"]) == 0
    assert len(calls(recording)) > before
    folder = enter(project.parent / "again", monkeypatch)
    assert play("--replay", str(recording)) == 0
    assert log(folder)[1:] == log(project)[1:]


def test_an_answer_that_was_lost_is_asked_for_again_and_not_replayed(
    project: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(request: StepRequest, reply: Reply) -> None:
        if request.step is Step.REFINE:  # by now it is recorded, and no event says so
            raise KeyboardInterrupt

    (project / "pytest-reflex.toml").write_text(f'plugins = ["{writer.__name__}"]\n')
    with monkeypatch.context() as patch:
        patch.setattr(writer, "pytest_reflex_answered", leave, raising=False)
        assert play("--record", "run.jsonl") == 130
    assert main(["loop", "resume", "words"]) == 0
    refined = [call["try"] for call in calls(project / "run.jsonl") if call["step"] == "REFINE"]
    assert refined == [1, 2]
    folder = enter(project.parent / "again", monkeypatch)
    assert play("--replay", str(project / "run.jsonl")) == 0
    assert log(folder)[1:] == log(project)[1:]


def test_a_recording_that_is_gone_does_not_hold_up_a_resume(
    project: Path,
    writer: Writer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    interrupted(project, writer, monkeypatch).unlink()
    assert main(["loop", "resume", "words"]) == 0
    assert "run.jsonl is gone: this run goes on without it" in capsys.readouterr().err
