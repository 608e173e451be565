"""Bring a package into the cache: by the registry's own client, with its hash, unpacked safely.

Nothing of a package is run: an archive is only downloaded, compared with its hash and unpacked.
Limits: an archive of source code or of npm (tar), and of it files up to 20 MB.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from benchmarks.corpus.packages import CorpusError, Package

LARGEST = 20_000_000


def bring(package: Package, cache: Path) -> Path:
    """Return the folder of the unpacked package; fetches it where the cache has none."""
    folder = cache / package.registry / package.folder
    if folder.is_dir():
        return folder
    archives = cache / "archives" / package.registry / package.folder
    archive = _archive(archives) or _download(package, archives)
    _verify(package, archive)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as new:
        _unpack(archive, Path(new))
        (top,) = Path(new).iterdir()
        top.rename(folder)
    return folder


def _archive(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*"))), None)


def _download(package: Package, into: Path) -> Path:
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent) as new:
        if package.registry == "pypi":
            wanted = f"{package.name}=={package.version}"
            command = [sys.executable, "-m", "unearth", "--no-binary", "--download", new, wanted]
        else:
            wanted = f"{package.name}@{package.version}"
            command = ["npm", "pack", "--silent", "--pack-destination", new, wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not _archive(Path(new)):
            raise CorpusError(f"cannot fetch {wanted}: {done.stderr.strip()[-300:]}")
        shutil.copytree(new, into, dirs_exist_ok=True)
    archive = _archive(into)
    assert archive
    return archive


def _verify(package: Package, archive: Path) -> None:
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != package.sha256:
        raise CorpusError(
            f"{package.name} {package.version}: {archive} has sha256 {found}, "
            f"packages.toml says {package.sha256 or 'nothing'}"
        )


def _unpack(archive: Path, into: Path) -> None:
    with tarfile.open(archive) as tar:
        wanted = [m for m in tar if m.isdir() or (m.isfile() and m.size <= LARGEST)]
        tar.extractall(into, wanted, filter="data")
