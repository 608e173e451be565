"""What a command prints is kept without the values of secret variables."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from pytest_reflex.api import evaluate

VALUE = "sk-0123456789abcdef"
RULE = {
    "id": "a.x.says",
    "description": "says it",
    "severity": "fail",
    "check": {"type": "executable", "command": "", "expect_output": "never"},
}


@pytest.mark.parametrize(
    "command",
    ["echo key=$SOME_API_KEY", 'echo "k:$SOME_API_KEY" | base64', "echo $SOME_API_KEY >&2; exit 3"],
    ids=["as it is", "in base64", "on stderr"],
)
@pytest.mark.parametrize("alternatives", [False, True], ids=["alone", "as an alternative"])
def test_b120_a_secret_that_a_command_prints_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, alternatives: bool
) -> None:
    monkeypatch.setenv("SOME_API_KEY", VALUE)
    (tmp_path / "a.md").write_text("text\n")
    check = {**RULE["check"], "command": command}  # type: ignore[dict-item]
    rule = {**RULE, "check": {"any_of": [check, check]} if alternatives else check}
    (tmp_path / "c.yaml").write_text(json.dumps({"name": "c", "rules": [rule]}))
    found = json.dumps(evaluate(tmp_path / "a.md", tmp_path / "c.yaml").to_json())
    encoded = base64.b64encode(f"k:{VALUE}\n".encode()).decode()
    assert VALUE not in found
    assert encoded[4:24] not in found
    assert "$SOME_API_KEY" in found


@pytest.mark.parametrize("before", [90, 100, 110, 118, 119, 280])
def test_b120_no_part_of_a_secret_is_left_where_a_line_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setenv("SOME_API_KEY", VALUE)
    (tmp_path / "a.md").write_text("text\n")
    command = f"printf '%0{before}d%s' 0 \"$SOME_API_KEY\" >&2; exit 3"
    rule = {**RULE, "check": {**RULE["check"], "command": command}}  # type: ignore[dict-item]
    (tmp_path / "c.yaml").write_text(json.dumps({"name": "c", "rules": [rule]}))
    (result,) = evaluate(tmp_path / "a.md", tmp_path / "c.yaml").results
    assert VALUE[:4] not in result.checks[0].message


def test_other_variables_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PLACE", "on the table")
    (tmp_path / "a.md").write_text("text\n")
    rule = {**RULE, "check": {**RULE["check"], "command": "echo $SOME_PLACE"}}  # type: ignore[dict-item]
    (tmp_path / "c.yaml").write_text(json.dumps({"name": "c", "rules": [rule]}))
    found = json.dumps(evaluate(tmp_path / "a.md", tmp_path / "c.yaml").to_json())
    assert "on the table" in found
