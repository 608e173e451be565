"""Procedures: the built-in ones, changed field by field, and those of the configuration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_reflex.drivers.iterate.model import IterationGate, Phase, Procedure
from pytest_reflex.drivers.iterate.procedures import (
    find_procedure,
    gates_of,
    load_procedures,
    procedure_names,
)
from pytest_reflex.errors import ProcedureError, UsageError
from pytest_reflex.settings import global_path, load
from tests.drivers.iterate.desk import FOUR, write


def find(project: Path, name: str, text: str = "") -> Procedure:
    write(project, text)
    return find_procedure(name, load(project), project)


def test_a_field_that_is_given_leaves_the_others_of_the_built_in(tmp_path: Path) -> None:
    changed = find(tmp_path, "build", "[iterate.procedures.build]\nmax_iterations = 2\n")
    before = find(tmp_path, "build")
    assert changed.max_iterations == 2
    assert changed.phases == before.phases
    assert (changed.description, changed.success) == (before.description, True)


def test_a_phase_that_is_given_takes_the_place_of_that_phase(tmp_path: Path) -> None:
    text = '[iterate.procedures.build]\nact = [{content = "rest"}]\n'
    changed = find(tmp_path, "build", text)
    assert [one.content for one in changed.phases[Phase.ACT]] == ["rest"]
    assert changed.phases[Phase.OBSERVE] == find(tmp_path, "build").phases[Phase.OBSERVE]


def test_a_phase_can_add_to_the_built_in_one(tmp_path: Path) -> None:
    text = "[iterate.procedures.mine]\n" + FOUR.replace(
        "act = [{content", 'act = [{built_in = "build"}, {content'
    )
    act = find(tmp_path, "mine", text).phases[Phase.ACT]
    assert act[:-1] == find(tmp_path, "build").phases[Phase.ACT]
    assert act[-1].content == "do"


def test_what_is_not_built_in_is_refused_with_its_place(tmp_path: Path) -> None:
    text = "[iterate.procedures.build]\nact = [{built_in = 'paln'}]\n"
    said = f"{tmp_path / 'pytest-reflex.toml'}:2:7: there is no built-in procedure 'paln' (did you "
    with pytest.raises(ProcedureError, match=re.escape(said)):
        find(tmp_path, "build", text)


def test_tiers_are_joined_before_the_built_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    personal = global_path().parent
    write(personal, "Do it my way.", "act.md")
    write(personal, '[iterate.procedures.build]\nact = [{path = "act.md"}]\nagent = "mine"\n')
    found = find(tmp_path, "build", '[iterate.procedures.build]\nagent = "ours"\n')
    (act,) = found.phases[Phase.ACT]
    assert (found.agent, act.path) == ("ours", str(personal / "act.md"))
    assert act.origin == f"{personal / 'pytest-reflex.toml'}:2:7"


def test_a_new_procedure_has_its_origin_and_that_of_each_fragment(tmp_path: Path) -> None:
    own = write(tmp_path, f"[iterate.procedures.mine]\n{FOUR}")
    found = find_procedure("mine", load(tmp_path), tmp_path)
    assert found.origin == str(own)
    places = [found.phases[phase][0].origin for phase in Phase]
    assert places == [f"{own}:2:11", f"{own}:3:10", f"{own}:4:10", f"{own}:5:7"]


def test_in_pyproject_it_is_the_same(tmp_path: Path) -> None:
    own = write(tmp_path, f"[tool.pytest-reflex.iterate.procedures.mine]\n{FOUR}", "pyproject.toml")
    found = find_procedure("mine", load(tmp_path), tmp_path)
    assert found.phases[Phase.ACT][0].origin == f"{own}:5:7"


def test_paths_are_those_of_the_project(tmp_path: Path) -> None:
    write(tmp_path, "Look around.", "prompts/look.md")
    text = '[[iterate.procedures.build.observe]]\npath = "prompts/look.md"\n'
    (fragment,) = find(tmp_path, "build", text).phases[Phase.OBSERVE]
    assert fragment.path == str(tmp_path / "prompts/look.md")


def test_a_procedure_that_there_is_not_gets_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no procedure 'biuld' \(did you mean build\?\)"):
        find(tmp_path, "biuld")


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = (
        "[iterate.procedures.mine]\n"
        'observe = [{path = "no.md"}]\n'
        'decide = [{content = "{a}", parameters = {b = "x"}}]\n'
        'act = [{content = "x"}]\ngates = ["tests"]\n'
    )
    with pytest.raises(ProcedureError) as caught:
        find(tmp_path, "mine", text)
    own = tmp_path / "pytest-reflex.toml"
    first, second, third, fourth = map(str, caught.value.problems)
    assert (
        first
        == f"{tmp_path / 'no.md'}: mine: the prompt of observe, named in {own}:2:11, is not there"
    )
    assert second.startswith(f"{own}:1:1: procedure 'mine' has no fragments for orient (a new ")
    assert third.startswith(f"{own}:3:10: mine: the prompt of decide has no parameter for {{a}}")
    assert fourth.startswith(f"{own}:5:9: procedure 'mine': there is no gate 'tests' (declare it")


def test_a_procedure_that_cannot_be_used_is_in_nobody_elses_way(tmp_path: Path) -> None:
    text = '[iterate.procedures.mine]\nobserve = [{path = "no.md"}]\n'
    assert find(tmp_path, "build", text).name == "build"
    with pytest.raises(ProcedureError, match=r"no.md: mine: the prompt of observe"):
        load_procedures(load(tmp_path), tmp_path)


def test_all_procedures_are_there_by_name(tmp_path: Path) -> None:
    write(tmp_path, f"[iterate.procedures.mine]\n{FOUR}")
    settings = load(tmp_path)
    found = load_procedures(settings, tmp_path)
    assert tuple(found) == procedure_names(settings)
    assert tuple(found)[-1] == "mine"


GATES = """\
[iterate.gates.lint]
command = ["ruff", "check"]
required = false
[iterate.gates.docs]
criteria = "documentation"
artifacts = ["README.md"]
threshold = 0.9
timeout = 5
"""
LINT = IterationGate(name="lint", command=("ruff", "check"), required=False)
DOCS = IterationGate(
    name="docs",
    criteria="documentation",
    artifacts=("README.md",),
    threshold="0.9",
    timeout=5.0,
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", (LINT, DOCS)),
        ("gates = []", ()),
        ('gates = ["docs", "lint", "docs"]', (DOCS, LINT)),
    ],
    ids=["all of them", "none", "some in another order, each once"],
)
def test_a_procedure_chooses_its_gates(
    tmp_path: Path, said: str, expected: tuple[IterationGate, ...]
) -> None:
    write(tmp_path, f"{GATES}[iterate.procedures.build]\n{said}\n")
    settings = load(tmp_path)
    assert gates_of(find_procedure("build", settings, tmp_path), settings) == expected


def test_a_gate_that_does_nothing_is_refused(tmp_path: Path) -> None:
    own = write(tmp_path, "[iterate.gates.lint]\ntimeout = 5\n")
    settings = load(tmp_path)
    said = re.escape(f"{own}:1:1: gate 'lint' has neither a command nor criteria")
    with pytest.raises(ProcedureError, match=said):
        gates_of(find_procedure("build", settings, tmp_path), settings)
