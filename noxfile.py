"""The suite on every Python, with the lowest and the newest dependencies: `make matrix`.

A cell is named after both: ``3.11-lowest``. Each has an environment of its own in .nox/, which uv
resolves in one go; an interpreter that is not on this machine is not downloaded, its cells are
skipped. What a cell found is kept in .nox/reports/, from which `tests.matrix` prints the table.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

import nox

PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
REPORTS = Path(".nox", "reports")
VERSIONS = "import platform, pytest; print(platform.python_version(), pytest.__version__)"

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.stop_on_first_error = False


def interpreter(version: str) -> str:
    """Return the newest release that pyenv has of a version, or the version, to be looked for."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    releases = {
        int(match[1]): path
        for path in root.glob(f"versions/*/bin/python{version}")
        if (match := re.fullmatch(rf"{re.escape(version)}\.(\d+)", path.parts[-3]))
    }
    return str(releases[max(releases)]) if releases else version


def run_suite(session: nox.Session, resolution: str) -> None:
    """Install one choice of dependencies and run the suite with them.

    All is asked for at once: a second installation would keep what the first one chose.
    """
    session.install(f"--resolution={resolution}", "--group=test", "--editable=.[all]")
    versions = session.run("python", "-W", "ignore", "-c", VERSIONS, silent=True)
    report = REPORTS / session.name
    report.with_name(f"{session.name}.versions").write_text(str(versions))
    session.run("python", *session.posargs, f"--junitxml={report}.xml")


for version in PYTHONS:
    for name, resolution in RESOLUTIONS.items():
        nox.session(
            partial(run_suite, resolution=resolution),
            python=interpreter(version),
            venv_params=["--seed"],  # some tests need pip
            name=f"{version}-{name}",
        )
