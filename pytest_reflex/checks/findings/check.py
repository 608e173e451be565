"""Checks of type `findings`: another tool is run, and what it reports is counted."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_reflex.checks.command import (
    NOT_FOUND,
    Command,
    CommandCheck,
    check_command,
    describe,
    last_lines,
    output_globs,
    preview_options,
    remarks,
    run_command,
    settle_command,
    shell_problems,
    stop_message,
)
from pytest_reflex.checks.finding import MOST_FINDINGS
from pytest_reflex.checks.findings.parameters import FORMS, KINDS, TELLING, find_typo, reader_of
from pytest_reflex.checks.findings.report import (
    ALL,
    CountedFindings,
    FindingLimits,
    NothingRunError,
    Reader,
    ToolFinding,
    UnreadableReportError,
)
from pytest_reflex.checks.options import problems_of
from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.errors import ArtifactError, Place, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult, PlacedFinding
from pytest_reflex.model.rules import CheckSpec, variable_name
from pytest_reflex.model.targets import CheckContext, CompiledCheck, Decides, plainly
from pytest_reflex.process.run import Finished
from pytest_reflex.process.spawn import SpawnError

LONGEST = 10_000_000
SHOWN = 5


_NEEDED = ("command", "format")


class FindingsCheck(CommandCheck):
    """Run a tool, read its report, and count what it found."""

    name = "findings"
    parameters = KINDS

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield from _rename_keys(problems_of(spec, KINDS), spec)
        yield from shell_problems(spec, spec.params)
        if not any(variable_name(value) for value in spec.params.values()):
            yield from _contradictions(spec, spec.params)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        params = resolve_params(spec, variables)
        command = self.command(params)
        most = params["max_findings"]
        run = _Tool(
            command=command,
            environment=self.environment,
            timeout=float(params["timeout"]),
            read=_reader(params),
            stream=params.get("stream", ""),
            report=params.get("report", ""),
            silent=params["silent"],
            allow_empty=params["allow_empty"],
            ran=tuple(params["ran"]),
            limits=FindingLimits(
                most=most if isinstance(most, Mapping) else {ALL: most},
                levels=params["levels"],
                rules=params["rules"],
            ),
            install=params.get("install", ""),
        )
        return CompiledCheck(
            spec,
            run,
            commands=(check_command(command, params, Decides.REPORT),),
            writes=output_globs(params),
            describe=lambda: _describe(spec.params),
            preview=lambda rule, judge: preview_options(params),
        )


def resolve_params(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that count, defaults included; raises CriteriaError."""
    params = settle_command(spec, KINDS, variables, _contradictions)
    defaults = {
        "silent": params["format"] == "jsonl",
        "allow_empty": False,
        "ran": [0, 1],
        "max_findings": 0,
        "levels": {},
        "rules": {},
    }
    place = {} if "report" in params else {"stream": "stdout"}
    return {**defaults, **place, **params}


def _describe(params: Mapping[str, Any]) -> str:
    text = f"`{describe(params)}` reports as {plainly(params.get('format'))}"
    return f"{text} at most {plainly(params.get('max_findings', 0))} findings"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tool:
    command: Command
    environment: Mapping[str, str]
    timeout: float
    read: Reader
    stream: str
    report: str
    silent: bool
    allow_empty: bool
    ran: tuple[int, ...]
    limits: FindingLimits
    install: str

    def __call__(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        path = Path(context.root, self.report) if self.report else None
        before = _stamp(path)
        try:
            finished = run_command(
                self.command, self.environment, self.timeout, artifact, context, LONGEST
            )
        except SpawnError as error:
            return CheckResult(outcome=Outcome.ERROR, message=f"{error}{self._remedy()}")
        try:
            findings = self._findings(finished, path, before)
        except (UnreadableReportError, ArtifactError) as error:
            return CheckResult(
                outcome=Outcome.ERROR,
                message=str(error),
                evidence=last_lines(finished),
                notes=tuple(remarks(finished)),
            )
        here = [_relativize(context.root, artifact, finding) for finding in findings]
        return self._verdict(self.limits.count(here), artifact)

    def _findings(
        self, finished: Finished, path: Path | None, before: tuple[int, ...] | None
    ) -> list[ToolFinding]:
        if why := stop_message(finished, self.command, self.timeout):
            raise UnreadableReportError(why)
        code = finished.returncode
        if code is None or code not in self.ran:
            text = self.command.problem(code) or f"exit status {code}: it did not come to its end"
            remedy = self._remedy() if code == NOT_FOUND else ""
            raise UnreadableReportError(f"{text} ({self.command.text}){remedy}")
        data = self._read_report(finished, path, before)
        findings = [] if self.silent and not data.strip() else self._read(data)
        if code and not findings:
            message = f"exit status {code}, but it reports nothing ({self.command.text})"
            raise UnreadableReportError(message)
        return findings

    def _read(self, data: bytes) -> list[ToolFinding]:
        try:
            return self.read(data)
        except NothingRunError:
            if self.allow_empty:
                return []
            raise

    def _read_report(
        self, finished: Finished, path: Path | None, before: tuple[int, ...] | None
    ) -> bytes:
        """Return the report, which this very run has written."""
        if path is not None:
            after = _stamp(path)
            if after is None or after == before:
                raise UnreadableReportError(
                    f"it did not write its report {one_line(self.report, 120)}"
                )
            return read_artifact(path, name=self.report, limit=LONGEST).data
        is_out = self.stream == "stdout"
        total = finished.stdout_total if is_out else finished.stderr_total
        if finished.stdout_truncated if is_out else finished.stderr_truncated:
            raise UnreadableReportError(
                f"its report is too long: {total:,} bytes, {LONGEST:,} are read"
            )
        return finished.stdout if is_out else finished.stderr

    def _verdict(self, counted: CountedFindings, artifact: Artifact) -> CheckResult:
        too_many = self.limits.find_excess(counted)
        location = _location(counted, artifact)
        lines = [f"{level}: {finding}" for level, finding in counted.findings]
        more = [f"... {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        message = counted.summary()
        if too_many:
            level, first = counted.findings[0]
            at_location = location and (location.line, location.column) == (
                first.line,
                first.column,
            )
            message += f", {too_many}; {level}: {first.words if at_location else first}"
        return CheckResult(
            outcome=Outcome.FAIL if too_many else Outcome.PASS,
            message=message,
            evidence="\n".join([*lines[:SHOWN], *more]),
            location=location,
            findings=_locate(counted, artifact) if too_many else (),
            more_findings=max(len(counted.findings) - MOST_FINDINGS, 0) if too_many else 0,
            notes=(f"{counted.ignored} more are ignored by the rule",) if counted.ignored else (),
        )

    def _remedy(self) -> str:
        return f"; to install it: {one_line(self.install, 120)}" if self.install else ""


def _relativize(root: Path, artifact: Artifact, finding: ToolFinding) -> ToolFinding:
    """Return the finding with the artifact's own name, or a path that no machine has alone."""
    if not finding.file:
        return finding
    full = os.path.join(root, finding.file)
    if not artifact.is_folder and os.path.realpath(full) == os.path.realpath(artifact.path):
        return replace(finding, file=artifact.name)
    relative = os.path.relpath(os.path.realpath(full), os.path.realpath(root))
    return finding if relative.startswith(os.pardir) else replace(finding, file=relative)


def _locate(counted: CountedFindings, artifact: Artifact) -> tuple[PlacedFinding, ...]:
    return tuple(
        PlacedFinding(
            message=f"{level}: {found.words}",
            location=Place(found.file or artifact.name, found.line, found.column)
            if found.file or found.line
            else None,
        )
        for level, found in counted.findings[:MOST_FINDINGS]
    )


def _location(counted: CountedFindings, artifact: Artifact) -> Place | None:
    """Return the place of the first finding in the artifact itself, if there is one."""
    here = (f for _, f in counted.findings if f.line and f.file == artifact.name)
    first = next(here, None)
    return Place(artifact.name, first.line, first.column) if first else None


def _stamp(path: Path | None) -> tuple[int, ...] | None:
    """Return what distinguishes one writing of a file from the next; None without a file."""
    try:
        status = os.stat(path) if path else None
    except (OSError, ValueError):
        return None
    if status is None or not stat.S_ISREG(status.st_mode):
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def _reader(params: Mapping[str, Any]) -> Reader:
    return reader_of(
        params["format"], params.get("fields"), params.get("items"), params.get("first", 1)
    )


def _rename_keys(problems: Iterable[Problem], spec: CheckSpec) -> Iterator[Problem]:
    """Yield the problems; one in a mapping names the key that is wrong."""
    for problem in problems:
        key = problem.path[0] if problem.path else ""
        typo = None if problem.of_key else find_typo(key, spec.params.get(key))
        yield replace(typo, place=problem.place) if typo else problem


def _contradictions(spec: CheckSpec, params: Mapping[str, Any]) -> Iterator[Problem]:
    if "report" in params and "stream" in params:
        message = "stream and report both say where the report is"
        yield Problem(message=message, place=spec.place, path=("stream",))
    if params.get("allow_empty") is True and params.get("format") in set(FORMS) - set(TELLING):
        message = f"allow_empty goes with format {', '.join(TELLING)}, not {params['format']}"
        yield Problem(message=message, place=spec.place, path=("allow_empty",))
    if not all(key in params and KINDS[key].fits(params[key]) for key in _NEEDED):
        return
    try:
        _reader(params)
    except (TypeError, AttributeError):
        return  # reported already
    except ValueError as error:
        yield Problem(message=str(error), place=spec.place)
