"""A new criteria file: one to start from, or the rules that a good document meets.

All of it is pure: a proposal carries the document with the region that it asks for taken out, so
that whoever judges can prove it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.criteria.author.samples import judge_text, passes
from pytest_reflex.criteria.author.yaml_writer import to_yaml
from pytest_reflex.criteria.document import parse_document
from pytest_reflex.criteria.load import CriteriaReader
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError, split
from pytest_reflex.text.outline import outline

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.model.rules import Criteria


MOST = 12
"""Proposals of one kind; more would not be read."""

_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_LINKS = re.compile(r"\]\(|\]\[|<(?=\w+:)|<a\s", re.IGNORECASE)
_KEY = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProposal:
    """A rule for a document: `asks` is what it looks for, `without` the document that lacks it."""

    id: str
    description: str
    why: str
    hint: str
    check: dict[str, Any]
    good: str
    bad: str
    without: str = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the rule as a criteria file gives it."""
        return {
            "id": self.id,
            "description": self.description,
            "severity": "fail",
            "why": self.why,
            "hint": self.hint,
            "check": self.check,
            "samples": {"good": [self.good], "bad": [self.bad]},
        }


def propose(text: str) -> list[RuleProposal]:
    """Return rules that a Markdown, JSON or YAML text seems to meet; ids are unique."""
    found = list(_data(text)) or [*_title(text), *_sections(text), *_blocks(text), *_links(text)]
    unique: dict[str, RuleProposal] = {}
    for proposal in found:
        unique.setdefault(proposal.id, proposal)
    return list(unique.values())


def _title(text: str) -> Iterator[RuleProposal]:
    tops = [heading for heading in outline(text).headings if heading.level == 1]
    if len(tops) == 1:
        yield RuleProposal(
            id="a.completeness.title",
            description="There is one title, that is one heading of level 1",
            why="A reader looks at the title first, and tools list documents by it",
            hint="Begin with one heading of level 1",
            check=_structure(headings={"single_title": True}, expected="one title"),
            good="# Title\n\nText.\n",
            bad="Text without a title.\n",
            without=_cut(text, [(tops[0].line, tops[0].body)]),
        )


def _sections(text: str) -> Iterator[RuleProposal]:
    titles = [h for h in model.parse(text).headings if not h.nested]
    shapes = list(zip(titles, outline(text).headings, strict=True))
    chosen = [title.title for title, shape in shapes if shape.level == 2]
    for title in list(dict.fromkeys(chosen))[:MOST]:
        slug = _slug(title)
        if not slug or title.startswith(("/", "#")):
            continue
        same = [s for t, s in shapes if t.title.casefold() == title.casefold()]
        yield RuleProposal(
            id=f"a.completeness.section-{slug}",
            description=f"There is a section {title}",
            why="The document that these rules were made from has it",
            hint=f"Add a section with the heading {title}",
            check=_structure(headings={"required": [title]}, expected=f"a heading {title}"),
            good=f"# Title\n\n## {title}\n\nText.\n",
            bad="# Title\n\nText.\n",
            without=_cut(text, [(shape.line, shape.body) for shape in same]),
        )


def _blocks(text: str) -> Iterator[RuleProposal]:
    fences = outline(text).fences
    languages = dict.fromkeys(one.language for one in fences if _slug(one.language))
    for language in list(languages)[:MOST]:
        same = [one for one in fences if one.language == language]
        yield RuleProposal(
            id=f"a.completeness.{_slug(language)}-example",
            description=f"There is an example, that is a fenced block tagged {language}",
            why="An example is copied before the text around it is read",
            hint=f"Add a fenced block tagged {language}",
            check=_structure(
                code_blocks={"language": language, "min_count": 1},
                expected=f"a block of {language}",
            ),
            good=f"# Title\n\n```{language}\nx\n```\n",
            bad="# Title\n\nText.\n",
            without=_cut(text, [(one.first - 1, one.last + one.closed) for one in same]),
        )


def _links(text: str) -> Iterator[RuleProposal]:
    if any(not link.image for link in model.parse(text).links):
        yield RuleProposal(
            id="b.completeness.links",
            description="It links to where a reader goes on",
            why="A document without links is where a reader's way ends",
            hint="Link to what comes next",
            check=_structure(links={"min_count": 1}, expected="a link at least"),
            good="# Title\n\nSee [there](https://example.org).\n",
            bad="# Title\n\nSee there.\n",
            without=_LINKS.sub(" ", text),
        )


def _data(text: str) -> Iterator[RuleProposal]:
    value = _mapping(text)
    for key in list(value)[:MOST]:
        if not isinstance(key, str) or not _KEY.fullmatch(key) or not _slug(key):
            continue
        others = {name: item for name, item in value.items() if name != key}
        yield RuleProposal(
            id=f"a.completeness.{_slug(key)}",
            description=f"{key} is given",
            why="The document that these rules were made from has it",
            hint=f"Give {key}",
            check=_structure(path=key, expected=f"a value for {key}"),
            good=json.dumps({key: 1}),
            bad=json.dumps({"other" if key != "other" else "another": 1}),
            without=json.dumps(others, default=str),
        )


def _mapping(text: str) -> dict[Any, Any]:
    """Return the one mapping that a whole text is in JSON or YAML; empty for any other text."""
    try:
        documents = read_data(text, "json" if text.lstrip().startswith("{") else "yaml")
    except DataSyntaxError:
        return {}
    values = [document.value for document in documents]
    return values[0] if len(values) == 1 and isinstance(values[0], dict) else {}


def _structure(*, expected: str, **what: Any) -> dict[str, Any]:
    return {"type": "structure", **what, "expected": expected}


def _cut(text: str, regions: list[tuple[int, int]]) -> str:
    """Return a text without some regions of lines: the first, and the one after the last."""
    gone = {number for first, end in regions for number in range(first, end)}
    return "".join(line for number, line in enumerate(split(text)) if number not in gone)


def _slug(title: str) -> str:
    return _NOT_IN_SLUG.sub("-", title.lower()).strip("-")[:60].strip("-")


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
class ProvedProposal:
    """A proposal that was tried; `why_not` is empty where it holds and can fail."""

    proposal: RuleProposal
    why_not: str = ""


def starter(name: str, *, schema: bool) -> str:
    """Return a file that lints clean and judges, with a word on each thing in it."""
    return header(schema=schema) + _STARTER.format(name=name)


def header(*, schema: bool) -> str:
    """Return the line that gives completion in editors, where a schema lies beside the file."""
    return f"# yaml-language-server: $schema={SCHEMA_FILE}\n" if schema else ""


def format_proposals(
    name: str, document: str, proved: Iterable[ProvedProposal], *, schema: bool
) -> str:
    """Return a file with the proposals that were proved; `document` is named in it."""
    rules = [one.proposal.to_json() for one in proved if not one.why_not]
    text = f"# Made from {document}: it meets each rule, and fails it without what it asks for.\n"
    return header(schema=schema) + text + to_yaml({"name": name, "version": 1, "rules": rules})


def prove(
    proposals: Iterable[RuleProposal], text: str, registry: Registry, root: Path, folder: Path
) -> Iterator[ProvedProposal]:
    """Yield each proposal with the reason against it.

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
        yield ProvedProposal(proposal, why_not if there else "the document does not meet it")


def _criteria(rule: dict[str, Any], registry: Registry) -> Criteria:
    reading = CriteriaReader(registry, {})
    path = Path("proposal.yaml")
    table, diagnostics = parse_document(to_yaml({"rules": [rule]}).encode(), path.name)
    return reading.criteria(reading.layer(path, table, diagnostics), path)
