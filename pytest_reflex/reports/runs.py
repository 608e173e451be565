"""Runs of all drivers for people: a table, one run, an event in a line, steps of a flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.plain import escape_control, one_line, pluralize
from pytest_reflex.model.run import Spend
from pytest_reflex.reports.lines import tab_lines, text_table
from pytest_reflex.reports.run_lines import budget_text, refusal_of, spend_text
from pytest_reflex.verdict.formatting import format_duration, format_score

HEADERS = ("driver", "name", "status", "started", "duration", "iteration", "cost", "score", "about")
_LONGEST = 2_000
_LEAST = 24

Row = tuple[str, str]


def table(runs: Sequence[Mapping[str, Any]], width: int) -> str:
    """Return a table of runs as `RunRow.to_json` has them.

    What they are about is cut to what is left of `width`; what is wrong with one is not.
    """
    rows = [_row(one) for one in runs]
    taken = sum(max(map(len, column)) + 2 for column in zip(HEADERS[:-1], *rows, strict=True))
    abouts = [_about(one, max(width - taken, _LEAST)) for one in runs]
    if any(abouts):
        rows = [(*row, about) for row, about in zip(rows, abouts, strict=True)]
    headers = HEADERS if any(abouts) else HEADERS[:-1]
    return text_table(headers, rows)


def plain_lines(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each run, its nine fields separated by tabs; what is unknown is empty."""
    return tab_lines((*_row(one), _about(one, _LONGEST)) for one in runs)


def status_text(
    noun: str,
    run: Mapping[str, Any],
    *,
    first: Iterable[Row] = (),
    middle: Iterable[Row] = (),
    last: Iterable[Row] = (),
    time: str = "",
    spend: Spend | None = None,
    budget: Mapping[str, float] | None = None,
    feedback: int = 0,
) -> str:
    """Return where one run stands, as `RunRow.to_json` has it; rows without a text are left out.

    `noun` is what the driver calls a run, the other rows are its own; `feedback` counts what people
    said that no iteration has been given yet, `time` is said instead of the duration.
    """
    spent = spend or Spend()
    waiting = f"{pluralize(feedback, 'message')} for the next iteration"
    rows: list[Row] = [
        (noun, f"{run['name']} ({run['status']})"),
        *first,
        ("Iteration", _iteration(run)),
        *middle,
        ("Started", _moment(run["started_at"])),
        ("Time", time or _duration(run)),
        ("Spent", spend_text(spent) if spent.calls else ""),
        ("Budget", budget_text(budget or {}, spent)),
        ("Feedback", waiting if feedback else ""),
        *last,
    ]
    return "\n".join(f"{label}: {escape_control(text)}" for label, text in rows if text)


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    score = one["score_exact"]
    return (
        one["driver"],
        one_line(one["name"]),
        one["status"],
        _moment(one["started_at"]),
        _duration(one),
        _iteration(one),
        _cost(one["spend"]),
        format_score(Fraction(score)) if score else "",
    )


def _about(one: Mapping[str, Any], room: int) -> str:
    if "problem" in one:
        return one_line(one["problem"], _LONGEST)
    return one_line(" ".join(one["about"].split()), room)


def _duration(one: Mapping[str, Any]) -> str:
    return "" if one["seconds"] is None else format_duration(one["seconds"])


def _iteration(one: Mapping[str, Any]) -> str:
    if one["iteration"] is None:
        return ""
    limit = one["max_iterations"]
    return f"{one['iteration']}/{limit}" if limit else str(one["iteration"])


def _moment(text: str | None) -> str:
    """Return a time to the second, in UTC; one that cannot be read as it is."""
    try:
        found = datetime.fromisoformat(text or "")
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        return f"{found.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, TypeError):
        return one_line(str(text or ""))


def _cost(spend: Mapping[str, Any] | None) -> str:
    """Return what the agents cost; nothing where no call was paid for."""
    if spend is None or not spend["calls"]:
        return ""
    if spend["usd"] is None:
        return "unknown"
    at_least = "at least " if spend["unknown_cost_calls"] else ""
    return f"{at_least}${spend['usd']:.4f}"


Payload = Mapping[str, Any]
_ROOM = 400


def event_line(event: Event) -> str:
    """Return number, time, place in the loop, kind and what the event says, as one line."""
    place = f"{event.iteration}{event.level.value}"
    try:
        says = _SAYS[event.kind](event.payload)
    except (LookupError, TypeError, ValueError, AttributeError):  # another program wrote it
        says = ""
    head = f"{event.seq:>4}  {event.ts}  {place:<3} {event.step.value:<15} {event.kind.value}"
    return escape_control(f"{head}: {one_line(says, _ROOM)}" if says else head)


def _start_text(payload: Payload) -> str:
    limits, criteria = payload["limits"], payload["criteria"]
    return f"{criteria['name']}, at most {limits['max_iterations']} iterations"


def _artifact(payload: Payload) -> str:
    if "after" not in payload:
        return f"by {payload['by']}"
    return f"by {payload['by']}, {payload['after'][:8]}, {payload.get('size', '?')} bytes"


def _evaluation(payload: Payload) -> str:
    evaluation = payload.get("evaluation")
    if evaluation is None:  # another program has these two
        verdict = "passed" if payload["passed"] else "not passed"
        return f"{format_score(Fraction(str(payload['score'])))} {verdict}"
    failed = ", ".join(row["id"] for row in evaluation["failed"])
    verdict = "passed" if evaluation["passed"] else "not passed"
    score = f"{format_score(Fraction(str(evaluation['score_exact'])))} {verdict}"
    proofs = payload.get("proofs", ())
    vacuous = [one["rule"] for one in proofs if one["proof"] == "vacuous"]
    unproved = [one["rule"] for one in proofs if one["proof"] not in ("vacuous", "proved")]
    cannot = f"; cannot fail: {', '.join(vacuous)}" if vacuous else ""
    cannot += f"; not proved: {', '.join(unproved)}" if unproved else ""
    return (f"{score}; failed: {failed}" if failed else score) + cannot


def _checks(payload: Payload) -> str:
    number = len(payload["checks"])
    return "1 check" if number == 1 else f"{number} checks"


def _end_text(payload: Payload) -> str:
    detail = f" ({payload['detail']})" if payload.get("detail") else ""
    back = payload.get("restored_from")
    restored = f"; the artifact of iteration {back['iteration']} was restored" if back else ""
    return f"{payload['reason']}{detail}{restored}"


_SAYS: dict[EventKind, Callable[[Payload], str]] = {
    EventKind.RUN_STARTED: _start_text,
    EventKind.PLAN_CREATED: lambda payload: "; ".join(payload["plan"]),
    EventKind.ARTIFACT_CREATED: _artifact,
    EventKind.CHECKS_PREPARED: _checks,
    EventKind.EVALUATION_DONE: _evaluation,
    EventKind.CRITIQUE_DONE: lambda payload: ", ".join(i["rule_id"] for i in payload["issues"]),
    EventKind.REFINEMENT_DONE: _artifact,
    EventKind.PHASE_SWITCHED: lambda payload: f"{payload['from']} to {payload['to']}",
    EventKind.ITERATION_ADVANCED: lambda payload: f"to {payload['iteration']}",
    EventKind.PHASE_ERROR: lambda payload: f"{payload['step']}: {refusal_of(payload)}",
    EventKind.STOPPED: _end_text,
    EventKind.FAILED: _end_text,
    EventKind.FEEDBACK_GIVEN: lambda payload: str(payload["text"]),
    EventKind.VOTE_CAST: lambda payload: (
        f"{payload['rule_id']}, vote {payload['number']}: {payload['verdict']} ({payload['agent']})"
    ),
    EventKind.CHANGES_ACCEPTED: lambda payload: ", ".join(payload["paths"]),
    EventKind.RUN_ADOPTED: lambda payload: f"begun by another program; {_start_text(payload)}",
    EventKind.RUN_EXTENDED: lambda payload: (
        f"after {payload['reason']}, at most {payload['limits']['max_iterations']} iterations"
    ),
}


_SEPARATOR = " > "


def line_of(event: Any) -> str:
    """Return what is said of an event, empty for nothing: boundaries, and how a run begins."""
    fields = event.fields
    if event.kind == "started":
        return f"{'Resuming' if fields.get('resumed') else 'Starting'} {event.run}"
    if "commit" not in fields:
        return ""
    nodes = fields["node"].replace("/", _SEPARATOR)
    sensors = ", ".join(f"{name} {state}" for name, state in fields["sensors"].items())
    text = f"[{fields['label']}] {nodes}: {fields['action']}"
    return one_line(f"{text} ({sensors})" if sensors else text, 500)


def where_lines(run: str, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a run stands: its id, active node, stack and branch."""
    frames = data["position"]["frames"]
    stack = [frame["path"] for frame in frames]
    yield f"Run: {run}"
    if stack:
        yield f"Active node: {stack[-1]}"
        yield f"Stack: {_SEPARATOR.join(path.rpartition('/')[2] for path in stack)}"
    if data.get("branch"):
        yield f"Branch: {data['branch']} (from {data['base']})"
    yield f"Task: {one_line(data['task'], 200)}"


def final_lines(record: Any, commits: int, here: str) -> Iterator[str]:
    """Yield the report at the end of a sitting: what it came to, its commits, and what is next.

    `here` is the branch that is checked out: a run that can go on elsewhere is not taken over.
    """
    data = record.data
    goes_on = record.can_go_on and data["position"]["frames"]
    branch = data.get("branch", "")
    is_away = branch and goes_on and commits and here != branch
    yield ""
    yield f"{'Stopped' if record.reason else 'Interrupted'}: {record.reason or record.status}" + (
        f" ({escape_control(record.detail)})" if record.detail else ""
    )
    if record.spend.calls:
        yield f"Spent: {spend_text(record.spend)}"
    if branch:
        base, number = data["base"], pluralize(commits, "commit")
        yield f"Branch: {branch} (from {base}, {number})"
        if carried := data["position"].get("carried"):
            yield f"Not committed: {one_line(', '.join(carried), 500)} (a hook of git refuses)"
        if commits and not is_away:
            yield f"Look at it: git diff {base}...{branch}"
            yield f"Take it over: git switch {base} && git merge {branch} (or git rebase {branch})"
            yield f"Discard it: git switch {base} && git branch -D {branch}"
    if goes_on:
        back = f"git switch {branch} && " if is_away else ""
        yield f"Go on: {back}pytest-reflex flow resume {record.run}"


def tree_lines(nodes: Sequence[tuple[str, int]], data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the nodes of a flow, each with iteration, target and sensors, indented by depth.

    `nodes` are paths with their `max_iterations`.
    """
    frames = {frame["path"]: frame for frame in data["position"]["frames"]}
    results = data["position"]["results"]
    for path, most in nodes:
        indent = "  " * path.count("/")
        name = path.rpartition("/")[2]
        if frame := frames.get(path):
            number = max(frame["iteration"], 0)
            text = f"iteration {min(number, most)}/{most}, {frame['step']}"
            yield f"{indent}{name}: {text}{_sensors(frame['sensors'])}"
        elif result := results.get(path):
            met = "target met" if result["target_met"] else result["status"]
            yield f"{indent}{name}: {met} after {result['iterations']}/{most}"
        else:
            yield f"{indent}{name}: not entered yet (0/{most})"


def _sensors(readings: Mapping[str, Mapping[str, str]]) -> str:
    texts = [f"{name} {one['state']}{_in_brackets(one['value'])}" for name, one in readings.items()]
    return f" - {', '.join(texts)}" if texts else ""


def _in_brackets(text: str) -> str:
    return f" ({one_line(text, 40)})" if text else ""


def commit_lines(boundaries: Iterable[Any]) -> Iterator[str]:
    """Yield a run's boundaries, indented by depth: label, action and sensors."""
    return map(_commit_line, boundaries)


def _commit_line(one: Any) -> str:
    states = ", ".join(f"{name} {state}" for name, state in one.sensors.items())
    mark = {"complete": "✔", "running": "·", "open": "▸"}.get(one.status, "✘")
    text = f"{'  ' * one.level}{mark} {one.label}  {one.action}"
    return f"{text}  [{states}]" if states else text


def run_lines(boundaries: Iterable[Any]) -> Iterator[str]:
    """Yield a run as a tree: each node with its setpoint, its iterations, and what they took."""
    for one in boundaries:
        if one.setpoint:
            yield f"{'  ' * one.level}{one.path.rpartition('/')[2]}: {escape_control(one.setpoint)}"
        used = ""
        if one.spent:
            used = spend_text(one.spent) if one.spent.calls else f"{one.spent.seconds:.1f} s"
        yield f"{_commit_line(one)}  {used}".rstrip()
