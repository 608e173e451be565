"""Free first, paid last: nobody is asked where a free rule of severity fail has failed already."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import pytest_reflex
from pytest_reflex.agents.recording import Header
from pytest_reflex.checks.judged import NOT_ASKED
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.cli.main import main
from pytest_reflex.criteria.suite import load_suite
from pytest_reflex.host import PytestEvaluator
from pytest_reflex.model.judged import JudgeWhen
from pytest_reflex.model.results import Evaluation
from pytest_reflex.verdict.progress import flips_between, mark_of
from tests.judged.jurors import configured, judge
from tests.plugin.conftest import project, run, run_workers

pytestmark = [pytest.mark.long, pytest.mark.variants]

__all__ = ["project", "run", "run_workers"]

ABSENT = "no-such-program-anywhere"
RULES = """\
  - {{id: a.tone.polite, description: It is polite, severity: fail, check: {{type: judged}}}}
  - {{id: a.tone.kind, description: It is kind, severity: warn, check: It reads kind.}}
  - {{id: a.text.free, description: Free, severity: {severity}, check: {check}}}
"""
HEAD = "criteria: {name: tone}\nartifacts: [a.md]\nrules:\n"

BLOCKS = {
    "a pattern that is not there": "{type: content, search: zebra}",
    "a command that fails": "{type: executable, command: 'exit 1'}",
    "a command that cannot be judged": f"{{type: executable, command: [{ABSENT}]}}",
    "one of several checks": "[{type: content, search: polite}, {type: content, search: zebra}]",
    "all alternatives": "{any_of: [{type: content, search: zebra}, {type: content, search: ox}]}",
}
DOES_NOT_BLOCK = {
    "it passes": ("fail", "{type: content, search: polite}"),
    "it only warns": ("warn", "{type: content, search: zebra}"),
    "it only informs": ("info", "{type: content, search: zebra}"),
}


def suite(folder: Path, check: str, severity: str = "fail", top: str = "") -> Path:
    for path in folder.glob("*.reflex.yaml"):
        path.unlink()
    text = HEAD + RULES.format(check=check, severity=severity)
    (folder / "tone.reflex.yaml").write_text(text)
    (folder / "tone.yaml").write_text("name: tone\nrules:\n" + text.partition("rules:\n")[2])
    (folder / "a.md").write_text("A polite text.\n")
    configured(folder, "counts")
    file = folder / "pytest-reflex.toml"
    file.write_text(top + file.read_text())
    return folder


def calls(folder: Path) -> int:
    return len((folder / "asked").read_text()) if (folder / "asked").exists() else 0


def rows(folder: Path, name: str = "out.json") -> dict[str, Any]:
    (found,) = json.loads((folder / name).read_text())["evaluations"]
    return {row["id"]: row for row in found["rule_results"]}


EVALUATE = ["evaluate", "a.md", "--criteria", "tone.yaml", "--judge", "jury"]
JUDGED = ("--reflex-judge=jury", "--reflex-json=out.json")


@pytest.mark.parametrize("check", BLOCKS.values(), ids=BLOCKS)
def test_evaluate_asks_nobody_where_a_rule_blocks(
    check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(suite(tmp_path, check))
    assert main(EVALUATE) in (1, 5)
    told = " ".join(capsys.readouterr().out.split())
    assert f"{NOT_ASKED}: a.tone.polite, a.tone.kind" in told
    assert "FAILED score 0.000" in told
    assert "1 failing rule, 0 of 3 rules pass, 2 not asked" in told
    assert calls(tmp_path) == 0


@pytest.mark.parametrize(("severity", "check"), DOES_NOT_BLOCK.values(), ids=DOES_NOT_BLOCK)
def test_evaluate_asks_where_none_blocks(
    severity: str, check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(suite(tmp_path, check, severity))
    main(EVALUATE)
    assert calls(tmp_path) == 2


def test_the_configuration_may_have_the_judge_always_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(suite(tmp_path, BLOCKS["a pattern that is not there"]))
    monkeypatch.setenv("PYTEST_REFLEX_JUDGE_WHEN", "always")
    assert main(EVALUATE) == 1
    assert calls(tmp_path) == 2
    monkeypatch.setenv("PYTEST_REFLEX_JUDGE_WHEN", "sometimes")
    assert main(EVALUATE) == 4
    assert '"no_blockers" or "always"' in capsys.readouterr().err


def test_in_python_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(suite(tmp_path, BLOCKS["a pattern that is not there"]))
    found = pytest_reflex.evaluate("a.md", "tone.yaml", judge="jury")
    assert [row.rule.id for row in found.results if row.not_asked] == [
        "a.tone.polite",
        "a.tone.kind",
    ]
    assert (found.passed, found.complete, found.judged) == (False, True, 0)


def test_an_alternative_that_is_judged_is_the_last_resort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    either = "{any_of: [{type: judged}, {type: content, search: polite}]}"
    monkeypatch.chdir(suite(tmp_path, either))
    assert main([*EVALUATE, "--verbose"]) == 0
    assert calls(tmp_path) == 2  # of the two other rules
    assert "a.text.free: alternative 2 of 2 holds" in " ".join(capsys.readouterr().out.split())


def test_an_alternative_that_nobody_is_asked_about_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite(tmp_path, "{any_of: [{type: content, search: ox}, {type: judged}]}")
    with (folder / "tone.yaml").open("a") as file:
        file.write(
            "  - {id: a.text.more, description: d, severity: fail, "
            "check: {type: content, search: zebra}}\n"
        )
    monkeypatch.chdir(folder)
    assert main([*EVALUATE, "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["evaluations"]
    row = next(row for row in found["rule_results"] if row["id"] == "a.text.free")
    assert (row["outcome"], row["checks"][0]["not_asked"]) == ("not_measured", True)
    assert calls(tmp_path) == 0


@pytest.mark.parametrize("check", BLOCKS.values(), ids=BLOCKS)
def test_a_plain_session_asks_nobody_where_a_rule_blocks(
    check: str, project: pytest.Pytester, run: Any
) -> None:
    folder = suite(project.path, check)
    result = run(*JUDGED)
    assert result.ret == 1
    assert calls(folder) == 0
    assert rows(folder)["a.tone.polite"]["details"] == NOT_ASKED
    assert rows(folder)["a.tone.kind"]["outcome"] == "not_measured"
    result.stdout.fnmatch_lines(["FAILED *score 0.000*", "GATE *FAILED*failed rules: a.text.free*"])


@pytest.mark.parametrize(("severity", "check"), DOES_NOT_BLOCK.values(), ids=DOES_NOT_BLOCK)
def test_a_plain_session_asks_where_none_blocks(
    severity: str, check: str, project: pytest.Pytester, run: Any
) -> None:
    folder = suite(project.path, check, severity)
    run(*JUDGED)
    assert calls(folder) == 2
    assert rows(folder)["a.tone.polite"]["outcome"] == "pass"


def test_judged_items_run_last_in_whatever_order_they_come(
    project: pytest.Pytester, run: Any
) -> None:
    suite(project.path, BLOCKS["a pattern that is not there"])
    project.makepyfile(test_free="def test_free(): pass")
    project.makeconftest(
        "import pytest\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_collection_modifyitems(items): items.reverse()\n"
    )
    lines = run("-v", *JUDGED).stdout.lines
    order = [line.split(" ")[0] for line in lines if "%]" in line]
    assert [name.split("::")[1] for name in order[-2:]] == ["a.tone.kind", "a.tone.polite"]
    assert len(order) == 4


def test_what_was_deselected_does_not_block(project: pytest.Pytester, run: Any) -> None:
    folder = suite(project.path, BLOCKS["a pattern that is not there"])
    assert run("-k", "polite", *JUDGED).ret == 1
    assert calls(folder) == 1
    assert rows(folder)["a.tone.polite"]["outcome"] == "pass"


def test_blockers_of_one_artifact_do_not_keep_the_judge_from_another(
    project: pytest.Pytester, run: Any
) -> None:
    folder = suite(project.path, "{type: content, search: zebra}")
    (folder / "b.md").write_text("A polite zebra.\n")
    text = (folder / "tone.reflex.yaml").read_text()
    (folder / "tone.reflex.yaml").write_text(text.replace("[a.md]", "[a.md, b.md]"))
    assert run(*JUDGED).ret == 1
    assert calls(folder) == 2


def test_partial_sessions_are_never_passed_by_it(project: pytest.Pytester, run: Any) -> None:
    folder = suite(project.path, BLOCKS["a pattern that is not there"])
    result = run("--reflex-allow-partial", "-k", "polite or free", *JUDGED)
    assert (result.ret, calls(folder)) == (1, 0)


def test_workers_always_ask_and_come_to_the_same_gate(
    project: pytest.Pytester, run: Any, run_workers: Any
) -> None:
    folder = suite(project.path, BLOCKS["a pattern that is not there"])
    plain = run(*JUDGED)
    alone = rows(folder)
    workers = run_workers(*JUDGED)
    assert calls(folder) == 2
    together = rows(folder)
    assert plain.ret == workers.ret == 1
    assert together["a.tone.polite"]["outcome"] == "pass"
    failed = [{i for i, row in found.items() if row["outcome"] == "fail"} for found in
              (alone, together)]  # fmt: skip
    assert failed == [{"a.text.free"}] * 2


@pytest.mark.parametrize("check", [*BLOCKS.values(), "{type: content, search: polite}"])
def test_every_route_asks_alike(check: str, tmp_path: Path) -> None:
    """The core, and pytest in a fork, as loops and `evaluate` take them."""
    folder = suite(tmp_path, check)
    registry = built_in_registry()
    registry.judge, registry.judge_when = judge(folder, "pass"), JudgeWhen.NO_BLOCKERS
    (target,) = load_suite(folder / "tone.reflex.yaml", registry=registry, root=folder)
    one = evaluate(target, registry)
    other = PytestEvaluator(registry).pytest_reflex_evaluate(target)
    assert verdict(one) == verdict(other)
    registry.judge_when = JudgeWhen.ALWAYS
    always = evaluate(target, registry)
    # Where somebody was not asked, scores differ; gate, and what is known to have failed, do not.
    assert always.passed == one.passed
    assert failed(always) == failed(one)
    if one.passed:
        assert always.score == one.score


def failed(one: Evaluation) -> set[str]:
    return {row.rule.id for row in one.findings}


def verdict(one: Evaluation) -> Any:
    return one.score, one.passed, [(r.rule.id, r.outcome, r.message) for r in one.results]


def test_a_rule_that_nobody_was_asked_about_is_neither_fixed_nor_broken(tmp_path: Path) -> None:
    folder = suite(tmp_path, "{type: content, search: zebra}")
    registry = built_in_registry()
    registry.judge, registry.judge_when = judge(folder, "fail"), JudgeWhen.NO_BLOCKERS
    (target,) = load_suite(folder / "tone.reflex.yaml", registry=registry, root=folder)
    marks = []
    for number, text in enumerate(["A zebra.\n", "No.\n", "A zebra again.\n"], 1):
        (folder / "a.md").write_text(text)
        marks.append(mark_of(evaluate(target, registry), number))
    there, back = flips_between(marks[:2]), flips_between(marks)
    assert there is not None
    assert back is not None
    assert (there.fixed, there.broken) == ((), ("a.text.free",))
    assert (back.fixed, back.broken) == (("a.text.free",), ())


LOOP = ["loop", "new", "Be polite", "--criteria", "tone.yaml", "--input", "a.md", "--judge", "jury"]


@pytest.mark.parametrize("evaluator", ["core", "pytest"])
@pytest.mark.parametrize("when", ["no_blockers", "always"])
def test_a_loop_asks_once_nothing_else_blocks(
    when: str, evaluator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = f'judge_when = "{when}"\n'
    folder = suite(tmp_path, "{type: content, search: zebra}", top=top)
    fix = "    fix: {append: {text: A zebra.}}\n"
    path = folder / "tone.yaml"
    path.write_text(path.read_text().replace("id: a.text.free", "id: a.text.zebra"))
    path.write_text(path.read_text().replace(
        "check: {type: content, search: zebra}}",
        "check: {type: content, search: zebra}, fix: {append: {text: A zebra.}}}",
    ))  # fmt: skip
    assert fix.strip() in path.read_text()
    monkeypatch.chdir(folder)
    assert main([*LOOP, "--alias", "tone", "--yes", "--quiet", "--evaluator", evaluator]) == 0
    state = json.loads((folder / ".ai-factory/evolution/tone/run.json").read_text())
    assert state["iteration"] == 2
    assert state["spend"]["calls"] == calls(folder) == (2 if when == "no_blockers" else 4)
    assert main(["loop", "verify", "tone"]) == 0


def test_a_loop_goes_on_as_it_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another configuration by then would have its evaluation compared with another one."""
    folder = suite(tmp_path, "{type: content, search: zebra}")
    monkeypatch.chdir(folder)
    assert main([*LOOP, "--alias", "tone", "--yes", "--quiet", "--max-iterations", "1"]) == 6
    monkeypatch.setenv("PYTEST_REFLEX_JUDGE_WHEN", "always")
    assert main(["loop", "verify", "tone"]) == 1
    more = ["--max-iterations", "+1", "--yes", "--quiet"]
    assert main(["loop", "extend", "tone", *more]) == 6
    assert calls(folder) == 0


def test_a_recording_is_replayed_as_it_was_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the configuration says by then: the verdict is that of the run."""
    folder = suite(tmp_path, "{type: content, search: zebra}", top='judge_when = "always"\n')
    monkeypatch.chdir(folder)
    new = [*LOOP[:-2], "--alias", "tone", "--yes", "--quiet", "--max-iterations", "1"]
    assert main([*new, "--judge", "jury", "--record", "calls.jsonl"]) == 6
    assert outcomes(folder) == ["pass", "pass", "fail"]
    monkeypatch.setenv("PYTEST_REFLEX_JUDGE_WHEN", "no_blockers")
    shutil.rmtree(folder / ".ai-factory")
    assert main([*new, "--replay", "calls.jsonl"]) == 6
    assert outcomes(folder) == ["pass", "pass", "fail"]
    assert calls(folder) == 2


def outcomes(folder: Path) -> list[str]:
    run = json.loads((folder / ".ai-factory/evolution/tone/run.json").read_text())
    return [row["outcome"] for row in run["evaluation"]["rule_results"]]


def test_a_recording_that_says_nothing_of_it_is_older_than_the_choice() -> None:
    """By then the judge was always asked."""
    header = Header(run_id="tone-20260101-000000", project="/p", judge_when=JudgeWhen.NO_BLOCKERS)
    assert Header.from_json(header.to_json()) == header
    wire = {key: value for key, value in header.to_json().items() if key != "judge_when"}
    assert Header.from_json(wire).judge_when is JudgeWhen.ALWAYS
