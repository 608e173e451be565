"""Templates of installed packages: a real dist-info in a folder on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.criteria.author.catalog import catalog
from pytest_reflex.criteria.templates import find_packs, find_template
from pytest_reflex.errors import CriteriaError
from tests.criteria.writing import REGISTRY, load, problems, rules, write

LOUD = "raise RuntimeError('a pack is data: nobody imports it')\n"


def install(site: Path, name: str, value: str, *templates: str, text: str = "") -> None:
    """Install a distribution whose entry point says where its templates lie."""
    package = name.replace("-", "_") + "_rules"
    write(site, f"{package}/__init__.py", LOUD)
    for template in templates:
        write(site, f"{package}/{template}.yaml", text or rules(head="version: 7\nextends: base\n"))
    info = f"{package}-1.0.dist-info"
    write(site, f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    points = f"[pytest_reflex_criteria]\n{name} = {value or package}\n"
    write(site, f"{info}/entry_points.txt", points)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("reference", ["acme/service", "service"])
def test_a_template_of_a_pack_is_found_by_name(site: Path, reference: str) -> None:
    install(site, "acme", "", "service")
    assert find_template(reference) == site / "acme_rules" / "service.yaml"
    assert "acme_rules" not in sys.modules


def test_a_pack_may_keep_its_templates_in_a_folder(site: Path, tmp_path: Path) -> None:
    install(site, "acme", "acme_rules:data.rules", "data/rules/service")
    assert find_template("acme/service") == site / "acme_rules" / "data" / "rules" / "service.yaml"
    found = load(tmp_path, "extends: acme/service\n")
    assert [rule.id for rule in found.rules] == ["a.correctness.artifact-non-empty", "a.docs.title"]


def test_a_file_and_a_stock_template_come_before_a_pack(site: Path, tmp_path: Path) -> None:
    install(site, "acme", "", "service", "base")
    local = write(tmp_path, "service.yaml", rules())
    assert find_template("service") == Path("service.yaml")
    assert find_template("base") != site / "acme_rules" / "base.yaml"
    assert local.exists()


def test_a_name_that_two_packs_have_is_refused(site: Path) -> None:
    install(site, "acme", "", "service")
    install(site, "zeta", "", "service")
    with pytest.raises(CriteriaError) as caught:
        find_template("service")
    message = "several packs have a template 'service': acme/service and zeta/service"
    assert str(caught.value) == f"{message} (name one of them, such as acme/service)"
    assert find_template("zeta/service").parent.name == "zeta_rules"


def test_a_misspelt_template_of_a_pack_is_named(site: Path, tmp_path: Path) -> None:
    install(site, "acme", "", "service")
    (found,) = problems(tmp_path, "extends: acme/servise\n")
    assert "there are no criteria 'acme/servise'" in found
    assert found.endswith("(did you mean acme/service?)")


def test_all_are_listed_and_a_broken_one_says_why(site: Path) -> None:
    install(site, "acme", "", "service")
    install(site, "broken", "", "torn", text="rules: [")
    install(site, "gone", "gone_rules:nowhere")
    listed = {one.name: one for one in catalog(REGISTRY)}
    service = listed["acme/service"].to_json()
    assert (service["rules"], service["version"]) == (2, 7)
    assert service["origin"] == "acme (acme_rules)"
    assert "torn.yaml:2:1: this is not valid YAML" in listed["broken/torn"].problem
    problem = "the entry point gone = 'gone_rules:nowhere' of gone_rules leads to no folder"
    assert listed["gone"].to_json()["problem"] == problem


def test_a_pack_that_cannot_be_found_is_no_fault_of_others(site: Path) -> None:
    install(site, "odd", "no.such..thing:x")
    (pack,) = [one for one in find_packs() if one.name == "odd"]
    assert pack.templates() == {}
    assert "'no.such..thing:x'" in pack.problem


@pytest.mark.long
def test_packs_cost_nothing_where_none_is_named(site: Path, tmp_path: Path) -> None:
    install(site, "acme", "", "service")
    write(tmp_path, "own.yaml", rules(head="extends: base\n"))
    code = (
        "import sys; from pytest_reflex.criteria.load import load_criteria\n"
        "from pytest_reflex.checks.registry import built_in_registry\n"
        "load_criteria('own.yaml', registry=built_in_registry())\n"
        "assert 'importlib.metadata' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{os.getcwd()}"}
    environment["PYTHONPATH"] += os.pathsep + str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.parametrize("value", ["acme_rules:../../..", "acme_rules:/", "acme_rules:a/../.."])
def test_b118_a_pack_lies_in_its_package(site: Path, value: str) -> None:
    install(site, "acme", value, "service")
    (pack,) = (one for one in find_packs() if one.name == "acme")
    assert (pack.folder, pack.templates()) == (None, {})
    assert f"'{value}' of acme_rules is not a package and folders in it" in pack.problem


@pytest.mark.parametrize("reference", ["acme/service", "service"])
def test_a_broken_pack_is_named_where_its_template_is_missed(site: Path, reference: str) -> None:
    install(site, "acme", "acme_rules:templates", "service")
    with pytest.raises(CriteriaError) as caught:
        find_template(reference)
    assert "'acme_rules:templates' of acme_rules leads to no folder" in str(caught.value)
