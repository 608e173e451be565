"""The wheel holds everything: it works with the checkout out of the way."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "agents/presets.toml",
        "criteria_templates/api-spec.yaml",
        "contracts/schemas/report.schema.json",
        "drivers/iterate/builtin/build.toml",
        "drivers/iterate/builtin/ending.md",
        "drivers/flow/templates/red-to-green/flow.yaml",
        "drivers/flow/templates/red-to-green/agents/flow-plan.md",
        "contracts/schemas/flow.schema.json",
    ],
)
def test_the_wheel_holds_its_data(site: Path, name: str) -> None:
    assert (site / "pytest_reflex" / name).is_file()


def test_the_wheel_declares_plugin_and_command(site: Path) -> None:
    (text,) = (p.read_text() for p in site.glob("*.dist-info/entry_points.txt"))
    assert "[pytest11]\npytest_reflex = pytest_reflex.plugin" in text
    assert "pytest-reflex = pytest_reflex.cli.main:main" in text


@pytest.mark.long
def test_a_stock_template_is_found_in_the_wheel(site: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    code = (
        "import pytest_reflex, sys; from pytest_reflex.cli.main import main\n"
        "print(pytest_reflex.__file__)\n"
        "sys.exit(main(['evaluate', 'a.md', '--criteria', 'base']))"
    )
    # The copy in the wheel is not measured: it would count every line twice.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(site))
