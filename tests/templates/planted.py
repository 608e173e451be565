"""The corpus: good documents of our own, and the same with one fault each that a rule has to see.

`corpus/` holds the good ones by template; `corpus/defects.yaml` says what is planted where.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_reflex.model.enums import Outcome
from pytest_reflex.text.data import read_data
from tests.templates.evaluating import evaluated

CORPUS = Path(__file__).parent / "corpus"
TEMPLATES = (
    *("api-spec", "code", "configuration"),
    *("documentation", "reference", "changelog", "adr"),
)
_WITHOUT = {
    "fences": re.compile(r"^```\w*\n.*?^```\n\n?", re.MULTILINE | re.DOTALL),
    "comments": re.compile(r"^[;#].*\n", re.MULTILINE),
    "everything": re.compile(r".*", re.DOTALL),
}


@dataclass(frozen=True, slots=True)
class Defect:
    """One fault: `old` in `document` becomes `new` (or all of a kind is taken out).

    `rule` has to notice it; those in `also` may, since the fault is theirs too, and all of them
    where the document cannot be read any more (`everything`).
    """

    document: str
    rule: str
    what: str
    old: str
    new: str
    without: str
    file: str
    also: frozenset[str]
    everything: bool

    def plant(self, text: str) -> str:
        """Return the text with the fault; raises ValueError where its place is not there once."""
        if self.without:
            return _WITHOUT[self.without].sub("", text)
        if text.count(self.old) != 1:
            raise ValueError(f"{self.document}: {self.old!r} is there {text.count(self.old)} times")
        return text.replace(self.old, self.new)


def good_documents() -> tuple[str, ...]:
    """Return the names of the documents without a fault, folders of code as one."""
    found = []
    for template in TEMPLATES:
        for path in sorted((CORPUS / template).rglob("*")):
            name = path.relative_to(CORPUS).as_posix()
            if path.is_file() and not name.startswith("code/shop/") and path.suffix != ".pyc":
                found.append(name)
    return (*found, "code/shop")


def defects() -> tuple[Defect, ...]:
    """Return what `corpus/defects.yaml` plants."""
    entries = read_data((CORPUS / "defects.yaml").read_text("utf-8"), "yaml")[0].value
    return tuple(
        Defect(
            document=entry["document"],
            rule=entry["rule"],
            what=entry["what"],
            old=entry["old"] or "",
            new=entry["new"] or "",
            without=entry.get("without", ""),
            file=entry.get("in", ""),
            also=frozenset(entry.get("also", ())),
            everything=entry.get("all", False),
        )
        for entry in entries
    )


@cache
def red_rules(document: str, defect: Defect | None = None) -> dict[str, str]:
    """Return the rules that are not passed, each with its outcome and message."""
    template = document.split("/")[0]
    with TemporaryDirectory() as folder:
        copy = Path(folder) / document
        copy.parent.mkdir(parents=True)
        source = CORPUS / document
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copyfile(source, copy)
        if defect:
            path = copy / defect.file if defect.file else copy
            path.write_text(defect.plant(path.read_text("utf-8")), "utf-8")
        evaluation = evaluated(template, copy)
    return {
        result.rule.id: f"{result.outcome.value}: {result.message}"
        for result in evaluation.results
        if result.outcome is not Outcome.PASS
    }
