"""`red` is red on purpose: only who goes there runs its tests."""

from pathlib import Path

collect_ignore = [] if Path.cwd().name == "red" else ["red"]
