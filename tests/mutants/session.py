"""The session: cosmic-ray's list of the mutants of today's sources, in which results are kept."""

from __future__ import annotations

import json
from collections.abc import Container
from pathlib import Path

from cosmic_ray.commands.init import init
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

from tests.mutants.copies import digest
from tests.mutants.core import CACHE, MODULES, ROOT
from tests.mutants.listing import mutant_of
from tests.mutants.report import INVALID, Result
from tests.mutants.trial import KILLED, SURVIVED


def opened() -> WorkDB:
    """Return the session of today's sources, with the results of modules that did not change."""
    path, stamp = CACHE / "session.sqlite", CACHE / "sources.json"
    digests = {module: digest([ROOT / module]) for module in MODULES}
    former = json.loads(stamp.read_text("utf-8")) if stamp.exists() and path.exists() else {}
    if former == digests:
        return WorkDB(path, WorkDB.Mode.open)
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    database = WorkDB(fresh, WorkDB.Mode.create)
    init([Path(module) for module in MODULES], database, {})
    if former:
        _carry(WorkDB(path, WorkDB.Mode.open), database, former, digests)
    database.close()
    stamp.unlink(missing_ok=True)
    fresh.replace(path)
    stamp.write_text(json.dumps(digests), "utf-8")
    return WorkDB(path, WorkDB.Mode.open)


def _carry(old: WorkDB, new: WorkDB, former: dict[str, str], digests: dict[str, str]) -> None:
    names = {item.job_id: mutant_of(item).name for item in old.work_items}
    jobs = {mutant_of(item).name: item.job_id for item in new.work_items}
    for job, result in old.results:
        module = names[job][0]
        if former.get(module) == digests.get(module) and names[job] in jobs:
            new.set_result(jobs[names[job]], result)
    old.close()


def keep(database: WorkDB, job: str, result: Result, digest_of_tests: str) -> None:
    """Keep a result, and of which state of the tests it is."""
    invalid, tried = result.outcome == INVALID, result.outcome in (KILLED, SURVIVED)
    row = WorkResult(
        worker_outcome=WorkerOutcome.SKIPPED if invalid else WorkerOutcome.NORMAL,
        test_outcome=TestOutcome(result.outcome if tried else TestOutcome.INCOMPETENT),
        output=json.dumps({"tests": digest_of_tests, "result": result.to_json()}),
        diff=result.diff,
    )
    database.set_result(job, row)


def known(database: WorkDB, digest_of_tests: str, tests: Container[str]) -> dict[str, Result]:
    """Return the results that stand: a kill by a test of today, a survivor of unchanged tests."""
    found = {}
    for job, row in database.results:
        note = json.loads(row.output)
        result = Result.of_json(note["result"])
        if (
            result.outcome == INVALID
            or (result.outcome == KILLED and result.killer in tests)
            or (result.outcome == SURVIVED and note["tests"] == digest_of_tests)
        ):
            found[job] = result
    return found
