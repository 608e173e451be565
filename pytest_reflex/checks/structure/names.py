"""`names`: files are called as they should be, and their numbers are unique and without gaps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.one_list import LIST_KINDS, Item, list_findings
from pytest_reflex.checks.options import REQUIRED, TEXT
from pytest_reflex.checks.selection import ACROSS
from pytest_reflex.checks.structure_kind import Judge, JudgeTogether, ParameterError, StructureKind
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.search.patterns import compile_pattern


def _make(params: Mapping[str, Any]) -> Judge:
    for key in LIST_KINDS:
        if params.get(key):
            raise ParameterError(key, f"{key} is about several files: say across: true beside it")
    together = _together(params)
    return lambda artifact, context: together(artifact, (artifact,), context)


def _together(params: Mapping[str, Any]) -> JudgeTogether:
    if "matches" not in params:
        raise ValueError("it needs matches, a pattern for each name")
    pattern = compile_pattern(params["matches"], key="matches")
    listed = any(params.get(key) for key in LIST_KINDS)
    value = r"\1" if re.compile(params["matches"]).groups else r"\g<0>"

    def judge(folder: Artifact, files: Sequence[Artifact], context: CheckContext) -> Report:
        items: list[Item] = []
        findings: list[Finding] = []
        for file in files:
            inside = file.name if folder.is_folder else ""
            name = PurePath(file.name).name
            found = pattern.expanded(name, value, limit=1, seconds=context.pattern_seconds)
            if found and (found[0][2] or not listed):
                items.append(Item(found[0][2], inside))
            else:
                what = "the first group of the pattern is empty" if found else "pattern not found"
                finding = Finding(f"{name}: {what}", file=inside, pattern=pattern.source)
                findings.append(finding)
        findings += list_findings(items, params)
        return Report(findings, "called as it should be" if len(files) == 1 else "")

    return judge


KIND = StructureKind(
    key="names",
    make=_make,
    make_together=_together,
    together="the names of all files are one list, for `unique` and `consecutive`",
    forbids=lambda params: True,
    inside={
        "matches": TEXT.means(
            "this pattern is in every name; its first group, or all of it, is the value", REQUIRED
        ),
        **LIST_KINDS,
    },
    beside={"across": ACROSS},
)
