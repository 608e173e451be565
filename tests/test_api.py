"""The Python interface and the rule that importing it costs next to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pytest_reflex
from pytest_reflex.model.rules import Criteria

CRITERIA = """\
name: words
rules:
  - {id: a.x.must, description: says must, severity: fail, check: {type: content, search: MUST}}
"""


@pytest.fixture
def words(tmp_path: Path) -> Path:
    (tmp_path / "good.md").write_text("MUST\n")
    (tmp_path / "words.yaml").write_text(CRITERIA)
    return tmp_path


def test_evaluate_returns_an_evaluation(words: Path) -> None:
    evaluation = pytest_reflex.evaluate(words / "good.md", words / "words.yaml")
    assert (evaluation.passed, evaluation.level.value) == (True, "A")


def test_threshold_and_phase_can_be_chosen(words: Path) -> None:
    evaluation = pytest_reflex.evaluate(
        words / "good.md", words / "words.yaml", phase="A", threshold=0.5
    )
    assert str(evaluation.threshold) == "1/2"


def test_criteria_may_be_loaded_already(words: Path) -> None:
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.criteria.load import load_criteria

    criteria = load_criteria(words / "words.yaml", registry=built_in_registry())
    assert isinstance(criteria, Criteria)
    assert pytest_reflex.evaluate(words / "good.md", criteria).passed


def test_what_is_wrong_is_a_reflex_error(words: Path) -> None:
    with pytest.raises(pytest_reflex.ReflexError, match="'X'"):
        pytest_reflex.evaluate(words / "good.md", words / "words.yaml", phase="X")


def test_an_unknown_key_of_the_configuration_is_a_warning(words: Path) -> None:
    (words / "pytest-reflex.toml").write_text('agnet = "x"\n')
    with (
        pytest.warns(UserWarning, match="unknown key 'agnet' is ignored") as caught,
        pytest.raises(pytest_reflex.ReflexError),
    ):
        pytest_reflex.resume_loop("none", project=words)
    assert caught[0].filename == __file__


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        pytest_reflex.evaluat  # noqa: B018


def test_importing_the_package_imports_no_other_module_of_ours() -> None:
    code = "import sys, pytest_reflex; print([m for m in sys.modules if 'reflex.' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_loop_yields_its_events(words: Path) -> None:
    events = pytest_reflex.run_loop(
        "say it", criteria=words / "words.yaml", draft=words / "good.md", project=words
    )
    kinds = [event.kind.value for event in events]
    assert kinds[-1] == "stopped"


def test_a_loop_that_was_left_can_be_resumed(words: Path) -> None:
    events = pytest_reflex.run_loop(
        "say it", criteria=words / "words.yaml", draft=words / "good.md", project=words, alias="say"
    )
    next(events)
    events.close()
    assert [e.kind.value for e in pytest_reflex.resume_loop("say", project=words)][-1] == "stopped"
