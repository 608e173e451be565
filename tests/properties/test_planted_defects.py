"""A planted fault never raises a score, and never makes a gate pass: for all stock templates.

Documents to start from are the samples that rules of the template call good, and the corpus. The
rule of the fault passes before, and does not afterwards.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.templates import stock_names
from pytest_reflex.model.enums import Level
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.targets import Target
from pytest_reflex.text.data import read_data
from tests.properties.defects import Operator
from tests.properties.judging import criteria
from tests.properties.operators import EMPTY, operators_for
from tests.properties.size import BY_TOOL, IN_PROCESS, examples
from tests.templates.planted import CORPUS

pytestmark = pytest.mark.long

BY_COMMANDS = ("code",)
"""Of these, the corpus is enough: a verdict takes seconds."""


@cache
def documents(template: str) -> list[tuple[str, str]]:
    """Return the good documents of a template, as names and texts."""
    found = [
        (path.relative_to(CORPUS / template).as_posix(), path.read_text("utf-8"))
        for path in sorted((CORPUS / template).rglob("*"))
        if path.is_file() and "shop" not in path.parts and path.suffix != ".pyc"
    ]
    for rule in () if template in BY_COMMANDS else criteria(template).rules:
        for sample in rule.samples.get("good", ()):
            files = {"": sample} if isinstance(sample, str) else sample.files
            if len(files) == 1:
                ((name, text),) = files.items()
                found.append((name or "sample.md", text))
    return [one for each in found for one in _forms(template, *each)]


def _forms(template: str, name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield a document; of an API the same in JSON too, which can be changed part by part."""
    yield name, text
    if template == "api-spec" and not name.endswith(".md"):
        value = read_data(text, "yaml")[0].value
        yield name, json.dumps(value, indent=1)
    if template == "api-spec" and name == "sample.md" and text.startswith("openapi"):
        yield name, json.dumps(read_data(text, "yaml")[0].value, indent=1)


def judged(
    template: str, name: str, text: str, level: Level = Level.B, beside: str = ""
) -> Evaluation:
    """Judge a file; or with one of the corpus `beside` it, the folder of both."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "artifact"
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if beside:
            (folder / "beside").mkdir()
            shutil.copy(CORPUS / template / beside, folder / "beside")
        artifact = folder if beside else path
        target = Target(criteria=criteria(template), level=level, artifact=artifact, root=folder)
        return evaluate(target, built_in_registry())


before = cache(judged)


def outcomes(evaluation: Evaluation) -> dict[str, str]:
    return {result.rule.id: result.outcome.value for result in evaluation.results}


def may_be_planted(operator: Operator, name: str, found: dict[str, str]) -> bool:
    rules = (operator.rule, *operator.spares)
    is_meant = not (operator.unless and operator.unless in name)
    return is_meant and all(found.get(rule, "pass") == "pass" for rule in rules)


Case = tuple[str, str, Operator]


@cache
def cases(template: str) -> list[Case]:
    """Return the documents of a template with each fault that can be planted into them."""
    return [
        (name, text, operator)
        for name, text in documents(template)
        for operator in usable(template, name, text)
        if planted(operator, text)
    ]


def usable(template: str, name: str, text: str) -> list[Operator]:
    rules = frozenset(rule.id for rule in criteria(template).rules)
    found = outcomes(before(template, name, text))
    return [one for one in operators_for(template, rules) if may_be_planted(one, name, found)]


def planted(operator: Operator, text: str) -> list[str]:
    """Return the text with the fault at each of its places."""
    return [one for one in operator.plant(text) if one != text]


def added(operator: Operator, text: str) -> list[str]:
    """Return those of the texts with the fault that hold every line of the text, in this order."""
    return [one for one in planted(operator, text) if one.strip() and only_adds(text, one)]


def only_adds(text: str, changed: str) -> bool:
    lines = iter([line.rstrip(",") for line in changed.splitlines()])
    return all(line.rstrip(",") in lines for line in text.splitlines())


BESIDE = {"configuration": "mailer.ini"}
SELECTED = (".yaml", ".yml", ".json", ".toml", ".ini", ".env")
"""A good file for folders of two, and endings that the template looks at in folders."""

IN_THIS_PROCESS = [name for name in stock_names() if name not in BY_COMMANDS]
OF_EACH = IN_PROCESS // len(IN_THIS_PROCESS) // 2


@pytest.mark.parametrize("template", IN_THIS_PROCESS)
@examples(OF_EACH, in_suite=80)
@given(data=st.data())
def test_planted_fault_never_raises_the_score(template: str, data: st.DataObject) -> None:
    plant_a_fault(template, data)


@pytest.mark.parametrize("template", BY_COMMANDS)
@examples(BY_TOOL, in_suite=2)
@given(data=st.data())
def test_fault_planted_into_code_never_raises_the_score(template: str, data: st.DataObject) -> None:
    plant_a_fault(template, data)


@pytest.mark.parametrize("template", IN_THIS_PROCESS)
@examples(OF_EACH, in_suite=80)
@given(data=st.data())
def test_fault_beside_another_never_raises_the_score(template: str, data: st.DataObject) -> None:
    add_a_fault(template, data)


@pytest.mark.parametrize("template", BY_COMMANDS)
@examples(BY_TOOL, in_suite=2)
@given(data=st.data())
def test_fault_beside_another_in_code_never_raises_the_score(
    template: str, data: st.DataObject
) -> None:
    add_a_fault(template, data)


def plant_a_fault(template: str, data: st.DataObject) -> None:
    name, text, operator = data.draw(st.sampled_from(cases(template)))
    level = data.draw(st.sampled_from([Level.B, *[Level.A] * operator.rule.startswith("a.")]))
    among = [BESIDE[template]] if template in BESIDE and name.endswith(SELECTED) else []
    beside = data.draw(st.sampled_from(["", *(among if operator is not EMPTY else [])]))
    good = before(template, name, text, level, beside)
    changed = data.draw(st.sampled_from(planted(operator, text)))
    bad = judged(template, name, changed, level, beside)
    told = f"{operator.what}: {good.score} to {bad.score}\n{changed}\n{outcomes(bad)}"
    assert outcomes(bad)[operator.rule] != "pass", told
    assert bad.score <= good.score, told
    assert good.passed or not bad.passed, told


def add_a_fault(template: str, data: st.DataObject) -> None:
    name, text, operator = data.draw(st.sampled_from(cases(template)))
    starts = added(operator, text)
    if not starts:
        return
    faulty = data.draw(st.sampled_from(starts))
    first = before(template, name, faulty)
    more = [(op, f) for op in usable(template, name, faulty) for f in added(op, faulty)]
    if not more:
        return
    other, changed = data.draw(st.sampled_from(more))
    both = judged(template, name, changed)
    told = f"{operator.what}, {other.what}: {first.score} to {both.score}\n{changed}"
    assert both.score <= first.score, told
    assert first.passed or not both.passed, told
