"""The text of a new criteria file: one to start from, or the rules that a document proves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.author.samples import judge_text, passes
from pytest_reflex.criteria.author.scaffold import Proposal
from pytest_reflex.criteria.author.yaml_writer import to_yaml
from pytest_reflex.criteria.document import parse_document
from pytest_reflex.criteria.load import Reading

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.model.rules import Criteria

SCHEMA_FILE = "criteria.schema.json"

_STARTER = """\
name: {name}
version: 1
# extends: documentation  # takes over the rules of a template; `criteria list` names them
phases: {{A: {{threshold: 0.8}}, B: {{threshold: 0.9}}}}  # the share of weight that has to pass
rules:
  # Ids that start with a. hold in any case; those that start with b. are for a finished piece.
  - id: a.completeness.title
    description: There is one title, that is one heading of level 1
    severity: fail  # fail blocks the gate, warn costs weight, info is only reported
    why: A reader looks at the title first
    hint: Begin with one heading of level 1
    check: {{type: structure, headings: {{single_title: true}}, expected: one title}}
    samples:  # `criteria test` tries them: good ones have to pass, bad ones to fail
      good: ["# Title\\n\\nText.\\n"]
      bad: ["Text without a title.\\n"]

  - id: b.style.no-placeholders
    description: No placeholder is left
    severity: warn
    why: What is left open looks like a mistake
    hint: Write what the placeholder stands for
    check:
      type: content
      search: '\\b(?:TODO|TBD|FIXME)\\b'  # a pattern of Python's re, in single quotes
      negate: true
      expected: no TODO, TBD or FIXME
    samples:
      good: ["All is said.\\n"]
      bad: ["TODO: say it.\\n"]
"""


@dataclass(frozen=True, slots=True)
class Proved:
    """A proposal that was tried; `why_not` is empty where it holds and can fail."""

    proposal: Proposal
    why_not: str = ""


def starter(name: str, *, schema: bool) -> str:
    """Return a file that lints clean and judges, with a word on each thing in it."""
    return header(schema=schema) + _STARTER.format(name=name)


def header(*, schema: bool) -> str:
    """Return the line that gives completion in editors, where a schema lies beside the file."""
    return f"# yaml-language-server: $schema={SCHEMA_FILE}\n" if schema else ""


def proposed(name: str, document: str, proved: Iterable[Proved], *, schema: bool) -> str:
    """Return a file with the proposals that were proved; `document` is named in it."""
    rules = [one.proposal.to_json() for one in proved if not one.why_not]
    told = f"# Made from {document}: it meets each rule, and fails it without what it asks for.\n"
    return header(schema=schema) + told + to_yaml({"name": name, "version": 1, "rules": rules})


def prove(
    proposals: Iterable[Proposal], text: str, registry: Registry, root: Path, folder: Path
) -> Iterator[Proved]:
    """Yield each proposal with what speaks against it.

    It has to pass on the text that it was made from, and to fail on the text without what it asks
    for. `folder` takes the files to be judged.
    """
    for proposal in proposals:
        criteria = _criteria(proposal.to_json(), registry)
        there, gone = (
            passes(judge_text(criteria, criteria.rules[0], one, registry, root, folder))
            for one in (text, proposal.without)
        )
        why_not = "" if gone is False else "it does not fail without what it asks for"
        yield Proved(proposal, why_not if there else "the document does not meet it")


def _criteria(rule: dict[str, Any], registry: Registry) -> Criteria:
    reading = Reading(registry, {})
    path = Path("proposal.yaml")
    table, faults = parse_document(to_yaml({"rules": [rule]}).encode(), path.name)
    return reading.criteria(reading.layer(path, table, faults), path)
