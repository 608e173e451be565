"""`red` is red on purpose: only who goes there runs its tests. `linters` needs ruff on the PATH."""

import shutil
from pathlib import Path

collect_ignore = [] if Path.cwd().name == "red" else ["red"]
if shutil.which("ruff") is None:
    collect_ignore.append("linters")
