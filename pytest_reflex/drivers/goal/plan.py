"""From a spec to a goal: how clear the spec is, and each box of the checklist.

Source: the rubric of seed 003. The points come from cues in the text, so that the same spec always
has the same; a person may give points instead, and who gave them is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.goal.claims import Statement, parts_of
from pytest_reflex.drivers.goal.model import (
    Criterion,
    GoalState,
    MustNot,
    Reversibility,
    Shape,
    Verification,
    VerificationPlan,
    Workflow,
)
from pytest_reflex.drivers.goal.run_state import Goal, GoalStep
from pytest_reflex.drivers.goal.scoring import MOST, RULES, Dimension
from pytest_reflex.drivers.goal.shape_file import read_shape
from pytest_reflex.drivers.goal.spec import (
    criteria_of,
    gate_of,
    reversibility_of,
    steps_of,
    workflow_of,
)
from pytest_reflex.errors import Problem, SpecError, UsageError, did_you_mean, exists
from pytest_reflex.model.plain import one_line

TOOL_FROM = 8
COLLEAGUE_FROM = 5


class ScoreSource(StrEnum):
    """Who gave the points of a dimension."""

    CUES = "cues"
    FLAG = "flag"


QUESTIONS: Mapping[Dimension, str] = {
    Dimension.OUTCOME: "Which number, output or behaviour is different afterwards?",
    Dimension.SCOPE: "Which files, modules or endpoints may change?",
    Dimension.CONSTRAINTS: "What must stay as it is, and what must not be added?",
    Dimension.SUCCESS: "Which command or observation shows that it works?",
    Dimension.DONE: "Which event ends the work: a merge, a release, a passing check?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The points of one dimension, and why."""

    dimension: Dimension
    points: int
    reason: str
    source: ScoreSource = ScoreSource.CUES

    def to_json(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension.value,
            "points": self.points,
            "reason": self.reason,
            "source": self.source.value,
        }


@dataclass(frozen=True, slots=True)
class Rubric:
    """The scores of a spec, one for each dimension in their order."""

    scores: tuple[Score, ...]

    @property
    def total(self) -> int:
        return sum(score.points for score in self.scores)

    @property
    def shape(self) -> Shape:
        if self.total >= TOOL_FROM:
            return Shape.TOOL
        return Shape.COLLEAGUE if self.total >= COLLEAGUE_FROM else Shape.INTENT

    @property
    def missing(self) -> tuple[Dimension, ...]:
        """Return the dimensions without points, or where each has one, those below the most."""
        none = tuple(one.dimension for one in self.scores if not one.points)
        return none or tuple(one.dimension for one in self.scores if one.points < MOST)

    def to_json(self) -> dict[str, Any]:
        refused = self.shape is Shape.INTENT
        missing = self.missing if refused else ()
        return {
            "total": self.total,
            "most": MOST * len(self.scores),
            "shape": self.shape.value,
            "scores": [score.to_json() for score in self.scores],
            "missing": [one.value for one in missing],
            "questions": [QUESTIONS[one] for one in missing],
        }


def score_spec(spec: str, given: Mapping[Dimension, int] | None = None) -> Rubric:
    """Return the rubric of a spec; points that a person has given stand in for those by cues."""
    parts = list(parts_of(spec))
    return Rubric(tuple(_score(one, parts, given or {}) for one in Dimension))


def _score(dimension: Dimension, parts: list[Statement], given: Mapping[Dimension, int]) -> Score:
    if dimension in given:
        reason = "given on the command line"
        return Score(
            dimension=dimension, points=given[dimension], reason=reason, source=ScoreSource.FLAG
        )
    points, reason = RULES[dimension](parts)
    return Score(dimension=dimension, points=points, reason=reason)


def parse_scores(texts: Iterable[str]) -> dict[Dimension, int]:
    """Return the points in texts such as ``outcome=2,done=1``; raises UsageError."""
    found: dict[Dimension, int] = {}
    for word in (word.strip() for text in texts for word in text.split(",")):
        name, _, points = (piece.strip() for piece in word.partition("="))
        if name not in list(Dimension):
            hint = did_you_mean(name, [one.value for one in Dimension])
            raise UsageError(f"--score has no dimension {one_line(name)!r}", hint=hint)
        if points not in ("0", "1", "2"):
            raise UsageError(f"--score {name} must be 0, 1 or 2", hint=f"--score {name}=2")
        if Dimension(name) in found:
            raise UsageError(f"--score gives {name} twice", hint="give each dimension once")
        found[Dimension(name)] = int(points)
    return found


SHAPE_FILE = ".loop/shape/SHAPE.md"
_AGAINST = re.compile(
    r"^[ \t]*(?:[-*+#]+[ \t]*|\d+[.)][ \t]*)?[*_]{0,2}"
    r"(?:counter-?[ ]?arguments?|arguments? against|against|objections?|why not)\b"
    r"[*_]{0,2}[ \t]*:?[*_]{0,2}[ \t]*(?P<text>[^\n]*)$",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What a person gives beside the spec; empty where it is read off the spec."""

    shape: Shape | None = None
    workflow: Workflow | None = None
    reversibility: Reversibility | None = None
    criteria: str = ""
    precheck: str = ""
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class PlannedGoal:
    """A goal, and the files that it was read from."""

    goal: Goal
    files: tuple[Path, ...]


def plan_goal(spec: str, choices: PlanOptions, *, project: Path, registry: Registry) -> PlannedGoal:
    """Return the goal of a spec; raises SpecError with all that is unclear, and changes nothing."""
    rubric = score_spec(spec)
    workflow = choices.workflow or workflow_of(spec)
    reversibility = choices.reversibility or reversibility_of(spec)
    criteria, must_not, files = _criteria(spec, choices.criteria, project, registry)
    problems = list(_unclear(rubric, workflow, reversibility, criteria, choices.precheck))
    if problems or workflow is None:
        raise SpecError(problems)
    gate = gate_of(workflow)
    texts = {one.text for one in criteria}
    state = GoalState(
        spec=spec,
        criteria=(*criteria, *([] if gate.text in texts else [gate])),
        must_not=must_not,
    )
    steps = steps_of(spec) or tuple(one.text for one in criteria)
    state = replace(state, steps=steps, remaining_steps=steps)
    goal = Goal(
        state=state,
        shape=choices.shape or rubric.shape,
        workflow=workflow,
        reversibility=reversibility,
        rubric=rubric.to_json(),
        at=GoalStep.G1,
        is_confirmed=choices.is_confirmed,
        precheck=choices.precheck,
    )
    return PlannedGoal(goal, files)


def _criteria(
    spec: str, file: str, project: Path, registry: Registry
) -> tuple[tuple[Criterion, ...], tuple[MustNot, ...], tuple[Path, ...]]:
    """Return the criteria of a spec, of SHAPE.md and of a criteria file, each text once."""
    found = {one.text: one for one in criteria_of(spec)}
    must_not: tuple[MustNot, ...] = ()
    files: list[Path] = []
    shape = project / SHAPE_FILE
    if exists(shape):  # what is there and cannot be read is not left out in silence
        read = read_shape(shape)
        found |= {one.text: one for one in read.criteria}
        must_not = read.must_not
        files.append(shape)
    for one in _rules(file, project, registry) if file else ():
        found.setdefault(one.text, one)
    return tuple(found.values()), must_not, tuple(files)


def _rules(file: str, project: Path, registry: Registry) -> Iterator[Criterion]:
    """Yield a criterion for each rule of a criteria file; a suite names its artifact itself."""
    from pytest_reflex.criteria.load import read_criteria
    from pytest_reflex.criteria.suite import default_level
    from pytest_reflex.drivers.common.measure_criteria import SUITE_SUFFIXES

    name, _, artifact = file.partition("=")
    if not artifact and not name.endswith(SUITE_SUFFIXES):
        raise UsageError(
            f"--criteria {one_line(file)} does not name what to check",
            hint=f"--criteria {one_line(file)}=README.md, or a suite (*.reflex.yaml)",
        )
    criteria, _ = read_criteria(name, registry=registry, relative_to=project)
    for rule in criteria.active(default_level(criteria)):
        plan = VerificationPlan(
            criteria=name,
            artifact=artifact,
            rule=rule.id,
            required=Verification.EXECUTION_OUTPUT,
        )
        yield Criterion(text=f"{rule.id}: {one_line(rule.description, 200)}", plan=plan)


def _unclear(
    rubric: Rubric,
    workflow: Workflow | None,
    reversibility: Reversibility,
    criteria: tuple[Criterion, ...],
    precheck: str,
) -> Iterator[Problem]:
    if rubric.shape is Shape.INTENT:
        missing = rubric.missing
        names = ", ".join(one.value for one in missing)
        yield Problem(
            message=f"the spec is too unclear to begin ({rubric.total}/10); missing: {names}",
            hint=" ".join(QUESTIONS[one] for one in missing),
        )
    if workflow is None:
        yield Problem(
            message="nothing says whether it is to build, to debug or to refactor",
            hint="--workflow A, B or C",
        )
    if not criteria:
        yield Problem(
            message="the spec has no criteria",
            hint="list them under `Success:`, or give --criteria FILE",
        )
    if reversibility is Reversibility.ONE_WAY and not arguments_against(precheck):
        text = "no counter-argument" if precheck else "no pre-check"
        yield Problem(
            message=f"the work cannot be rolled back (Type 1), and there is {text}",
            hint="--precheck FILE, with at least one line `Counter-argument: ...`",
        )


def arguments_against(precheck: str) -> list[str]:
    """Return the arguments against the work in a pre-check.

    They stand behind a label, or below it as lines up to the next empty one behind a text.
    """
    found = []
    for match in _AGAINST.finditer(precheck):
        if text := match["text"].strip(" *_"):
            found.append(text)
            continue
        for line in precheck[match.end() :].lstrip("\n").splitlines():
            text = line.strip().lstrip("-*+0123456789.) ").strip()
            if not text or line.lstrip().startswith("#"):
                break
            found.append(text)
    return found
