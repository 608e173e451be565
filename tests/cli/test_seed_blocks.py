"""What a loop shows as the seed has it: blocks, critiques, and how every run ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.run_status import find_run
from pytest_reflex.reports.iteration import block
from pytest_reflex.reports.lines import plain
from tests.cli.terminal import Terminal
from tests.drivers.reflex.histories import History
from tests.drivers.reflex.stage import Script, Stage, history_of
from tests.slim import slim_python

pytestmark = pytest.mark.variants

Captured = pytest.CaptureFixture[str]
WORDS = " ".join(f"word-{number}" for number in range(40))
NAMES = [f"a.completeness.a-rule-with-a-long-name-{number}" for number in range(4)]


def long_criteria() -> str:
    rules = [
        f"  - {{id: {name}, description: d, severity: fail, hint: {WORDS!r},\n"
        f"     check: {{type: content, search: never-{number}, expected: {WORDS!r}}}}}\n"
        for number, name in enumerate(NAMES)
    ]
    return "name: long\nrules:\n" + "".join(rules)


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.yaml").write_text(long_criteria())
    return tmp_path


def new(*more: str) -> list[str]:
    argv = ["loop", "new", "say words", "--alias", "long", "--criteria", "long.yaml", "--yes"]
    return [*argv, "--evaluator", "core", *more]


def test_a_block_in_a_pipe_has_a_line_for_each_of_its_keys(long: Path, capsys: Captured) -> None:
    assert main(new("--max-iterations", "1")) == 6
    err = capsys.readouterr().err
    lines = err[err.index("── Iteration 1/1") :].splitlines()
    keys = ["── Iteration 1/1 ", "Plan", "Hash", "Changed", "Failed", "Warnings", "Artifact"]
    assert [line.partition(":" if number else "|")[0] for number, line in enumerate(lines[:7])] == (
        keys
    )
    assert lines[4] == f"Failed: {', '.join(NAMES)}"


def test_a_fix_in_a_critique_is_one_line(long: Path, capsys: Captured) -> None:
    assert main(new("--max-iterations", "2")) in (6, 7)
    lines = capsys.readouterr().err.splitlines()
    at = lines.index("Critique:")
    found = [line for line in lines[at + 1 :] if line.startswith("  - ")][: len(NAMES)]
    assert [line.partition(": ")[0] for line in found] == [f"  - {name}" for name in NAMES]
    assert all("; fix: word-0 word-1" in line for line in found)
    assert lines[at + 1 : at + 5] == found


@pytest.mark.long
def test_a_terminal_that_is_wide_has_lines_of_80_and_fixes_whole(long: Path) -> None:
    with Terminal(new("--max-iterations", "1"), long, columns=200) as terminal:
        assert terminal.end() == 6
        lines = terminal.everything.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("Failed:"))
    assert lines[at + 1].startswith("    ")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("fail", ""),
        ("error", "Not measured: a.x.must (error)"),
        ("not_measured", "Not measured: a.x.must"),
    ],
)
def test_ids_that_failed_stand_alone(outcome: str, told: str) -> None:
    state = History().planned().produced().prepared().evaluated("a.x.must", outcome=outcome).state
    assert state.evaluation is not None
    lines = plain(block(state, state.evaluation, "a")).splitlines()
    assert "Failed: a.x.must" in lines
    assert [line for line in lines if line.startswith("Not measured")] == ([told] if told else [])


def test_a_warning_that_was_not_measured_stands_beside_too() -> None:
    history = History().planned().produced().prepared()
    state = history.evaluated("a.x.should", outcome="error").state
    assert state.evaluation is not None
    lines = plain(block(state, state.evaluation, "a")).splitlines()
    assert lines[4:6] == ["Failed: none", "Warnings: a.x.should"]
    assert lines[7] == "Not measured: a.x.should (error)"


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.chdir(tmp_path)
    return Stage(tmp_path)


NEW = ["loop", "new", "say words", "--alias", "words", "--criteria", "criteria.yaml", "--yes"]
# The agent of CRITIQUE, and the options of a loop whose last block has no critique.
UNCRITICISED: dict[str, tuple[list[str], int]] = {
    "the limit": (["--max-iterations", "1"], 6),
    "the budget": (["--agent", "produce=fine", "--budget", "calls=1"], 8),
    "a critique that failed": (["--agent", "critique=bad", "--sequential"], 9),
}
CONFIG = """\
agent = "offline"
[agents.bad]
command = ["echo", "no"]
[agents.fine]
command = ["echo", '{"plan": ["one", "two", "three"]}']
"""


@pytest.mark.parametrize(("more", "status"), UNCRITICISED.values(), ids=UNCRITICISED)
def test_a_failed_block_without_a_critique_has_the_messages(
    stage: Stage, capsys: Captured, more: list[str], status: int
) -> None:
    (stage.project / "pytest-reflex.toml").write_text(CONFIG)
    assert main([*NEW, "--evaluator", "core", *more]) == status
    err = capsys.readouterr().err
    told = err[err.rindex("── Iteration") :].splitlines()
    found = [line for line in told if line.startswith("  - ")]
    assert [line.partition(":")[0] for line in found] == ["  - a.x.alpha", "  - a.x.beta"]
    assert all(line.partition(": ")[2] for line in found)
    assert "Critique:" not in told


def test_a_block_with_a_critique_has_the_messages_once(stage: Stage, capsys: Captured) -> None:
    assert main([*NEW, "--evaluator", "core", "--max-iterations", "2"]) in (6, 7)
    err = capsys.readouterr().err
    first, second = err.split("── Iteration")[1:3]
    assert first.count("  - a.x.alpha:") == 1
    assert second.count("  - a.x.alpha:") == 1


def leave(stage: Stage, text: str, alias: str = "words", **order: Any) -> None:
    """Begin a loop and leave it behind its first evaluation."""
    with stage.begin(Script(produce=text), alias=alias, **order) as loop:
        for event in history_of(loop):
            if event.kind == "evaluation_done":
                return


STOPPED = {"nothing passed": "x\n", "A passed": "alpha beta\n", "several lines": "a\n\nb\n"}


@pytest.mark.parametrize("text", STOPPED.values(), ids=STOPPED)
def test_stop_of_a_dead_driver_ends_with_summary_and_artifact(
    stage: Stage, capsys: Captured, text: str
) -> None:
    leave(stage, text)
    assert main(["loop", "stop", "words", "--reason", "enough"]) == 0
    out = capsys.readouterr().out
    said, _, rest = out.partition("\n\n── Final summary ──\n")
    assert said == "words has stopped."
    for key in ("Iteration: 1/4", "Phase: A", "Final score: ", "Stop reason: user_stop (enough)"):
        assert f"\n{key}" in f"\n{rest}"
    assert "Distance to success:" in rest
    assert rest.endswith(f"Gate: NOT passed\n\n{text}")


def test_stop_says_what_became_of_the_result(stage: Stage, capsys: Captured) -> None:
    leave(stage, "x\n", output=stage.project / "result.md")
    assert main(["loop", "stop", "words"]) == 0
    out = capsys.readouterr().out
    assert "Written to: result.md\nGate: NOT passed\n\nx\n" in out
    assert (stage.project / "result.md").read_text() == "x\n"


def test_stop_says_it_where_the_result_cannot_be_written(stage: Stage, capsys: Captured) -> None:
    (stage.project / "there").mkdir()
    leave(stage, "x\n", output=stage.project / "there/result.md")
    (stage.project / "there").rmdir()
    assert main(["loop", "stop", "words"]) == 12
    out, err = capsys.readouterr()
    assert "Not written: there/result.md could not be written: there is no folder" in out
    assert out.endswith("\n\nx\n")
    assert "result.md could not be written" in err


FORGE = """\
import json
with open(".ai-factory/evolution/words/history.jsonl", "a") as history:
    history.write("{}\\n")
print(json.dumps({"plan": ["one", "two", "three"]}))
"""


def test_a_history_that_was_changed_ends_with_summary_and_artifact(
    stage: Stage, capsys: Captured
) -> None:
    (stage.project / "forge.py").write_text(FORGE)
    command = json.dumps([slim_python(), "forge.py"])
    (stage.project / "pytest-reflex.toml").write_text(f"[agents.forger]\ncommand = {command}\n")
    assert main([*NEW, "--evaluator", "core", "--agent", "plan=forger"]) == 10
    out, err = capsys.readouterr()
    assert "── Final summary ──" in out
    assert "Stop reason: tampered (" in out
    assert "Gate: NOT passed" in out
    assert "its history can no longer be trusted" in err


def test_stop_as_json_is_one_document(stage: Stage, capsys: Captured) -> None:
    leave(stage, "x\n")
    assert main(["loop", "stop", "words", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ended"] is True


# What became of current.json.
POINTERS: dict[str, Any] = {
    "lost": None,
    "to one that has ended": "done",
    "to one that is gone": "gone",
    "to another run of that name": "words",
    "cut": "{",
}


def point(stage: Stage, to: str | None) -> None:
    path = stage.root / "current.json"
    path.unlink(missing_ok=True)
    if to == "{":
        path.write_text(to)
    elif to is not None:
        named = {"active_run_id": f"{to}-20200101-000000", "task_alias": to, "status": "running"}
        path.write_text(json.dumps({**named, "updated_at": "2020-01-01T00:00:00Z"}))


@pytest.mark.parametrize("to", POINTERS.values(), ids=POINTERS)
def test_resume_and_status_find_the_active_loop(
    stage: Stage, capsys: Captured, to: str | None
) -> None:
    leave(stage, "x\n")
    stage.play(Script(produce="alpha beta gamma\n"), alias="done")
    point(stage, to)
    assert main(["loop", "status"]) == 0
    assert capsys.readouterr().out.startswith("Loop: words (running (interrupted))")
    main(["loop", "resume", "--evaluator", "core", "--quiet", "--agent", "offline"])
    capsys.readouterr()
    assert find_run(stage.root, "words").state.status != "running"


def test_a_loop_whose_run_json_is_lost_too_is_found(stage: Stage, capsys: Captured) -> None:
    leave(stage, "x\n")
    stage.play(Script(produce="alpha beta gamma\n"), alias="done")
    point(stage, None)
    (stage.root / "words/run.json").unlink()
    assert main(["loop", "status"]) == 0
    assert capsys.readouterr().out.startswith("Loop: words (running (interrupted))")


def test_the_newest_of_two_is_resumed_and_not_one_that_is_driven(
    stage: Stage, capsys: Captured
) -> None:
    leave(stage, "x\n", alias="first")
    with stage.begin(Script(produce="x\n"), alias="driven") as loop:
        next(history_of(loop))
        assert main(["loop", "status"]) == 0
        assert capsys.readouterr().out.startswith("Loop: driven (running)")
        main(["loop", "resume", "--evaluator", "core", "--quiet", "--agent", "offline"])
    assert find_run(stage.root, "first").state.status != "running"
    assert find_run(stage.root, "driven").state.status == "running"


def test_without_a_loop_that_goes_on_the_newest_is_shown(stage: Stage, capsys: Captured) -> None:
    stage.play(Script(produce="alpha beta gamma\n"), alias="older")
    stage.play(Script(produce="alpha beta gamma\n"), alias="newer")
    point(stage, "older")
    assert main(["loop", "status"]) == 0
    assert capsys.readouterr().out.startswith("Loop: newer (completed")
    assert main(["loop", "resume"]) == 4
    assert "loop 'newer' has ended" in capsys.readouterr().err


def there(stage: Stage) -> list[str]:
    return sorted(path.name for path in stage.root.iterdir() if path.is_dir())


def test_clean_leaves_what_can_be_resumed_unless_it_is_forced(
    stage: Stage, capsys: Captured
) -> None:
    leave(stage, "x\n")
    for yes in ([], ["--yes"], ["--yes", "--json"]):
        assert main(["loop", "clean", "words", *yes]) == 4
        told = capsys.readouterr().err
        assert "words was interrupted and can be resumed (add --force to remove it)" in told
    assert there(stage) == ["words"]
    assert main(["loop", "clean", "words", "--force"]) == 4  # it asks for a yes as ever
    assert "interrupted; it could still be resumed" in capsys.readouterr().err
    assert main(["loop", "clean", "words", "--force", "--yes"]) == 0
    assert there(stage) == []


@pytest.mark.parametrize("force", [False, True])
def test_clean_all_names_and_leaves_what_can_be_resumed(
    stage: Stage, capsys: Captured, force: bool
) -> None:
    leave(stage, "x\n")
    leave(stage, "x\n", alias="other")
    stage.play(Script(produce="alpha beta gamma\n"), alias="done")
    stage.play(Script(produce="x\n"), {"loop.max_iterations": 1}, alias="limit")
    more = ["--force"] if force else []
    assert main(["loop", "clean", "--all", "--yes", "--json", *more]) == 0
    out, err = capsys.readouterr()
    told = "Left alone, because it can be resumed (--force removes it): "
    kept = [] if force else ["other", "words"]
    assert json.loads(out)["left"] == kept
    assert [line.removeprefix(told) for line in err.splitlines() if told in line] == kept
    assert there(stage) == kept


def test_a_copy_cannot_be_resumed_and_is_removed(stage: Stage) -> None:
    leave(stage, "x\n")
    (stage.root / "words").rename(stage.root / "copy")
    assert main(["loop", "clean", "copy", "--yes"]) == 0
    assert there(stage) == []
