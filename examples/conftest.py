"""`red` is red on purpose: only who goes there runs its tests. `linters` needs ruff."""

from importlib.util import find_spec
from pathlib import Path

collect_ignore = [] if Path.cwd().name == "red" else ["red"]
if find_spec("ruff") is None:
    collect_ignore.append("linters")
