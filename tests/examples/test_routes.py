"""Every route from an artifact to a verdict gives the same evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pytest_reflex
from pytest_reflex.cli.main import main
from tests.examples.sessions import copy_examples, pytest_json, timeless

pytestmark = pytest.mark.long

SUITES = {
    "guide": ("guide/guide.md", "guide/guide.reflex.yaml"),
    "settings": ("guide/settings.md", "guide/settings.reflex.yaml"),
    "api": ("api/loans.yaml", "api/loans.reflex.yaml"),
}
SPOILING = (("tidy undo", "tidy back"), ("1.2.0", "1.2"), ("/loans/{", "/old_loans/{"))


@pytest.fixture(scope="module", params=[False, True], ids=["as-it-is", "spoiled"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the examples; spoiled, each artifact fails in several ways."""
    copied = copy_examples(tmp_path_factory.mktemp("examples"))
    for artifact, _ in SUITES.values() if request.param else ():
        text = (copied / artifact).read_text(encoding="utf-8")
        for good, bad in SPOILING:
            text = text.replace(good, bad)
        (copied / artifact).write_text(text + "\n- a\n\ntext\n\n* b\n", encoding="utf-8")
    return copied


@pytest.fixture(scope="module")
def by_items(folder: Path) -> Any:
    """Return what a plain pytest session says about all examples."""
    return timeless(pytest_json(folder))


@pytest.mark.parametrize(("artifact", "suite"), SUITES.values(), ids=SUITES)
def test_items_the_library_and_the_command_line_agree(
    folder: Path,
    by_items: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    artifact: str,
    suite: str,
) -> None:
    monkeypatch.chdir(folder)
    (expected,) = (e for e in by_items["evaluations"] if e["artifact"] == artifact)
    by_library = pytest_reflex.evaluate(artifact, suite).to_json()
    main(["evaluate", artifact, "--criteria", suite, "--json"])
    by_command = json.loads(capsys.readouterr().out)
    assert timeless(json.loads(json.dumps(by_library))) == expected
    assert timeless(by_command)["evaluations"] == [expected]


def test_workers_and_one_process_agree(folder: Path, by_items: Any) -> None:
    with_workers = timeless(pytest_json(folder, "-n", "2"))
    assert with_workers == by_items
    assert len(by_items["evaluations"]) == 5
    assert by_items["gate"]["exit_status"] == (0 if by_items["gate"]["passed"] else 1)


def test_options_and_a_suite_agree(folder: Path, by_items: Any) -> None:
    artifact, suite = SUITES["guide"]
    by_options = pytest_json(folder, f"--reflex-criteria={suite}", f"--reflex-artifact={artifact}")
    (expected,) = (e for e in by_items["evaluations"] if e["artifact"] == artifact)
    assert timeless(by_options)["evaluations"] == [expected]
