"""The rubric: the same text has the same points, and the points follow from what it says."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.goal.model import Shape
from pytest_reflex.drivers.goal.plan import score_spec
from pytest_reflex.drivers.goal.scoring import Dimension

Captured = pytest.CaptureFixture[str]

CELLS = [
    ("outcome", 0, "Make it better"),
    ("outcome", 1, "Improve performance"),
    ("outcome", 2, "p95 latency <100ms"),
    ("scope", 0, "Fix the app"),
    ("scope", 1, "Fix auth"),
    ("scope", 2, "Fix /api/auth/token"),
    ("constraints", 0, "Fix auth"),
    ("constraints", 1, "Use existing stack"),
    ("constraints", 2, "No new deps, <500 LOC"),
    ("success", 0, "Fix auth"),
    ("success", 1, "Tests pass"),
    ("success", 2, "All tests + manual QA"),
    ("done", 0, "Fix auth"),
    ("done", 1, "When it works"),
    ("done", 2, "PR merged to main"),
]


@pytest.mark.parametrize(("dimension", "points", "text"), CELLS)
def test_a_cell_of_the_table_has_its_points(dimension: str, points: int, text: str) -> None:
    found = {one.dimension: one.points for one in score_spec(text).scores}
    assert found[Dimension(dimension)] == points


SHAPES = [
    (
        "tool",
        (
            "Fix /api/auth/token: p95 latency <100ms. No new deps, <500 LOC. All tests + manual "
            "QA. Done when PR merged to main."
        ),
    ),
    (
        "tool",
        (
            "Add `--json` to src/cli/list.py; it prints `[]` for an empty folder. "
            "No new dependencies, "
            "do not change other commands. `pytest tests/cli` passes. Done when merged to main."
        ),
    ),
    (
        "tool",
        (
            "# Goal\nParse dates in lib/dates.py; invalid ones raise ValueError.\n# Constraints\n"
            "- standard library only\n- keep the signature\n# Success\n- `pytest -q` passes\n"
            "- coverage >= 90 %\n# Done\nPR merged"
        ),
    ),
    (
        "tool",
        (
            "Outcome: GET /health returns 200\nScope: server/health.go\nConstraints: no new deps; "
            "must not touch the router\nSuccess: `go test ./...` and a manual "
            "check\nDone: deployed."
        ),
    ),
    (
        "tool",
        (
            "Migrate tests/legacy/*.py to pytest fixtures until `pytest "
            "tests/legacy` passes with no "
            "warnings. Don't change src/. Only these files."
        ),
    ),
    (
        "tool",
        (
            "Reduce bundle size of web/app.ts below 200 kB without adding a "
            "plugin, keep the public "
            "names. `npm run size` passes; tests pass. Tagged as v2."
        ),
    ),
    (
        "colleague",
        "Fix auth so that tests pass and lint is clean. No new deps. Done when it works.",
    ),
    ("colleague", "Fix src/parser.py until all tests pass."),
    ("colleague", "Refactor the billing module, keep the API unchanged, tests pass, PR merged."),
    ("colleague", "Implement retries in client/http.py with unit tests. Use the existing logger."),
    ("colleague", "Speed up the importer to under 2 s per file. Only stdlib. Tests pass."),
    ("colleague", "Rename `get_user` to `fetch_user` without breaking callers; tests pass."),
    ("colleague", "Make `docs/index.md` build with no warnings; merged to main"),
    ("colleague", "Fix the flaky login test in tests/test_login.py. Done when CI is green."),
    ("tool", "Delete src/old.py, nothing else changes. `pytest` passes. Merged to main."),
    ("intent", "Don't merge until reviewed"),
    ("intent", "There are no tests and nobody cares"),
    ("intent", "Make the tests green"),
    ("intent", "Reduce memory usage of the worker by 30%."),
    ("intent", "Make it better"),
    ("intent", "Fix the app"),
    ("intent", "Fix auth"),
    ("intent", "Improve performance"),
    ("intent", "Add tests"),
    ("intent", "Please clean up the code, it is a mess"),
    ("intent", "Implement dark mode"),
    ("intent", "The site is slow. Fix it when you can."),
    ("intent", "Success: none\nDone: implied\nConstraints: tbd\nScope: ?\nOutcome: better"),
    ("intent", "Migrate to the new framework without tests"),
    ("intent", "🚀 ship it 🚀"),
]


@pytest.mark.parametrize(("shape", "spec"), SHAPES)
def test_a_spec_has_its_shape(shape: str, spec: str) -> None:
    rubric = score_spec(spec)
    assert rubric.shape is Shape(shape), rubric.to_json()


@given(
    st.text() | st.sampled_from([spec for _, spec in SHAPES]).flatmap(st.permutations).map("".join)
)
def test_any_text_has_points_and_always_the_same(text: str) -> None:
    rubric = score_spec(text)
    assert [one.dimension for one in rubric.scores] == list(Dimension)
    assert all(0 <= one.points <= 2 and one.reason for one in rubric.scores)
    assert score_spec(text) == rubric


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1 < ",
        "`",
        "a.b/",
        "tests ",
        "no new ",
        "until ",
        "from 1 to ",
        "-",
        "(",
        "- x\n",
        "under 9 ",
    ],
)
def test_a_long_text_is_scored_as_well(piece: str) -> None:
    assert 0 <= score_spec(piece * 50_000).total <= 10


def test_an_unclear_spec_is_asked_for_what_is_missing(capsys: Captured) -> None:
    assert main(["goal", "score", "Improve performance"]) == 13
    out = capsys.readouterr().out
    assert "Shape: Intent (1/10): too unclear to begin" in out
    assert "missing: scope, constraints, success, done" in out
    assert "  Scope: Which files, modules or endpoints may change?" in out
    assert "  Outcome: " not in out


def test_points_that_are_given_are_recorded_with_their_source(capsys: Captured) -> None:
    words = ["--score", "outcome=2,scope=2", "--score", "done=2"]
    assert main(["goal", "score", "Use existing stack", *words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["total"], document["shape"]) == (7, "colleague")
    sources = {one["dimension"]: one["source"] for one in document["scores"]}
    assert sources == {
        **dict.fromkeys(("outcome", "scope", "done"), "flag"),
        **dict.fromkeys(("constraints", "success"), "cues"),
    }


def test_a_spec_is_read_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.md").write_text(SHAPES[0][1], encoding="utf-8")
    assert main(["goal", "score", "spec.md"]) == 0
    assert "Shape: Tool (10/10)" in capsys.readouterr().out


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.md"], "there is no file missing.md"),
        (["  "], "the spec is empty"),
        (["x", "--score", "outcome=3"], "--score outcome must be 0, 1 or 2"),
        (["x", "--score", "outcom=1"], "did you mean outcome?"),
        (["x", "--score", "done=1,done=2"], "--score gives done twice"),
        (["latin.txt"], "latin.txt is not UTF-8 text"),
        (["-"], "standard input is not UTF-8 text"),
        (["long.md"], "long.md is too long: 100,001 bytes, the limit is 100,000"),
        (["ä" * 50_001], "the spec is too long: 100,002 bytes"),
    ],
)
def test_what_cannot_be_scored_is_refused(
    words: list[str],
    message: str,
    errors: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "long.md").write_text("x" * 100_001)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), "utf-8", errors))
    assert main(["goal", "score", *words]) == 4
    assert message in "".join(capsys.readouterr())


def test_a_folder_is_no_file_and_so_a_text(capsys: Captured) -> None:
    assert main(["goal", "score", "."]) == 13
    assert "Shape: Intent (0/10)" in capsys.readouterr().out
