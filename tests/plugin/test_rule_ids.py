"""Ids of rules in node ids, JUnit reports and selections: what is accepted can be named there."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

LONGEST = "a.docs." + "x" * 113
IDS = (
    "a.docs.title", "a.docs.title-two", "a.docs.titl", "b.docs.title", "a.con.nul", "a.com1.aux",
    "a.0.00", "a.x.1e10", "a.no.on", "a.x-y.z-0", LONGEST,
)  # fmt: skip


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    rules = "".join(
        f"  - {{id: {one}, description: d, severity: fail, check: {{type: content, search: x}}}}\n"
        for one in IDS
    )
    Path("a.md").write_text("x\n")
    Path("s.reflex.yaml").write_text(f"criteria: base\nartifacts: [a.md]\nrules:\n{rules}")
    return pytester


def test_f39_every_id_is_the_name_of_one_test(suite: pytest.Pytester) -> None:
    suite.inline_run("--junitxml=r.xml", "-p", "no:randomly").assertoutcome(passed=len(IDS) + 1)
    cases = list(ElementTree.parse("r.xml").iter("testcase"))
    names = {(case.get("classname", "").casefold(), case.get("name", "")) for case in cases}
    assert len(names) == len(cases) == len(IDS) + 1
    assert names >= {(f"s.reflex.yaml.{one}", "0") for one in IDS}


@pytest.mark.parametrize(
    "rule_id", ["a.docs.titl", "a.con.nul", LONGEST], ids=["prefix", "nul", "long"]
)
def test_f39_a_node_id_selects_its_rule_alone(suite: pytest.Pytester, rule_id: str) -> None:
    node = f"s.reflex.yaml::{rule_id}::0"
    done = suite.runpytest_inprocess(node, "--reflex-allow-partial", "-v", "-p", "no:randomly")
    done.stdout.fnmatch_lines([f"*{rule_id}*PASSED*"])
    assert done.parseoutcomes()["passed"] == 1
