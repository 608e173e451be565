"""Checks of type `structure`: the shape of each kind, and the table of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from typing import Any

from pytest_reflex.checks.finding import Report, result_of, unread
from pytest_reflex.checks.options import REQUIRED, ParameterType, problems_of, settle
from pytest_reflex.checks.selection import FILE_KINDS, as_one, file_globs, for_each_file
from pytest_reflex.errors import (
    ArtifactError,
    CriteriaError,
    Problem,
    did_you_mean,
    nearest_word,
    suggest,
)
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import as_written
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, variable_name
from pytest_reflex.model.targets import CheckContext, CompiledCheck, plainly
from pytest_reflex.search.patterns import SearchError, compile_pattern

Judge = Callable[[Artifact, CheckContext], Report]
JudgeTogether = Callable[[Artifact, Sequence[Artifact], CheckContext], Report]
"""Checks the chosen files of an artifact as one; the artifact is a folder, or the only file."""


class ParameterError(ValueError):
    """A judge cannot be made because of the parameter `key`; the message is about it."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


def _forbids_nothing(params: Mapping[str, Any]) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureKind:
    """One key of `type: structure` and what it means.

    `value` is what the key may hold beside a table with the keys `inside` (None: a table only);
    `beside` are keys that may stand next to it in the check. `make` gets all of them in one
    mapping, the settled value under `key` where it is not a table and the author's words for the
    check under `expected`, and returns the judge; it raises ValueError, the message a sentence
    about the parameters, where they cannot be used. `whole` where the keys of a table are not ours:
    the table as it is stands under `key`. `forbids` returns whether settled parameters say what
    must not be there: of a folder, in none of its files. A kind that has `across` beside its key
    says with `together` what its files are as one, and `make_together` returns the judge of that.
    """

    key: str
    make: Callable[[Mapping[str, Any]], Judge]
    value: ParameterType | None = None
    inside: Mapping[str, ParameterType] = field(default_factory=dict)
    beside: Mapping[str, ParameterType] = field(default_factory=dict)
    whole: bool = False
    forbids: Callable[[Mapping[str, Any]], bool] = _forbids_nothing
    together: str = ""
    make_together: Callable[[Mapping[str, Any]], JudgeTogether] | None = None


KINDS = {
    "path": "structure.data.path",
    "json_schema": "structure.data.json_schema",
    "headings": "structure.markdown.headings",
    "links": "structure.markdown.links",
    "tables": "structure.markdown.tables",
    "releases": "structure.markdown.releases",
    "count": "structure.markdown.count",
    "names": "structure.names",
    "openapi": "structure.openapi",
    "code_blocks": "structure.markdown.code_blocks",
    "prose": "structure.markdown.prose",
    "code": "structure.code_search",
    "configuration": "structure.configuration",
}
"""The keys, and the module beside this one that makes each of them, imported when it is used."""

COMMON: dict[str, ParameterType] = FILE_KINDS


@cache
def kind_of(key: str) -> StructureKind:
    """Return the kind of structure check that a key of KINDS stands for."""
    kind: StructureKind = import_module(f"pytest_reflex.checks.{KINDS[key]}").KIND
    return kind


class StructureCheck:
    """Look at how the artifact is built; exactly one key of KINDS says at what."""

    name = "structure"

    @property
    def forms(self) -> list[dict[str, ParameterType]]:
        """The parameters of each kind of structure check."""
        return [form_of(key) for key in KINDS]

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        kind, faults = _choose_kind(spec)
        if kind:
            faults += problems_of(_outer(spec, kind), _outer_kinds(kind), ())
            if _has_table(spec, kind):
                faults += problems_of(_inner(spec, kind), kind.inside, (), within=kind.key)
            if not faults and not _has_variables(spec, kind):
                faults += _unusable(spec, kind)
        return faults

    def inline_files(self, spec: CheckSpec) -> CheckSpec:
        """Return the check with what it names in files put into it; raises CriteriaError."""
        if "json_schema" not in spec.params:
            return spec
        from pytest_reflex.checks.structure.data.json_schema import inline_schema

        return inline_schema(spec)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        kind, params = resolve_params(spec, variables)
        judge = _make_judge(spec, kind, {**params, "expected": spec.expected})
        patterns = file_globs(params)
        each, negative = params["each"], kind.forbids(params)

        def run(artifact: Artifact, context: CheckContext) -> CheckResult:
            if params.get("across"):
                return as_one(
                    artifact,
                    patterns,
                    lambda chosen: _evaluate(partial(judge, artifact, chosen), artifact, context),
                )
            return for_each_file(
                artifact,
                patterns,
                lambda file: _evaluate(partial(judge, file), file, context),
                each=each,
                negative=negative,
            )

        return CompiledCheck(
            spec,
            run,
            describe=lambda: _describe(spec.params),
            is_pattern="matches" in spec.params,
            preview=lambda rule, judge: _preview(spec, kind, params),
            forbids=negative,
        )


def _describe(params: Mapping[str, Any]) -> str:
    return "the structure has " + ", ".join(f"{k} {plainly(v)}" for k, v in params.items())


def _preview(spec: CheckSpec, kind: StructureKind, params: Mapping[str, Any]) -> dict[str, Any]:
    from pytest_reflex.checks.preview import describe_search

    found: dict[str, Any] = {"engine": f"structure ({kind.key})", "options": params}
    if isinstance(matches := params.get("matches"), str):
        found["matches"] = describe_search(
            compile_pattern(matches, key="matches", place=spec.place)
        )
    return found


def form_of(key: str) -> dict[str, ParameterType]:
    """Return the parameters of a check that has a key of KINDS, that key first."""
    kind = kind_of(key)
    own = replace(kind.value or _table_of(kind), inside=kind.inside, default=REQUIRED)
    return {key: own, **COMMON, **kind.beside}


def resolve_params(
    spec: CheckSpec, variables: Mapping[str, Any]
) -> tuple[StructureKind, dict[str, Any]]:
    """Return the kind that a check names, and the parameters that count; raises CriteriaError.

    The keys of a table stand beside those of the check.
    """
    kind, faults = _choose_kind(spec)
    if kind is None:
        raise CriteriaError(faults)
    params = {"each": False, **settle(_outer(spec, kind), _outer_kinds(kind), variables, ())}
    if _has_table(spec, kind):
        params |= settle(_inner(spec, kind), kind.inside, variables, (), within=kind.key)
    return kind, params


def _evaluate(
    judge: Callable[[CheckContext], Report], artifact: Artifact, context: CheckContext
) -> CheckResult:
    try:
        return result_of(judge(context), artifact)
    except (ArtifactError, SearchError) as error:
        return unread(error, artifact)


def _make_judge(
    spec: CheckSpec, kind: StructureKind, params: Mapping[str, Any]
) -> Callable[..., Report]:
    """Return the judge of a file; with `across`, that of all the files together."""
    try:
        if not params.get("across") or kind.make_together is None:
            return kind.make(params)
        if params.get("each"):
            raise ParameterError("each", "each cannot be combined with across: true")
        return kind.make_together(params)
    except ValueError as error:
        message = f"{kind.key}: {error}"
        key = error.key if isinstance(error, ParameterError) else kind.key
        path = (kind.key, key) if key in kind.inside else (key,)
        problem = Problem(message=message, place=spec.place, path=path)
    except CriteriaError as error:
        raise CriteriaError(_locate(each, spec, kind) for each in error.problems) from None
    raise CriteriaError([problem])


def _locate(problem: Problem, spec: CheckSpec, kind: StructureKind) -> Problem:
    """Return a problem at the check; one of a key in the table names the table too."""
    inside = bool(problem.path) and problem.path[0] in kind.inside
    path = (kind.key, *problem.path) if inside or not problem.path else problem.path
    message = f"{kind.key}.{problem.message}" if inside else problem.message
    return replace(problem, message=message, place=problem.place or spec.place, path=path)


def _unusable(spec: CheckSpec, kind: StructureKind) -> Iterable[Problem]:
    """Return what only making the judge brings to light: a bad path, a bad pattern."""
    table = spec.params[kind.key] if _has_table(spec, kind) else {}
    try:
        _make_judge(spec, kind, {**_outer(spec, kind).params, **table})
    except CriteriaError as error:
        return error.problems
    return ()


def _has_variables(spec: CheckSpec, kind: StructureKind) -> bool:
    inner = spec.params[kind.key]
    values = [*spec.params.values(), *(inner.values() if isinstance(inner, Mapping) else ())]
    return any(variable_name(value) for value in values)


def _choose_kind(spec: CheckSpec) -> tuple[StructureKind | None, list[Problem]]:
    """Return the one kind that the check names, or what is wrong with its choice."""
    named = [key for key in spec.params if key in KINDS]
    if len(named) == 1:
        return kind_of(named[0]), []
    if named:
        message = f"a check of type structure has one of its keys, not both {' and '.join(named)}"
        hint = "make a list of two checks of them"
        return None, [Problem(message=message, place=spec.place, hint=hint, path=(named[0],))]
    known = {*COMMON, *(key for kind in map(kind_of, KINDS) for key in kind.beside)}
    strange = [str(key) for key in spec.params if key not in known]
    hint = _suggest(strange[0], spec.params) if strange else "one of " + ", ".join(KINDS)
    message = f"a check of type structure has none of its keys{_format_keys(strange)}"
    path = (strange[0],) if strange else ()
    return None, [Problem(message=message, place=spec.place, hint=hint, path=path)]


def _suggest(word: str, params: Mapping[str, Any]) -> str:
    """Return a hint for a key that there is not; with its table, where the value shows which."""
    near = nearest_word(word, KINDS)
    written = _as_table(kind_of(near), params[word]) if near else ""
    return suggest(written) or did_you_mean(word, KINDS)


def _as_table(kind: StructureKind, value: Any) -> str:
    """Return the table that a bare value may have been meant as; nothing if none or many fit."""
    if not isinstance(value, str | list | int) or isinstance(value, bool):
        return ""
    fitting = [key for key, inner in kind.inside.items() if inner.fits(value)]
    return as_written({kind.key: {fitting[0]: value}})[1:-1] if len(fitting) == 1 else ""


def _format_keys(strange: list[str]) -> str:
    return f", but {', '.join(repr(key) for key in strange[:3])}" if strange else ""


def _has_table(spec: CheckSpec, kind: StructureKind) -> bool:
    """Return whether the check has a table of keys that are ours."""
    value = spec.params[kind.key]
    return isinstance(value, Mapping) and not kind.whole and not variable_name(value)


def _outer(spec: CheckSpec, kind: StructureKind) -> CheckSpec:
    """Return the check without the table of its kind."""
    table = _has_table(spec, kind)
    params = {k: v for k, v in spec.params.items() if not (table and k == kind.key)}
    return replace(spec, params=params, type=f"structure ({kind.key})")


def _inner(spec: CheckSpec, kind: StructureKind) -> CheckSpec:
    """Return the table of the kind as if it were a check."""
    return replace(spec, params=spec.params[kind.key], type=f"structure ({kind.key})")


def _outer_kinds(kind: StructureKind) -> dict[str, ParameterType]:
    own = kind.value or _table_of(kind)
    return {**COMMON, **kind.beside, kind.key: own}


def _table_of(kind: StructureKind) -> ParameterType:
    def instead(value: Any) -> str:
        written = _as_table(kind, value)
        return f"write {written}" if written else ""

    return ParameterType(f"a table with keys of {', '.join(kind.inside)}", _never, instead=instead)


def _never(value: Any) -> bool:
    return False
