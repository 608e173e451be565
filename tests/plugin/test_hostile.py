"""Names and output that were not made for a terminal, an id or an XML file."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import GOOD, Run, append_rule, edit, write

pytestmark = pytest.mark.long

ODD = ("a b.md", "x[1].md", "two::parts.md", "100%.md", "line\nbreak.md", "\U0001f600.md", "%q.md")


def test_b052_every_check_is_selectable_by_its_printed_id(
    project: pytest.Pytester, run: Run
) -> None:
    edit(project, "[api.md]", '["odd/*"]')
    for name in ODD:
        write(project, f"odd/{name}", GOOD)
    listed = [line for line in run("--collect-only", "-q").outlines if "::a.x.usage::0" in line]
    assert len(listed) == len(ODD)
    run(*listed).assert_outcomes(passed=len(ODD))


def test_b054_control_bytes_of_a_command_are_visible_and_xml_parses(
    project: pytest.Pytester, run: Run
) -> None:
    append_rule(
        project,
        "  - {id: a.y.raw, description: raw, severity: fail, check: {type: executable, "
        r"""command: 'printf "\001\033[31m\355\240\200red"; exit 1'}}""" + "\n",
    )
    result = run("--junitxml=junit.xml")
    assert result.ret == 1
    text = (project.path / "junit.xml").read_bytes()
    ElementTree.fromstring(text)
    assert b"\\x1b[31m" in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", result.stdout.str())


def test_b026_braces_in_a_failure_are_only_text(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", GOOD.replace("## Install", "{0} {!r} %d {{ name }}"))
    edit(project, "expected: an install section", "expected: 'a {0!r} %s %(x)d'")
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["fail: a {0!r} %s %(x)d: pattern not found"])
    assert "INTERNALERROR" not in result.stdout.str()


def test_b062_a_binary_artifact_is_one_finding(project: pytest.Pytester, run: Run) -> None:
    (project.path / "api.md").write_bytes(b"\x89PNG\0\xff")
    result = run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "FAIL        a.x.usage: api.md is binary: *",
            "NOT MEASURED 2 more rules not measured: same cause as a.x.usage",
        ]
    )
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("artifacts: [api.md]", "artifacts: [no.md]", "mini.reflex.yaml:2:*'no.md' matches no*"),
        ('"^## Usage"', '"("', "mini.reflex.yaml:*: rule a.x.usage: *"),
        ("severity: warn", "severity: warn\n    weight: .nan", "mini.reflex.yaml:16:*"),
        ("rules:", "rules: [", "mini.reflex.yaml:*"),
        ('type: content, search: "hello"', "type: contnt, search: x", "*contnt*did you mean*"),
    ],
    ids=["artifact", "pattern", "weight", "yaml", "type"],
)
def test_b005_faulty_criteria_are_4_with_one_clear_line(
    project: pytest.Pytester, run: Run, old: str, new: str, told: str
) -> None:
    edit(project, old, new)
    project.makepyfile("def test_green(): pass")
    result = run()
    assert result.ret == 4
    result.stdout.fnmatch_lines([told, "GATE        ERROR: * (exit status 4)"])
    assert "Traceback" not in result.stdout.str()


def test_a_broken_test_module_beside_faulty_criteria_stays_an_interrupted_run(
    project: pytest.Pytester, run: Run
) -> None:
    edit(project, "severity: warn", "severity: wran")
    project.makepyfile("import no_such_module")
    assert run().ret == 2


def test_b046_the_order_of_items_is_always_the_same(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(project, "[api.md]", '["docs/*.md", api.md]')
    for number in range(12):
        write(project, f"docs/{number * 7919 % 100}.md", GOOD)
    seen = set()
    for seed in ("1", "2", "3"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        command = ("-p", "pytest_reflex.plugin", "--collect-only", "-q")
        result = project.runpytest_subprocess(*command)
        seen.add(tuple(line for line in result.outlines if "::" in line))
    assert len(seen) == 1
    assert len(seen.pop()) == 52
