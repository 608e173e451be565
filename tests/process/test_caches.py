"""Private caches: what an agent left in the usual ones is not read, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.process.guard import private_caches

pytestmark = pytest.mark.variants


def test_all_caches_lie_in_one_folder_that_is_gone_afterwards() -> None:
    with private_caches({}) as variables:
        folder = Path(variables["PYTHONPYCACHEPREFIX"]).parent
        assert folder.is_dir()
        assert folder.name.startswith("reflex-caches-")
        for name in ("MYPY_CACHE_DIR", "COVERAGE_FILE", "HYPOTHESIS_STORAGE_DIRECTORY"):
            assert Path(variables[name]).parent == folder
    assert not folder.exists()


def test_an_error_leaves_no_folder_behind() -> None:
    folder = Path()

    def fail() -> None:
        nonlocal folder
        with private_caches({}) as variables:
            folder = Path(variables["MYPY_CACHE_DIR"]).parent
            (folder / "mypy").mkdir()
            raise ValueError("it failed")

    with pytest.raises(ValueError, match="it failed"):
        fail()
    assert folder.name
    assert not folder.exists()


@pytest.mark.parametrize("before", ["", "-x --tb=short "])
def test_options_for_pytest_are_kept(before: str) -> None:
    with private_caches({"PYTEST_ADDOPTS": before}) as variables:
        folder = Path(variables["PYTHONPYCACHEPREFIX"]).parent
        assert variables["PYTEST_ADDOPTS"] == f"{before}-o cache_dir={folder}/pytest"


def test_a_cache_that_is_switched_off_stays_off() -> None:
    with private_caches({"PYTEST_ADDOPTS": "-p no:cacheprovider"}) as variables:
        assert variables["PYTEST_ADDOPTS"] == "-p no:cacheprovider -p no:cacheprovider"


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--lf"], ["-p", "no:cacheprovider", "--strict-config"]])
def test_pytest_runs_with_a_cache_of_its_own(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    command = [sys.executable, "-m", "pytest", "-q", *options]
    with private_caches({}, options) as variables:
        environment = {**os.environ, **variables}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert [path.name for path in tmp_path.iterdir()] == ["test_it.py"]


def test_bytecode_that_does_not_fit_its_source_is_not_run(tmp_path: Path) -> None:
    module = tmp_path / "judge.py"
    module.write_text("print('bad')\n")
    run = [sys.executable, "-c", "import judge"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run(run, cwd=tmp_path, env=environment, check=True, capture_output=True)
    status = module.stat()
    module.write_text("print('fit')\n")  # of the same size and time: the cache looks up to date
    os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))
    stale = subprocess.run(run, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert stale.stdout == b"bad\n"
    with private_caches(environment) as variables:
        fresh = subprocess.run(
            run, cwd=tmp_path, env={**environment, **variables}, check=True, capture_output=True
        )
    assert fresh.stdout == b"fit\n"
