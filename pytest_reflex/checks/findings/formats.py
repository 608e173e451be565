"""SARIF 2.1.0: results of runs, without those that are suppressed or say that all is well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from pytest_reflex.checks.reported.finding import MOST, ToolFinding, UnreadableError, utf8
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError

_NO_FINDING = ("pass", "notApplicable", "informational")


def read_sarif(data: bytes) -> list[ToolFinding]:
    """Return the findings of a SARIF log; raises UnreadableError where it is none, or says that
    the tool did not come to its end.
    """
    text = utf8(data)
    try:
        log = read_data(text, "json")[0].value
    except (DataSyntaxError, ArtifactError) as error:
        raise UnreadableError(f"the report is not JSON: {error}") from None
    if not isinstance(log, dict) or log.get("version") != "2.1.0":
        raise UnreadableError("the report is not a SARIF log of version 2.1.0")
    runs = log.get("runs")
    if not isinstance(runs, list) or not runs:
        raise UnreadableError("the SARIF log has no runs")
    found: list[ToolFinding] = []
    for run in runs:
        try:
            found += _findings(_map(run, "a run"))
        except (AttributeError, TypeError):
            raise UnreadableError("the report is not built as a SARIF log is") from None
        if len(found) > MOST:
            raise UnreadableError(f"the report has more than {MOST:,} findings")
    return found


def _findings(run: dict[str, Any]) -> Iterator[ToolFinding]:
    for invocation in run.get("invocations") or ():
        if _map(invocation, "an invocation").get("executionSuccessful") is False:
            raise UnreadableError("the tool says in its SARIF log that it did not succeed")
    results = run.get("results")
    if not isinstance(results, list):
        raise UnreadableError("a run in the SARIF log has no results: the tool did not judge")
    rules = _rules(run)
    for result in results:
        result = _map(result, "a result")
        if not _is_dismissed(result):
            yield _finding(result, rules)


def _is_dismissed(result: dict[str, Any]) -> bool:
    suppressions = result.get("suppressions") or ()
    accepted = [s.get("status", "accepted") == "accepted" for s in suppressions]
    gone = result.get("baselineState") == "absent" or result.get("kind") in _NO_FINDING
    return gone or (bool(accepted) and all(accepted))


def _finding(result: dict[str, Any], rules: list[Any]) -> ToolFinding:
    reference = result.get("rule") or {}
    index = result.get("ruleIndex", reference.get("index", -1))
    rule = rules[index] if isinstance(index, int) and 0 <= index < len(rules) else {}
    name = result.get("ruleId") or reference.get("id") or rule.get("id") or ""
    if not rule:
        rule = next((each for each in rules if each.get("id") == name), {})
    default = (rule.get("defaultConfiguration") or {}).get("level", "warning")
    message = result.get("message") or {}
    text = message.get("text") or message.get("markdown") or _template(message, rule)
    if not isinstance(text, str) or not text.strip():
        raise UnreadableError(f"a result in the SARIF log has no message: {str(result)[:60]}")
    file, line, column = _place(result)
    return ToolFinding(
        message=text,
        rule=str(name),
        level=str(result.get("level", default)),
        file=file,
        line=line,
        column=column,
    )


def _template(message: dict[str, Any], rule: dict[str, Any]) -> Any:
    strings = rule.get("messageStrings") or {}
    return (strings.get(message.get("id")) or {}).get("text")


def _place(result: dict[str, Any]) -> tuple[str, int, int]:
    locations = result.get("locations") or [{}]
    physical = _map(locations[0], "a location").get("physicalLocation") or {}
    uri = str((physical.get("artifactLocation") or {}).get("uri", ""))
    region = physical.get("region") or {}
    numbers = [region.get(key, 0) for key in ("startLine", "startColumn")]
    line, column = (n if isinstance(n, int) and n > 0 else 0 for n in numbers)
    return unquote(uri.removeprefix("file://")), line, column


def _rules(run: dict[str, Any]) -> list[Any]:
    driver = (run.get("tool") or {}).get("driver") or {}
    return [_map(rule, "a rule") for rule in driver.get("rules") or ()]


def _map(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableError(f"{what} in the SARIF log is not a map")
    return value
