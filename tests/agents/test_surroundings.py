"""Values of secrets stay out of what is kept, in whatever form a tool writes them."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.agents.environment import literal_secrets, secrets_of_tables
from pytest_reflex.process.environment import redact, redact_ends

VALUE = 'sk-"äb/c+d=0123'
FORMS = {
    "plain": VALUE,
    "json": json.dumps(VALUE),
    "json as it is": json.dumps(VALUE, ensure_ascii=False),
    "url": quote(VALUE, safe=""),
    "hex": VALUE.encode().hex(),
    "base64": base64.b64encode(VALUE.encode()).decode(),
    "base64 for urls": base64.urlsafe_b64encode(VALUE.encode()).decode(),
    "base64 of more": base64.b64encode(f"user:{VALUE}:x".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_value_is_hidden_in_every_form(form: str) -> None:
    assert "$KEY" in redact(f"it is {form}!", {VALUE: "$KEY"})


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=5), st.text(min_size=8, max_size=30), st.binary(max_size=5))
def test_base64_of_a_value_is_hidden_at_any_alignment(
    before: bytes, value: str, after: bytes
) -> None:
    data = before + value.encode("utf-8", "replace") + after
    encoded = base64.b64encode(data).decode()
    known = value.encode("utf-8", "replace").decode()
    assert "$KEY" in redact(encoded, {known: "$KEY"})


CUT = {
    "the end": ("the key is planted-0123", "the key is $KEY"),
    "the beginning": ("d-0123456789 was used", "$KEY was used"),
    "both": ("0123456789 or planted-01", "$KEY or $KEY"),
    "too little to be one": ("the key is plant", "the key is plant"),
}


@pytest.mark.parametrize(("text", "hidden"), CUT.values(), ids=CUT.keys())
def test_a_value_that_was_cut_is_hidden(text: str, hidden: str) -> None:
    assert redact_ends(text, {"planted-0123456789": "$KEY"}) == hidden


COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "behind an option": (["t", "--api-key", "sk-0123456"], ["sk-0123456"]),
    "with an equals sign": (["t", "--auth=sk-0123456"], ["sk-0123456"]),
    "a reference": (["t", "--api-key", "$API_KEY_OF_MINE"], []),
    "a number": (["t", "--max-tokens", "10000000"], []),
    "another option": (["t", "--token", "--verbose-please"], []),
    "an argument": (["t", "key", "sk-0123456"], []),
}


@pytest.mark.parametrize(("command", "found"), COMMANDS.values(), ids=COMMANDS.keys())
def test_a_literal_beside_an_option_of_a_secret_is_one(
    command: list[str], found: list[str]
) -> None:
    assert list(literal_secrets(command)) == found


def test_tables_of_agents_name_and_hold_secrets_right_or_wrong() -> None:
    tables: dict[str, dict[str, Any]] = {
        "a": {"command": "t --key sk-literal-1 $MINE_1", "env": "API_KEY_2"},
        "b": {"command": [["t", 7], {}], "env": 3},
    }
    ours = {"MINE_1": "value-of-mine", "API_KEY_2": "value-of-two", "OTHER_KEY": "other-value"}
    assert secrets_of_tables(ours, tables) == {
        "sk-literal-1": "[hidden]",
        "value-of-mine": "$MINE_1",
        "value-of-two": "$API_KEY_2",
    }
