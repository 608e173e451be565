"""A driver of somebody's own, as ``docs/how-to/write-a-driver.md`` has one; a program, too."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pytest_reflex.cli.own_driver import main
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.record import DriverRecord
from pytest_reflex.drivers.common.record_file import NextStep
from pytest_reflex.drivers.common.running import Tools
from pytest_reflex.model.stop import StopReason

_PROMPT = "`{command}` leaves with exit status {exit}.\n{feedback}"


class UntilGreen:
    """Has an AI tool change a project until a command passes."""

    name = "until-green"

    def start(self, given: Mapping[str, str]) -> dict[str, Any]:
        return {"command": given["command"], "exit": None, "fixed": False}

    def decide(self, record: DriverRecord) -> NextStep | Stop:
        data = record.data
        if data["fixed"]:
            return NextStep("check")
        if data["exit"] is None:
            return NextStep("check", ends_iteration=False)
        is_green = data["exit"] == 0
        return Stop(StopReason.SUCCESS) if is_green else NextStep("fix", ends_iteration=False)

    def perform(self, step: NextStep, record: DriverRecord, tools: Tools) -> dict[str, Any]:
        if step.name == "check":
            return {"exit": tools.run(record.data["command"]).returncode}
        feedback = "\n".join(record.feedback.values())
        reply = tools.ask(_PROMPT.format(**record.data, feedback=feedback), may_edit=True)
        return {"error": reply.error}

    def apply(self, data: Mapping[str, Any], outcome: Mapping[str, Any]) -> dict[str, Any]:
        return {**data, **outcome, "fixed": "exit" not in outcome}


if __name__ == "__main__":
    sys.exit(main(UntilGreen()))
