"""A Python with few installed packages of its own: what it imports lies in those of ours.

A loop looks at every file of the packages that are installed for its Python, before and after each
call of an agent. Those of a development environment cost a quarter of the time of a short loop.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parent.parent
_made: list[Path] = []


def slim_python() -> str:
    """Return the program; it imports what this Python does."""
    return str(_made[-1]) if _made else sys.executable


def make_slim_python(prefix: Path) -> Path:
    """Make the environment below a folder that is new, and return its folder of packages."""
    packages = prefix / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    packages.mkdir(parents=True)
    (packages / "all.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    (packages / "aid-1.0.dist-info").mkdir()
    (packages / "aid-1.0.dist-info/METADATA").write_text("Name: aid\nVersion: 1.0\n")
    (packages / "aid-1.0.dist-info/entry_points.txt").write_text(
        "[console_scripts]\naid = aid:go\n"
    )
    (prefix / "bin").mkdir()
    shutil.copyfile(Path(sys.prefix) / "pyvenv.cfg", prefix / "pyvenv.cfg")
    (prefix / "bin/python").symlink_to(Path(sys.executable).resolve())
    _made.append(prefix / "bin/python")
    return packages
