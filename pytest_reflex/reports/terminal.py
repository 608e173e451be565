"""The verdict for people at a terminal: evaluations, the overview of several, the gate."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pytest_reflex.model.enums import Outcome, Severity
from pytest_reflex.model.pattern_leads import patterns_of
from pytest_reflex.model.plain import escape_control, list_first, one_line, pluralize
from pytest_reflex.model.results import LEFT_CHILDREN, Evaluation, RuleResult
from pytest_reflex.reports.evaluation import LABEL as LEFT_OUT
from pytest_reflex.reports.evaluation import (
    distance,
    finding,
    format_votes,
    next_step,
    not_installed_lines,
    out_of_score,
    remedy,
    rule_line,
    skipped_lines,
    why_not,
)
from pytest_reflex.reports.lines import text_table
from pytest_reflex.verdict.formatting import arithmetic, format_score, plain, same_causes
from pytest_reflex.verdict.gate import GateStatus, JudgedTarget, SessionVerdict

WIDTH = 80
WIDEST = 100
INDENT = 12
LISTED = 25  # rows of a kind; the rest is counted, and stands in the JSON document

Style = Callable[[str, str], str]

_MESSAGE = 400
_EVIDENCE = 20  # lines that are shown of one check
_SLOW = 1.0  # seconds after which the time of a check is reported
_OTHERS = 4  # failed checks of a rule that are listed beside the first
_TIED = "\xa0"  # a blank at which no line ends
_CODES = {"good": "32;1", "bad": "31;1", "mild": "33;1", "strong": "1", "faint": "2"}
_MARKUP = {
    "good": {"green": True, "bold": True},
    "bad": {"red": True, "bold": True},
    "mild": {"yellow": True, "bold": True},
    "strong": {"bold": True},
    "faint": {"light": True},
}
_TONES = {GateStatus.PASSED: "good", GateStatus.PARTIAL: "mild"}  # others are "bad"


def no_style(text: str, tone: str) -> str:
    return text


def ansi_style(text: str, tone: str) -> str:
    return f"\x1b[{_CODES[tone]}m{text}\x1b[0m"


def evaluation_text(
    evaluation: Evaluation,
    *,
    colour: bool = False,
    width: int = WIDTH,
    verbose: bool = False,
    alone: bool = True,
) -> str:
    """Return one evaluation as text without a final newline; `verbose` shows every rule.

    What is not installed is reported where it stands `alone`.
    """
    style = ansi_style if colour else no_style
    judged = JudgedTarget(evaluation=evaluation)
    lines = evaluation_lines(judged, width=width, style=style, verbose=verbose)
    if alone:
        page = Page(width, style, LISTED)
        page.add_not_installed([evaluation])
        lines += page.lines
    return "\n".join(lines)


def evaluation_lines(
    judged: JudgedTarget,
    *,
    width: int = WIDTH,
    style: Style = no_style,
    listed: int = LISTED,
    next_step: str = "",
    verbose: bool = False,
    details: bool = False,
) -> list[str]:
    """Return one evaluation as lines: figures, what did not pass, distance to success.

    With `verbose` no row is missing: rules that passed and evidence are there too. With `details`,
    patterns are there, and all that was not read of a folder, not only what had to be.
    """
    limit = 10**9 if verbose else listed
    page = Page(width, style, limit, evidence=verbose)
    evaluation = judged.evaluation
    criteria = f"{evaluation.criteria} version {evaluation.version}, phase {evaluation.level.value}"
    page.add("ARTIFACT", f"{evaluation.artifact} (sha256 {evaluation.artifact_hash})")
    page.add("CRITERIA", criteria)
    tone = _TONES.get(judged.status, "bad")
    page.add(judged.status.value.upper(), format_figures(evaluation), tone=tone)
    if evaluation.judged:
        page.add("JUDGED", format_votes(evaluation))
    if evaluation.unsound:
        page.add("UNSOUND", evaluation.unsound, tone="bad")
    for text in skipped_lines(evaluation.left_out, listed=limit, verbose=verbose or details):
        page.add(LEFT_OUT, text, tone="mild")
    for label, tone, rows in _groups(evaluation):
        page.rules(label, rows, tone, patterns=verbose or details)
    page.add_unmeasured(evaluation.results)
    for label, text in out_of_score(evaluation, listed=limit, patterns=verbose or details):
        page.add(label, text, tone="faint")
    page.add_left_children(evaluation.results)
    if verbose:
        page.add_passed(evaluation.results)
    if not evaluation.passed:
        page.add("TO PASS", distance(evaluation))
    if next_step:
        page.add("NEXT", next_step)
    return page.lines


def format_figures(evaluation: Evaluation) -> str:
    """Return score, arithmetic and threshold: "score 0.636 (7 of 11 points), threshold 0.9"."""
    score, points = format_score(evaluation.score), arithmetic(evaluation)
    return f"score {score} ({points} points), threshold {plain(evaluation.threshold)}"


def _groups(evaluation: Evaluation) -> Iterator[tuple[str, str, list[RuleResult]]]:
    labels = {
        Severity.FAIL: ("FAIL", "bad"),
        Severity.WARN: ("WARNING", "mild"),
        Severity.INFO: ("INFO", "faint"),
    }
    judged = (Outcome.FAIL, Outcome.ERROR)
    for severity, (label, tone) in labels.items():
        rows = [r for r in evaluation.results if r.outcome in judged]
        yield label, tone, [r for r in rows if r.rule.severity is severity]


class Page:
    """Lines with a label in the left margin; nothing foreign ever starts a line."""

    def __init__(self, width: int, style: Style, listed: int, *, evidence: bool = False) -> None:
        self.lines: list[str] = []
        self._room = max(min(width, WIDEST) - INDENT, 20)
        self._style, self._listed, self._evidence = style, listed, evidence

    def add(self, label: str, text: str, *, tone: str = "strong") -> None:
        gap = " " * (len(label) >= INDENT)
        text = escape_control(text)
        lines = textwrap.wrap(text, self._room, initial_indent=gap, break_on_hyphens=False)
        first, *more = (line.replace(_TIED, " ") for line in lines or [""])
        margin = " " * (INDENT - len(label))
        self.lines.append((self._style(label, tone) if label else "") + margin + first)
        self.lines += [" " * INDENT + line for line in more]

    def rules(
        self, label: str, rows: Sequence[RuleResult], tone: str, *, patterns: bool = False
    ) -> None:
        for row in rows[: self._listed]:
            self.add(label, rule_line(row), tone=tone)
            bad = [c for c in row.checks if c.outcome is not Outcome.PASS and not c.same_cause]
            others = [text for text in dict.fromkeys(map(finding, bad)) if text != finding(bad[0])]
            for text in others[:_OTHERS]:
                self.add("", f"also: {text}")
            if len(others) > _OTHERS:
                self.add("", f"and {len(others) - _OTHERS} more checks of this rule")
            if advice := remedy(row):
                self.add("", advice)
            if patterns:
                self._show_patterns(row)
            if self._evidence:
                self._show(row)
        if len(rows) > self._listed:
            self.add(label, f"and {len(rows) - self._listed} more", tone=tone)

    def add_not_installed(self, evaluations: Iterable[Evaluation]) -> None:
        for line in not_installed_lines(evaluations):
            self.add("NOTE", line, tone="mild")

    def add_left_children(self, results: Sequence[RuleResult]) -> None:
        """Report whose commands left processes running, whatever the verdict."""
        for row in results:
            notes = (note for check in row.checks for note in check.notes)
            for note in dict.fromkeys(n for n in notes if n.startswith(LEFT_CHILDREN)):
                self.add("NOTE", f"{row.rule.id}: {note}", tone="mild")

    def add_passed(self, results: Sequence[RuleResult]) -> None:
        """List the rules that passed, with what their checks found."""
        for row in results:
            if row.passed:
                message = row.message or row.rule.description
                self.add("PASS", f"{row.rule.id}: {one_line(message, _MESSAGE)}", tone="good")
                self._show_patterns(row)
                self._show(row)

    def _show_patterns(self, row: RuleResult) -> None:
        every = (pattern for check in row.checks for pattern in patterns_of(check))
        for pattern in dict.fromkeys(every):
            self.add("", f"pattern: {one_line(pattern, _MESSAGE)}")

    def _show(self, row: RuleResult) -> None:
        """Show what the checks of a rule found, line by line, and how long they took."""
        for check in row.checks:
            for line in check.evidence.splitlines()[:_EVIDENCE]:
                self.add("", line)
            if check.duration >= _SLOW:
                self.add("", f"took {check.duration:.1f} s")

    def add_unmeasured(self, results: Sequence[RuleResult]) -> None:
        """List rules that were not measured, those with the same reason together."""
        for line in same_causes(results):
            self.add("NOT MEASURED", line, tone="mild")
        reasons: dict[str, list[str]] = {}
        for row in results:
            if row.outcome is Outcome.NOT_MEASURED and not row.same_cause:
                reasons.setdefault(one_line(why_not(row), _MESSAGE), []).append(row.rule.id)
        for reason, ids in reasons.items():
            shown = list_first(ids, self._listed)
            self.add("NOT MEASURED", f"{reason}: {shown}", tone="mild")


def decision_lines(
    decision: SessionVerdict,
    *,
    width: int = WIDTH,
    style: Style = no_style,
    listed: int = LISTED,
    details: bool = False,
) -> list[str]:
    """Return a whole session: an overview of several, details of those with news, the gate."""
    lines: list[str] = []
    if len(decision.judged) > 1:
        lines += [*overview(decision.judged), ""]
    shown = [j for j in decision.judged if len(decision.judged) == 1 or _has_news(j, details)]
    for judged in shown[:listed]:
        lines += evaluation_lines(
            judged,
            width=width,
            style=style,
            listed=listed,
            next_step=next_step(judged, decision),
            details=details,
        )
        lines.append("")
    if len(shown) > listed:
        lines += [f"and {len(shown) - listed} more artifacts that did not pass or were warned", ""]
    page = Page(width, style, listed)
    for problem in decision.problems:
        page.add("ERROR", str(problem), tone="bad")
    for unread in decision.unread[:listed]:
        page.add("NOT RUN", unread, tone="bad")
    page.add_not_installed(judged.evaluation for judged in decision.judged)
    for notice in decision.notices:
        page.add("NOTE", notice)
    page.add("GATE", gate_sentence(decision), tone=_TONES.get(decision.gate.status, "bad"))
    return lines + page.lines


def _has_news(judged: JudgedTarget, details: bool) -> bool:
    one = judged.evaluation
    unread = any(details or each.is_unchecked for each in one.left_out)
    return any(row.unmet for row in one.results) or bool(judged.reason) or unread


def overview(judged: Sequence[JudgedTarget]) -> list[str]:
    """Return a table with one row per evaluation; nothing in it is taken for a number.

    Foreign text comes last: a line that begins with it could be a command to a build system.
    """
    rows = [
        (
            j.status.value.upper(),
            format_score(j.evaluation.score),
            plain(j.evaluation.threshold),
            j.evaluation.level.value,
            one_line(j.evaluation.criteria, 20),
            one_line(j.evaluation.artifact, 40),
        )
        for j in judged
    ]
    headers = ("gate", "score", "threshold", "phase", "criteria", "artifact")
    table = text_table(headers, rows)
    return [line.rstrip() for line in table.splitlines()]


def gate_sentence(decision: SessionVerdict) -> str:
    """Return the decision in one sentence, with the exit status that it leads to."""
    gate = decision.gate
    word = gate.status.value.upper()
    reasons = list(gate.reasons)
    if decision.problems:
        reasons = [f"{pluralize(len(decision.problems), 'problem')} in criteria or marks"]
    elif len(reasons) > 3:
        reasons = [*reasons[:3], f"and {len(reasons) - 3} more"]
    tail = f": {'; '.join(reasons)}" if reasons else ""
    status = f"exit{_TIED}status{_TIED}{decision.exit_status}"
    enforced = ", not enforced" if gate.status is GateStatus.PARTIAL else ""
    return f"{word}{enforced}{tail} ({status})"


def brief_lines(decision: SessionVerdict, style: Style = no_style) -> list[str]:
    """Return one line per evaluation or problem: what -q shows."""
    problems = [
        f"{style('reflex ERROR', 'bad')} {one_line(str(problem), _MESSAGE)}"
        for problem in decision.problems
    ]
    unread = [f"{style('reflex INCOMPLETE', 'bad')} {one_line(one)}" for one in decision.unread]
    return problems + unread + [_brief(judged, style) for judged in decision.judged]


def _brief(judged: JudgedTarget, style: Style) -> str:
    one = judged.evaluation
    word = style(f"reflex {judged.status.value.upper()}", _TONES.get(judged.status, "bad"))
    reason = judged.reason.removeprefix(f"{one.artifact}: ")
    criteria = f"({one_line(one.criteria)}, {one.level.value})"
    score = f"{format_score(one.score)}/{plain(one.threshold)}"
    text = f"{word} {one_line(one.artifact)} {criteria}: {score}"
    if one.judged:
        text += f"; judged: {one_line(format_votes(one), _MESSAGE)}"
    return f"{text}; {one_line(reason, _MESSAGE)}" if reason else text


def show(reporter: Any, decision: SessionVerdict) -> None:
    """Write the section of a pytest session; with -q one line per evaluation."""
    writer = reporter.config.get_terminal_writer()

    def style(text: str, tone: str) -> str:
        return str(writer.markup(text, **_MARKUP[tone]))

    verbosity = reporter.config.get_verbosity()
    reporter.ensure_newline()
    if verbosity < 0:
        lines = brief_lines(decision, style)
    else:
        reporter.section("reflex", **_MARKUP[_TONES.get(decision.gate.status, "bad")])
        listed = LISTED if verbosity == 0 else 10**9
        verbose = verbosity > 0
        lines = decision_lines(
            decision, width=writer.fullwidth, style=style, listed=listed, details=verbose
        )
    for line in lines:
        reporter.write_line(line)
