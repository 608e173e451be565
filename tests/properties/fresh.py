"""Print the verdict of one artifact: `python -m tests.properties.fresh CRITERIA ARTIFACT`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pytest_reflex.checks.registry import built_in_registry
from tests.properties.judging import verdict

if __name__ == "__main__":
    json.dump(verdict(sys.argv[1], Path(sys.argv[2]), built_in_registry()), sys.stdout)
