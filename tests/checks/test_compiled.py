"""A compiled check says all that is to be known of it: built-in kinds, and those of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.agents.findings import words_of
from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.checks.preview import preview
from pytest_reflex.checks.registry import Registry, built_in_registry, compile_rule, describe
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.author.prove import Proof, Prover
from pytest_reflex.criteria.linting.lint import lint
from pytest_reflex.drivers.reflex.hook_calls import ask
from pytest_reflex.errors import CriteriaError
from pytest_reflex.host import open_host
from pytest_reflex.model.enums import Outcome, Step
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.steps import Reply, StepRequest
from pytest_reflex.model.targets import CheckCommand, CompiledCheck, Decides, TextSearch
from pytest_reflex.search.patterns import compile_text
from tests.agents.making import request
from tests.checks.building import rule, target

PASSED = CheckResult(outcome=Outcome.PASS)


class Mine:
    """A kind of a plugin; `said` is what it says of a check beside how it runs."""

    name = "mine"

    def __init__(self, **said: Any) -> None:
        self._said = said
        self.compiled = 0

    def problems(self, spec: CheckSpec) -> list[Any]:
        return []

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        self.compiled += 1
        return CompiledCheck(spec, lambda artifact, context: PASSED, **self._said)


def compiled(wire: Mapping[str, Any], **said: Any) -> CompiledCheck:
    return knowing(Mine(**said)).compile(CheckSpec.from_json(wire), {})


def knowing(kind: Any) -> Registry:
    registry = built_in_registry()
    registry.register(kind)
    return registry


DESCRIBED = {
    "{type: mine, a: b}": ({"type": "mine", "a": "b", "c": [1]}, {}, "mine: a b, c [1]"),
    "its own words": ({"type": "mine"}, {"describe": lambda: "all is well"}, "all is well"),
    "no words": ({"type": "mine", "a": "b"}, {"describe": str}, ""),
    "among alternatives": (
        {"type": "any_of", "any_of": [{"type": "mine"}, {"type": "content", "search": "x"}]},
        {"describe": lambda: "all is well"},
        "one of these holds: all is well; or: /x/ is somewhere in the artifact",
    ),
    "too long": ({"type": "mine", "a": "b" * 500}, {}, "mine: a " + "b" * 391 + "…"),
}


@pytest.mark.parametrize(("wire", "said", "told"), DESCRIBED.values(), ids=DESCRIBED)
def test_a_check_is_described_by_its_kind(
    wire: dict[str, Any], said: dict[str, Any], told: str
) -> None:
    assert compiled(wire, **said).description == told


PROMPTED = {
    "words": ({}, {"describe": lambda: "few words"}, "few words"),
    "words and what is wanted": ({"expected": "e"}, {"describe": lambda: "few"}, "e (few)"),
    "what is wanted": ({"expected": "e"}, {"describe": str}, "e"),
    "a pattern": ({}, {"describe": lambda: "/x/", "is_pattern": True}, ""),
    "a pattern that is explained": (
        {"expected": "e"}, {"describe": lambda: "/x/", "is_pattern": True}, "e (/x/)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("more", "said", "told"), PROMPTED.values(), ids=PROMPTED)
def test_a_prompt_has_the_words_of_the_kind(
    more: dict[str, Any], said: dict[str, Any], told: str
) -> None:
    assert words_of(compiled({"type": "mine", **more}, **said)) == told


def test_a_kind_that_is_not_there_is_told_by_its_parameters() -> None:
    spec = CheckSpec(type="gone", params={"at_most": 3})
    assert words_of(describe(spec, {}, built_in_registry())) == "gone: at_most 3"


def test_what_a_kind_does_not_preview_is_its_parameters() -> None:
    check = compiled({"type": "mine", "a": 1})
    told = preview(check, rule("a.x.y", check.spec), Path("/w"), None)
    assert told == {"type": "mine", "parameters": {"a": 1}}


def test_what_a_kind_previews_stands_beside_its_command() -> None:
    command = CheckCommand(argv=("fetch",), timeout=3, tries=2)
    said = {"preview": lambda rule, judge: {"of": rule.id}, "commands": (command,)}
    check = compiled({"type": "mine"}, **said)
    told = preview(check, rule("a.x.y", check.spec), Path("/w"), None)
    assert (told["of"], told["argv"], told["cwd"], told["retries"]) == ("a.x.y", ["fetch"], "/w", 1)


def test_an_agent_is_told_in_the_words_of_a_plugin() -> None:
    told = []

    class Plugin:
        def pytest_reflex_register_checks(self, register: Any) -> None:
            register(Mine(describe=lambda: "all is well"))

        def pytest_reflex_plan(self, request: StepRequest) -> Reply:
            told.append(prompt_for(request))
            return Reply(text="{}", agent="mine")

    of_rule = rule("a.x.y", CheckSpec(type="mine", params={}))
    ask(open_host([Plugin()]).hooks, request(Step.PLAN, of_rule))
    assert "  Check: all is well\n" in told[0]


BARE = {
    "a function": (lambda artifact, context: PASSED, "<function "),
    "nothing": (None, "None"),
    "a result": (PASSED, "CheckResult("),
}


@pytest.mark.parametrize(("made", "shown"), BARE.values(), ids=BARE)
def test_what_is_no_compiled_check_is_refused_by_the_name_of_its_kind(
    made: Any, shown: str
) -> None:
    class Bare(Mine):
        def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> Any:
            return made

    of_rule = rule("a.x.y", CheckSpec(type="mine", params={}))
    with pytest.raises(CriteriaError) as caught:
        compile_rule(of_rule, {}, knowing(Bare()))
    (problem,) = caught.value.problems
    assert problem.rule_id == "a.x.y"
    assert "Bare compiles to " in problem.message
    assert shown in problem.message
    assert "CompiledCheck(spec, run)" in problem.hint


def test_a_check_is_compiled_once_for_a_target(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a\n")
    kind = Mine(starts_more=True)
    checks = [CheckSpec(type="mine", params={})] * 3
    evaluation = evaluate(target(tmp_path / "a.md", rule("a.x.y", *checks)), knowing(kind))
    assert (evaluation.passed, kind.compiled) == (True, 3)


LINTED = {
    "cannot-fail": ("true", Decides.SUCCESS),
    "ignores-artifact": ("lint it", Decides.OUTCOME),
    "hidden-failure": ('lint "$PYTEST_REFLEX_ARTIFACT" | sort', Decides.OUTCOME),
    "": ("lint it", None),
}


@pytest.mark.parametrize(("code", "given"), LINTED.items(), ids=LINTED)
def test_the_lint_looks_at_a_command_of_which_is_known_what_decides(
    tmp_path: Path, code: str, given: tuple[str, Decides | None]
) -> None:
    written, decides = given
    command = CheckCommand(argv=("sh",), written=written, timeout=3, decides=decides)
    path = tmp_path / "page.yaml"
    path.write_text(
        "name: page\nrules:\n  - {id: a.x.y, description: d, severity: warn, why: w, hint: h,\n"
        "     samples: {good: a, bad: b}, check: {type: mine}}\n"
    )
    found = lint(path, knowing(Mine(commands=(command,))))
    assert [remark.code for remark in found] == ([code] if code else [])


@pytest.mark.parametrize("most", [0, 2])
def test_what_a_kind_searches_for_is_planted_to_prove_it(tmp_path: Path, most: int) -> None:
    class Limit(Mine):
        """No more than so many times the word `foo`."""

        def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
            def run(artifact: Any, context: Any) -> CheckResult:
                is_fine = artifact.text.count("foo") <= most
                return CheckResult(outcome=Outcome.PASS if is_fine else Outcome.FAIL)

            search = TextSearch(
                source="foo", literal=True, ignore_case=False, raw=False, least=0, most=most,
                spans=compile_text("foo").spans,
            )  # fmt: skip
            return CompiledCheck(spec, run, search=search, forbids=True)

    of_rule = rule("a.x.y", CheckSpec(type="mine", params={}))
    prover = Prover(
        criteria=target(tmp_path, of_rule).criteria, registry=knowing(Limit()), root=tmp_path
    )
    (proof,) = prover.prove([of_rule])
    assert (proof.proof, proof.is_absence) == (Proof.PROVED, True)
