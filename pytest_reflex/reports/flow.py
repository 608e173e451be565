"""Runs of flows in words: a line for each boundary, the end, where one stands, and its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.reports.spending import spend_text

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
    told = f"[{fields['label']}] {nodes}: {fields['action']}"
    return one_line(f"{told} ({sensors})" if sensors else told, 500)


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
        f" ({visible(record.detail)})" if record.detail else ""
    )
    if record.spend.calls:
        yield f"Spent: {spend_text(record.spend)}"
    if branch:
        base, number = data["base"], f"{commits} commit{'' if commits == 1 else 's'}"
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
            told = f"iteration {min(number, most)}/{most}, {frame['step']}"
            yield f"{indent}{name}: {told}{_sensors(frame['sensors'])}"
        elif result := results.get(path):
            met = "target met" if result["target_met"] else result["status"]
            yield f"{indent}{name}: {met} after {result['iterations']}/{most}"
        else:
            yield f"{indent}{name}: not entered yet (0/{most})"


def _sensors(readings: Mapping[str, Mapping[str, str]]) -> str:
    told = [f"{name} {one['state']}{_in_brackets(one['value'])}" for name, one in readings.items()]
    return f" - {', '.join(told)}" if told else ""


def _in_brackets(text: str) -> str:
    return f" ({one_line(text, 40)})" if text else ""


def commit_lines(boundaries: Iterable[Any]) -> Iterator[str]:
    """Yield a run's boundaries, indented by depth: label, action and sensors."""
    return map(_commit_line, boundaries)


def _commit_line(one: Any) -> str:
    states = ", ".join(f"{name} {state}" for name, state in one.sensors.items())
    mark = {"complete": "✔", "running": "·", "open": "▸"}.get(one.status, "✘")
    told = f"{'  ' * one.level}{mark} {one.label}  {one.action}"
    return f"{told}  [{states}]" if states else told


def run_lines(boundaries: Iterable[Any]) -> Iterator[str]:
    """Yield a run as a tree: each node with its setpoint, its iterations, and what they took."""
    for one in boundaries:
        if one.setpoint:
            yield f"{'  ' * one.level}{one.path.rpartition('/')[2]}: {visible(one.setpoint)}"
        used = ""
        if one.spent:
            used = spend_text(one.spent) if one.spent.calls else f"{one.spent.seconds:.1f} s"
        yield f"{_commit_line(one)}  {used}".rstrip()
