"""Histories that somebody has written anew: every line is linked and summed as it should be."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_reflex.storage.journal import read_journal
from pytest_reflex.storage.lines import NO_LINE, digest_of, encode

Records = list[dict[str, Any]]


def rewrite(folder: Path, change: Callable[[Records], object]) -> None:
    """Change the records of a run's history in place, and let its run.json follow."""
    path = folder / "history.jsonl"
    records = [dict(record) for record in read_journal(path).records]
    change(records)
    data, last = b"", NO_LINE
    for number, record in enumerate(records, 1):
        line = encode({key: value for key, value in record.items() if key != "seq"}, number, last)
        data, last = data + line, digest_of(line[:-1])
    path.write_bytes(data)
    (folder / "run.json").unlink(missing_ok=True)


def passing(evaluation: dict[str, Any], phase: str = "") -> dict[str, Any]:
    """Return an evaluation in which every rule passes."""
    forged = copy.deepcopy(evaluation)
    for row in forged["rule_results"]:
        row |= {"outcome": "pass", "verdict": "pass"}
        for check in row["checks"]:
            check["outcome"] = "pass"
    forged |= {"score": 1.0, "score_exact": "1/1", "passed": True, "failed": [], "warnings": []}
    return forged | ({"phase": phase} if phase else {})


def last_of(records: Records, event: str) -> dict[str, Any]:
    """Return the last record of a kind."""
    return [record for record in records if record["event"] == event][-1]


def let_pass(records: Records) -> None:
    """Have the last evaluation pass, and everything after it gone."""
    judged = last_of(records, "evaluation_done")
    judged["payload"] = {"evaluation": passing(judged["payload"]["evaluation"])}
    del records[records.index(judged) + 1 :]


def add(records: Records, event: str, payload: dict[str, Any], **more: Any) -> None:
    """Add a record like the last one."""
    records.append({**records[-1], "event": event, "payload": payload, **more})


def stop(records: Records, reason: str = "threshold_reached", *, passed: bool = True) -> None:
    """Let the run have ended."""
    add(records, "stopped", {"reason": reason, "detail": "", "passed": passed})
